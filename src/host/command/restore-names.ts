import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { CommandResult } from "../commands.ts";
import { createEmptyRoot } from "../scopes/empty-root.ts";
import type { ScopeRoot, ScopeTable } from "../scopes/scope-table.ts";
import { closing, mostWalked, openFolder, openParent, type ParentFolder } from "../scopes/scope-walk.ts";
import type { ScopeDeclaration } from "../scopes/scopes.ts";
import { closeHandles, type ProtectedEntries, type ProtectedEntry } from "../wall/protected-entries.ts";
import { closePlaces, hostPathOf, type WritePlace } from "../wall/write-places.ts";
import type { Machine } from "./command-setting.ts";
import { entriesOf, identityOf, linkStatOf } from "./look.ts";
import { type EntryBefore, type MoveOptions, moveAside, type Restored } from "./move-aside.ts";
import { dependencyFolders } from "./program-folders.ts";
import {
  asOthersFound,
  claimNote,
  findLeft,
  giveBack,
  isCleaning,
  isNear,
  type LeftNote,
  type Note,
  type NotedPlace,
  removeNote,
  writeNote,
} from "./writing-notes.ts";

/** Milliseconds between two looks whether another process still cleans up, and how many: a walk takes seconds at most. */
const pause = 20;
const mostWaits = 500;

/** Milliseconds: processes that were killed can be at work in the kernel for a while. */
const margin = 5000;

/** The outcome of a clean-up. Virtual paths. */
export type RestoredNames = Pick<CommandResult, "movedAside" | "putBack" | "isUnfinished" | "isUnnoted">;

export interface NotedRun<T> extends Omit<MoveOptions, "randomName" | "before"> {
  readonly before: ProtectedEntries;
  readonly hiding: readonly string[];
  /** Those of other commands, read before the names were looked for, and then. */
  readonly notes: readonly Note[];
  readonly run: () => Promise<T>;
}

/**
 * Runs a command that writes, and sets protected names right, however it ended. It is noted meanwhile, so that a later process can do so if
 * this one is killed. Closes the handles of the names.
 */
export async function runNoted<T>(
  machine: Machine,
  { notes, run, ...writing }: NotedRun<T>,
): Promise<{ readonly ended: T; readonly restored: RestoredNames }> {
  const { before } = writing;
  try {
    if (writing.places.length === 0) return { ended: await run(), restored: { movedAside: [] } };
    const noted = { ...writing, before: asOthersFound(writing, notes) };
    const note = writeNote(machine, noted);
    let ended: T;
    let restored: Restored | undefined;
    try {
      ended = await run();
    } finally {
      restored = await moveAside({ ...noted, randomName });
      if (restored.failure === undefined) note?.remove();
      else note?.leave();
    }
    const { failure, ...names } = restored;
    if (failure !== undefined && note === undefined) throw failure;
    return { ended, restored: { ...names, isUnfinished: failure !== undefined, isUnnoted: note === undefined } };
  } finally {
    await closeHandles(before);
  }
}

/**
 * Cleans up after commands that wrote in folders of these scopes, or around them, and that nobody cleaned up after: their process was
 * killed, or failed at it. What was made after the end of such a process stays, where that is known. Names are those of its scopes.
 */
export async function restoreLeft(machine: Machine, table: ScopeTable): Promise<RestoredNames> {
  const all: Restored[] = [];
  for (let waits = 0; isCleaning(machine) && waits < mostWaits; waits++) await delay(pause);
  for (const left of findLeft(machine)) {
    const places = left.note.places.filter(isThere);
    if (places.length === 0) removeNote(left.file);
    const claimed = places.some((place) => isNear(place, table)) ? claimNote(machine, left) : undefined;
    if (claimed === undefined) continue;
    const restored = await restore(machine, table, left).catch((failure: unknown) => ({ movedAside: [], failure }));
    if (restored.failure === undefined) removeNote(claimed);
    else giveBack(machine, claimed);
    all.push(restored);
  }
  return joinRestored(all.map(({ failure, ...names }) => ({ ...names, isUnfinished: failure !== undefined })));
}

export function joinRestored(all: readonly RestoredNames[]): RestoredNames {
  const putBack = all.flatMap((one) => one.putBack ?? []);
  return {
    movedAside: all.flatMap((one) => one.movedAside),
    putBack: putBack.length > 0 ? putBack : undefined,
    isUnfinished: all.some((one) => one.isUnfinished) || undefined,
    isUnnoted: all.some((one) => one.isUnnoted) || undefined,
  };
}

function isThere({ path, identity }: NotedPlace): boolean {
  return identityOf(path) === identity;
}

async function restore(machine: Machine, present: ScopeTable, { note, ended }: LeftNote): Promise<Restored> {
  const { files, parents, codeFolders, programFolder } = note.program;
  const [programFiles, programParents] = [new Set(files), new Set(parents)];
  const program = { programFolder, programFiles, programParents, codeFolders: new Set(codeFolders) };
  const roots = await Promise.all(note.roots.map((root) => reopen(machine, root)));
  const places: WritePlace[] = [];
  const scopes = new Map(roots.map(({ declaration }) => [declaration.name, declaration]));
  const toPath = ({ scope, components }: Pick<NotedPlace, "scope" | "components">) => {
    return { scope: scopes.get(scope) as ScopeDeclaration, components, virtualPath: "" };
  };
  try {
    const table = present.withRoots(roots, program);
    for (const noted of note.places) {
      const place = await openFolder(table, toPath(noted)).catch(() => undefined);
      if (place?.directory.identity === noted.identity) places.push(place);
      else await place?.close();
    }
    const links = note.links.map((link) => ({ ...link, ...toPath(link) }));
    const moved = await openMoved(table, places, [...note.entries, ...note.targets]);
    const before = { entries: [...note.entries, ...moved], targets: [], links, locked: new Set(note.locked) };
    const [unprotected, gitFolders] = [new Set(note.unprotected), new Set(note.gitFolders)];
    const isOurs = ({ hostPath }: ProtectedEntry) => (linkStatOf(hostPath)?.birthtimeMs ?? 0) > ended + margin;
    const steering = { closed: new Set(note.steering.closed), ways: new Set(note.steering.ways) };
    const walked = { table, unprotected, places, gitFolders, steering, followsLinks: true };
    return await moveAside({ ...walked, before, randomName, isOurs }).finally(() => closeHandles(before));
  } finally {
    await closePlaces(places);
    for (const root of roots) await root.release();
  }
}

function randomName(): string {
  return randomBytes(4).toString("hex");
}

/** A root that is gone or replaced is taken for empty. */
async function reopen({ openRoot }: Machine, { declaration, path, identity }: Note["roots"][number]): Promise<ScopeRoot> {
  const opened = await openRoot(path).catch(() => undefined);
  const isSame = opened?.realPath === path && opened.identity === identity;
  if (!isSame) await opened?.close();
  const directory = isSame && opened ? opened : createEmptyRoot(path);
  return { declaration, realPath: path, directory, release: () => directory.close() };
}

/** Opens what lies in a folder of dependencies now: `moveAside` asks its handle where it is. */
async function openMoved(
  table: ScopeTable,
  places: readonly WritePlace[],
  entries: readonly EntryBefore[],
): Promise<readonly EntryBefore[]> {
  const gone = entries.filter(({ facts, hostPath }) => facts.type !== "link" && identityOf(hostPath) !== facts.identity);
  const opened: EntryBefore[] = [];
  const sought = new Map(gone.map((entry) => [entry.facts.identity, entry]));
  for (const place of gone.length > 0 ? places : []) {
    for (const [entry, names] of findIn(hostPathOf(table, place), sought)) {
      const path = { scope: place.scope, components: [...place.components, ...names], virtualPath: "" };
      const open = ({ directory, name }: ParentFolder) => directory.openHandle(name);
      const handle = await openParent(table, path).then(
        (parent) => closing(parent, open),
        () => undefined,
      );
      opened.push({ ...entry, handle });
    }
  }
  return opened;
}

/** Finds entries in folders of dependencies, with the names that lead to them. */
function findIn(top: string, sought: ReadonlyMap<string, EntryBefore>): readonly (readonly [EntryBefore, readonly string[]])[] {
  const found: [EntryBefore, readonly string[]][] = [];
  const folders: { readonly names: readonly string[]; readonly isInside: boolean }[] = [{ names: [], isInside: false }];
  for (let count = 0, at = folders.pop(); at !== undefined && count < mostWalked; at = folders.pop(), count++) {
    for (const entry of entriesOf(join(top, ...at.names))) {
      const names = [...at.names, entry.name];
      const isInside = at.isInside || dependencyFolders.has(entry.name);
      const entryBefore = isInside ? sought.get(identityOf(join(top, ...names)) ?? "") : undefined;
      if (entryBefore) found.push([entryBefore, names]);
      else if (entry.isDirectory()) folders.push({ names, isInside });
    }
  }
  return found;
}
