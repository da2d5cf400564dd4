import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { dependencyFolders } from "../dependency-folders.ts";
import type { DirectoryEntry, EntryFacts, HeldEntry } from "../directory.ts";
import { foldName, isOpened } from "../protected-names.ts";
import type { ScopeTable } from "../scope-table.ts";
import { enter, type Place, placeOfRoot } from "../scope-walk.ts";
import { type Protection, type ScopeDeclaration, ScopeError } from "../scopes.ts";
import { errorCode } from "../system-error.ts";
import { isTransientName } from "../temporary-name.ts";
import { mostLevels, mostNamed, mostWalked } from "../walk-limits.ts";
import { gitPartOf, insideOpenGit, mayHoldGitParts } from "./git-parts.ts";
import { programFolders } from "./program-folders.ts";

/** Something in a scope that a command must not change, or must not even see. */
export interface ProtectedEntry {
  readonly scope: ScopeDeclaration;
  readonly components: readonly string[];
  /** For the wall: where it is, if nobody moves it. */
  readonly hostPath: string;
  readonly facts: EntryFacts;
  /** `hidden`: what it holds is no business of a command (`.env`, journals, sockets); `read-only`: it may be read. */
  readonly access: "hidden" | "read-only";
  /** Of what can be read in a writable scope, where it was wanted. Whoever wanted it closes it. */
  readonly held?: HeldEntry | undefined;
}

export interface ProtectedEntries {
  readonly entries: readonly ProtectedEntry[];
  /** Virtual paths of folders that lie too deep to be looked into: as a whole they are entries, and hidden. */
  readonly tooDeep: readonly string[];
  /** Identities of folders that could not be looked into. */
  readonly locked: ReadonlySet<string>;
}

export interface FindOptions {
  readonly table: ScopeTable;
  /** Folded names that a request does without; `.git` alone leaves `.git/config` and `.git/hooks` as they are. */
  readonly unprotected: ReadonlySet<string>;
  readonly signal?: AbortSignal;
  /** Holds what a wall has to keep as it is. */
  readonly hold?: boolean;
  /** Gives folders that are locked now, and are not among these, back to their owner, so that nothing hides in them. */
  readonly unlock?: { readonly except: ReadonlySet<string> };
}

/**
 * All protected names in scopes, at any depth: a hook or a key is as dangerous in a sub-project as at the top. Folders of
 * dependencies are left out: they hold thousands of `package.json`, and code of others anyway; what is moved out of one
 * is met where it then is. A tenth of a millisecond a folder.
 */
export async function findProtected(options: FindOptions): Promise<ProtectedEntries> {
  const walk: Walk = { options, entries: [], tooDeep: [], locked: new Set(), seen: new Set(), folders: 0, free: 7 };
  const roots = options.table.roots.toSorted((a, b) => a.directory.realPath.length - b.directory.realPath.length);
  // A root in another one is met on the way, unless it lies in a folder that is left out.
  // What appeared can only be where it can be written.
  const wanted = options.unlock === undefined ? roots : roots.filter((root) => root.declaration.mode === "rw");
  try {
    for (const root of wanted) await visit(walk, placeOfRoot(root));
    const entries = walk.entries.sort((a, b) => (a.hostPath < b.hostPath ? -1 : 1));
    return { entries, tooDeep: walk.tooDeep.sort().slice(0, mostNamed), locked: walk.locked };
  } catch (error) {
    await releaseEntries(walk);
    throw error;
  }
}

export async function releaseEntries({ entries }: Pick<ProtectedEntries, "entries">): Promise<void> {
  await Promise.all(entries.map((entry) => entry.held?.close()));
}

interface Walk {
  readonly options: FindOptions;
  readonly entries: ProtectedEntry[];
  readonly tooDeep: string[];
  readonly locked: Set<string>;
  readonly seen: Set<string>;
  folders: number;
  /** How many more folders may be looked into at the same time. */
  free: number;
}

async function visit(walk: Walk, place: Place): Promise<void> {
  if (walk.seen.has(place.directory.identity)) return;
  walk.seen.add(place.directory.identity);
  if (++walk.folders % 200 === 0) await setImmediate();
  if (walk.folders > mostWalked) throw new ScopeError("io_error", `The scopes hold more than ${mostWalked} folders.`);
  walk.options.signal?.throwIfAborted();
  const apart: Promise<void>[] = [];
  try {
    for (const entry of await namesIn(walk, place)) {
      const access = accessTo(walk, place, entry);
      if (access === "exempt") continue;
      if (access !== undefined) await add(walk, place, { name: entry.name, access });
      else if (entry.type !== "directory" || isLeftOut(walk, place, entry.name)) continue;
      else if (place.components.length >= mostLevels) await addTooDeep(walk, place, entry.name);
      else if (walk.free === 0) await visitFolder(walk, place, entry.name);
      else apart.push(visitApart(walk, place, entry.name));
      // Who fails is heard of below; until then nobody listens.
      apart.at(-1)?.catch(() => undefined);
    }
    await Promise.all(apart);
  } finally {
    // They use this folder, which is closed then.
    await Promise.allSettled(apart);
  }
}

async function visitApart(walk: Walk, place: Place, name: string): Promise<void> {
  walk.free--;
  try {
    await visitFolder(walk, place, name);
  } finally {
    walk.free++;
  }
}

async function namesIn(walk: Walk, place: Place): Promise<readonly DirectoryEntry[]> {
  try {
    return await place.directory.entries();
  } catch (error) {
    if (!isLocked(error)) return [];
    walk.locked.add(place.directory.identity);
    if (walk.options.unlock === undefined || walk.options.unlock.except.has(place.directory.identity)) return [];
    await place.directory.unlock(".").catch(() => undefined);
    return place.directory.entries().catch(() => []);
  }
}

async function visitFolder(walk: Walk, parent: Place, name: string): Promise<void> {
  const place = await enterFolder(walk, parent, name);
  if (place === undefined) return;
  try {
    await visit(walk, place);
  } finally {
    await place.close();
  }
}

async function enterFolder(walk: Walk, parent: Place, name: string): Promise<Place | undefined> {
  const { table, unlock } = walk.options;
  try {
    return await enter(table, parent, name);
  } catch (error) {
    // A folder that cannot be opened for want of descriptors may hold anything: the command does not start.
    if (["EMFILE", "ENFILE", "ENOMEM"].includes(errorCode(error))) throw error;
    if (!isLocked(error)) return undefined;
    const identity = (await parent.directory.look(name).catch(() => undefined))?.identity;
    if (identity !== undefined) walk.locked.add(identity);
    if (identity === undefined || unlock === undefined || unlock.except.has(identity)) return undefined;
    await parent.directory.unlock(name).catch(() => undefined);
    return enter(table, parent, name).catch(() => undefined);
  }
}

async function add(walk: Walk, place: Place, entry: Pick<ProtectedEntry, "access"> & { name: string }): Promise<void> {
  const facts = await place.directory.look(entry.name).catch(() => undefined);
  if (facts === undefined) return;
  const components = [...place.components, entry.name];
  const hostPath = join(walk.options.table.root(place.scope).directory.realPath, ...components);
  const isKept = walk.options.hold && entry.access === "read-only" && place.scope.mode === "rw" && facts.type !== "link";
  const held = isKept ? await place.directory.hold(entry.name) : undefined;
  walk.entries.push({ scope: place.scope, components, hostPath, facts, access: entry.access, held });
}

/** What cannot be looked into can hold anything. */
async function addTooDeep(walk: Walk, place: Place, name: string): Promise<void> {
  await add(walk, place, { name, access: "hidden" });
  walk.tooDeep.push(walk.options.table.format(place.scope, [...place.components, name]));
}

/** `exempt`: with all that is in it. Undefined: it is not protected itself, but can hold what is. */
function accessTo(walk: Walk, place: Place, entry: DirectoryEntry): ProtectedEntry["access"] | "exempt" | undefined {
  const { table, unprotected } = walk.options;
  const components = [...place.components, entry.name];
  const protection = table.protection(place.scope, components);
  const inGit = protection === "program" ? undefined : insideOpenGit(components, unprotected);
  if (protection !== "program" && inGit === undefined && isOpened(unprotected, components)) return "exempt";
  if (entry.type === "link" && table.leadsToProgram(place.scope, components)) return "read-only";
  if (isTransientName(entry.name)) return undefined;
  // A socket leads to a process outside, whatever the wall does about networks; a device, to whatever it is.
  if (entry.type === "other") return "hidden";
  if (inGit === undefined) return protection && accessOf(protection, foldName(entry.name));
  const part = gitPartOf(inGit, entry.type);
  if (part !== undefined && !unprotected.has(part)) return "read-only";
  return mayHoldGitParts(inGit) ? undefined : "exempt";
}

/** `.git` is read by every command of git; its hooks and configuration must not be written, and so none of it is. */
function accessOf(protection: Protection, foldedName: string): ProtectedEntry["access"] {
  return protection === "ask-read-and-write" && foldedName !== ".git" ? "hidden" : "read-only";
}

/** In a scope that is the whole machine, what the wall shows its own way. A submodule can have any name. */
function isLeftOut({ options: { table, unprotected } }: Walk, place: Place, name: string): boolean {
  if (dependencyFolders.has(name)) return insideOpenGit(place.components, unprotected) === undefined;
  return place.components.length === 0 && machineFolders.has(join(table.root(place.scope).directory.realPath, name));
}

function isLocked(error: unknown): boolean {
  return errorCode(error) === "EACCES" || errorCode(error) === "EPERM";
}

const machineFolders = new Set(["/proc", "/sys", "/dev", "/run", ...programFolders]);
