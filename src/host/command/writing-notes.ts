import { randomBytes } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join, relative, sep } from "node:path";
import { isRecord } from "../../protocol/json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { isWithin } from "../../util/within.ts";
import { notesFolder } from "../own-files/private-folders.ts";
import { isOpened } from "../scopes/protected-names.ts";
import type { ProgramPlaces, ScopeTable } from "../scopes/scope-table.ts";
import type { ScopeDeclaration } from "../scopes/scopes.ts";
import { noSteering } from "../wall/git/git-steering.ts";
import { foldersAbove } from "../wall/mount.ts";
import type { HeldLink, ProtectedEntries, ProtectedEntry } from "../wall/protected-entries.ts";
import { hostPathOf } from "../wall/write-places.ts";
import { nameOwned, ownerOf } from "./command-folder.ts";
import type { Machine } from "./command-setting.ts";
import { watchEnd } from "./guardian.ts";
import { identityOf } from "./look.ts";
import { type EntriesBefore, type EntryBefore, type HeldBefore, keysOf, type MoveOptions } from "./move-aside.ts";

/** The facts of a command that writes which `moveAside` needs. */
export interface Writing extends Pick<MoveOptions, "table" | "unprotected" | "places" | "gitFolders" | "steering" | "before"> {
  /** Real paths of what links lead to whose names hide. */
  readonly hiding: readonly string[];
}

/**
 * The same without what is open: kept in the user's state folder, where no command reaches, while a command writes. If this process is
 * killed, a later command in these folders cleans up by it. A note that is torn is of a command that had not begun.
 */
export interface Note {
  readonly v: 2;
  readonly roots: readonly { readonly declaration: ScopeDeclaration; readonly path: string; readonly identity: string }[];
  readonly program: Pick<ProgramPlaces, "programFolder"> &
    Readonly<Record<"files" | "parents" | "codeFolders", readonly string[]>>;
  readonly unprotected: readonly string[];
  readonly gitFolders: readonly string[];
  readonly steering: Readonly<Record<"closed" | "ways", readonly string[]>>;
  readonly places: readonly NotedPlace[];
  readonly entries: readonly EntryBefore[];
  readonly targets: readonly EntryBefore[];
  readonly links: readonly NotedLink[];
  readonly locked: readonly string[];
  /** Real paths of what links lead to whose names hide. */
  readonly hiding: readonly string[];
}

export interface NotedPlace {
  /** The name of its scope. */
  readonly scope: string;
  readonly components: readonly string[];
  readonly path: string;
  readonly identity: string;
}

interface NotedLink extends Pick<HeldLink, "components" | "hostPath" | "text"> {
  readonly scope: string;
}

/** A note whose command has ended without a clean-up. */
export interface LeftNote {
  readonly file: string;
  readonly note: Note;
  /** Milliseconds of the epoch; Infinity where it is not known. */
  readonly ended: number;
}

/** Notes of commands, those by which a process cleans up now, and those that wait for one. The last ones have no owner. */
type Kind = "writing" | "cleaning" | "left";

export interface KeptNote {
  /** Takes the note away: all is cleaned up. */
  remove(): void;
  /** Leaves it to the next command. */
  leave(): void;
}

/** Undefined where the state folder cannot be written. */
export function writeNote(machine: Machine, writing: Writing): KeptNote | undefined {
  const file = nameNote(machine, "writing");
  try {
    mkdirSync(notesFolder(machine.stateDirectory), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify(toNote(writing)), { mode: 0o600, flag: "wx" });
  } catch {
    return undefined;
  }
  // The guardian adds a line where this process ends before the note is removed: the time of the file is that of its end.
  const unwatch = watchEnd(file);
  const end = (change: () => void) => {
    tries(change);
    unwatch();
  };
  return {
    remove: () => end(() => rmSync(file)),
    leave: () =>
      end(() => {
        appendFileSync(file, "\n");
        renameSync(file, nameNote(machine, "left"));
      }),
  };
}

function nameNote({ stateDirectory, processes }: Machine, kind: Kind): string {
  const name = kind === "left" ? "left_" : nameOwned(`${kind}_`, processes);
  return join(notesFolder(stateDirectory), `${name}${randomBytes(8).toString("hex")}`);
}

function toNote({ table, unprotected, places, gitFolders = new Set(), steering = noSteering, before, hiding }: Writing): Note {
  const { programFolder, programFiles, programParents, codeFolders } = table.program;
  return {
    v: 2,
    roots: table.roots.map(({ declaration, realPath: path, directory: { identity } }) => {
      const { pinned: _, ...plain } = declaration;
      return { declaration: plain, path, identity };
    }),
    program: { programFolder, files: [...programFiles], parents: [...programParents], codeFolders: [...codeFolders] },
    unprotected: [...unprotected],
    gitFolders: [...gitFolders],
    steering: { closed: [...steering.closed], ways: [...steering.ways] },
    places: places.map((place) => {
      const { scope, components, directory } = place;
      return { scope: scope.name, components, path: hostPathOf(table, place), identity: directory.identity };
    }),
    entries: before.entries.map(toNoted),
    targets: before.targets.map(toNoted),
    links: before.links.map(({ scope, components, hostPath, text }) => ({ scope: scope.name, components, hostPath, text })),
    locked: [...before.locked],
    hiding,
  };
}

function toNoted({ hostPath, text, target, facts: { type, identity, version } }: EntryBefore): EntryBefore {
  return { hostPath, text, target, facts: { type, identity, version } };
}

/** Undefined for a text that is torn, or from another version. */
function parseNote(text: string): Note | undefined {
  const note = parseJson(text);
  return isRecord(note) && note["v"] === 2 ? (note as unknown as Note) : undefined;
}

interface FoundNote {
  readonly file: string;
  readonly owner: string;
  /** Its owner runs; undefined if it is of another machine or container. */
  readonly isLive: boolean | undefined;
  readonly isCleaning: boolean;
}

function findNotes({ stateDirectory, processes }: Machine): readonly FoundNote[] {
  const folder = notesFolder(stateDirectory);
  return namesIn(folder).map((name) => {
    const isCleaning = name.startsWith("cleaning_");
    const owner = ownerOf(name, isCleaning ? "cleaning_" : "writing_") ?? "";
    return { file: join(folder, name), owner, isLive: owner !== "" && processes.isRunning(owner), isCleaning };
  });
}

/** Returns whether another command cleans up now. */
export function isCleaning(machine: Machine): boolean {
  return findNotes(machine).some((note) => note.isCleaning && note.isLive === true);
}

/** Finds the notes to clean up by. */
export function findLeft(machine: Machine): readonly LeftNote[] {
  return findNotes(machine).flatMap(({ file, owner, isLive }) => {
    const text = isLive === false ? readText(file) : undefined;
    if (text === undefined) return [];
    const note = parseNote(text);
    if (note !== undefined) return [{ file, note, ended: Math.min(endOf(file, text), bootOf(machine, owner)) }];
    removeNote(file);
    return [];
  });
}

function endOf(file: string, text: string): number {
  return text.endsWith("\n") ? (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) : Infinity;
}

/** The time of the system's start, if the process was one of an earlier start. */
function bootOf({ processes }: Machine, owner: string): number {
  const [boot, present] = [owner, processes.self].map((text) => text.split(" ")[1]);
  return boot === undefined || boot === present ? Infinity : Date.now() - uptime() * 1000;
}

/** Takes a note for this process. Returns its new place; undefined if another process has taken it. */
export function claimNote(machine: Machine, { file }: LeftNote): string | undefined {
  const claimed = nameNote(machine, "cleaning");
  return tries(() => renameSync(file, claimed)) ? claimed : undefined;
}

export function removeNote(file: string): void {
  tries(() => rmSync(file, { force: true }));
}

/** Gives a note that was claimed to the next command. */
export function giveBack(machine: Machine, claimed: string): void {
  tries(() => renameSync(claimed, nameNote(machine, "left")));
}

/**
 * The notes of the commands that write in these scopes or around them now, or are still to be cleaned up after. An inode of elsewhere says
 * nothing here: it can be free by now, and be that of a new file.
 */
export function readNotes(machine: Machine, table: ScopeTable): readonly Note[] {
  const notes = findNotes(machine).flatMap(({ file, isLive }) =>
    isLive === undefined ? [] : (parseNote(readText(file) ?? "") ?? []),
  );
  return notes.filter(({ places }) => places.some((place) => isNear(place, table)));
}

/** Returns whether it lies in one of the scopes, or around one. */
export function isNear({ path }: NotedPlace, { roots }: ScopeTable): boolean {
  return roots.some(({ realPath }) => isWithin(realPath, path) || isWithin(path, realPath));
}

/**
 * Leaves out what other commands brought that have not ended, where it would be renamed at their end: it is no less the work of a
 * command where this one moves it meanwhile. Adds what these found, and can make again.
 */
export function asOthersFound(
  { table, places, before, steering = noSteering }: Omit<Writing, "before"> & { readonly before: ProtectedEntries },
  notes: readonly Note[],
): EntriesBefore {
  const found = new Map<string, EntryBefore>(
    notes.flatMap(({ entries }) => entries.map((entry) => [keysOf(entry).join("\n"), entry])),
  );
  const writings = notes.map((note) => ({
    ...note,
    keys: new Set(note.entries.flatMap(keysOf)),
    opened: new Set(note.unprotected),
    closed: new Set(note.steering.closed),
    folders: new Map(note.entries.map(({ hostPath, facts }) => [hostPath, facts.identity])),
  }));
  // In a folder that is protected whole, another command could bring nothing.
  const isHeld = ({ hostPath }: ProtectedEntry, folders: ReadonlyMap<string, string>) =>
    foldersAbove(hostPath).some((path) => folders.has(path) && folders.get(path) === identityOf(path));
  // A link that one of them brought can close what is none of its protected names.
  const isClosedHere = ({ scope, components, hostPath }: ProtectedEntry, closed: ReadonlySet<string>) => {
    const closing = [hostPath, ...foldersAbove(hostPath)].filter((path) => steering.closed.has(path));
    return table.protection(scope, components) === undefined && closing.length > 0 && !closing.some((path) => closed.has(path));
  };
  const isIn = (hostPath: string, { places }: Note) => places.some(({ path }) => isWithin(hostPath, path));
  for (const entry of before.entries) {
    const keys = keysOf(entry);
    const isKnown = writings.every(
      (note) =>
        !isIn(entry.hostPath, note) ||
        isOpened(note.opened, entry.components) ||
        keys.some((key) => note.keys.has(key)) ||
        isHeld(entry, note.folders) ||
        isClosedHere(entry, note.closed),
    );
    if (isKnown) found.set(keys.join("\n"), entry);
  }
  const links = new Map<string, HeldBefore>();
  for (const link of notes.flatMap((note) => note.links)) {
    const place = places.find(({ scope, components }) => isWithin(link.hostPath, hostPathOf(table, { scope, components })));
    const below = place && relative(hostPathOf(table, place), link.hostPath).split(sep);
    if (below) links.set(link.hostPath, { ...link, scope: place.scope, components: [...place.components, ...below] });
  }
  for (const link of before.links)
    if (!notes.some((note) => isIn(link.hostPath, note)) || links.get(link.hostPath)?.text === link.text)
      links.set(link.hostPath, link);
  return { ...before, entries: [...found.values()], links: [...links.values()] };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function tries(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}
