import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { dependencyFolders } from "../dependency-folders.ts";
import type { DirectoryEntry, EntryFacts, EntryHandle } from "../directory.ts";
import { foldName, isOpened } from "../protected-names.ts";
import type { ScopeTable } from "../scope-table.ts";
import { closing, folderOfRoot, mostLevels, mostNamed, mostWalked, type OpenFolder, openSubfolder } from "../scope-walk.ts";
import { type ScopeDeclaration, ScopeError } from "../scopes.ts";
import { errorCode } from "../system-error.ts";
import { isTransientName } from "../temporary-name.ts";
import { gitPartOf, insideOpenGit, mayHoldGitParts } from "./git-parts.ts";
import { programFolders } from "./program-folders.ts";
import { holdsCredentials } from "./secret-places.ts";
import { findSpecialFiles } from "./special-files.ts";
import { hostPathOf, isWritable, type WritePlace } from "./write-places.ts";

/** An entry of a scope that a command must not change (`read-only`), or must not see either (`hidden`). */
export interface ProtectedEntry {
  readonly scope: ScopeDeclaration;
  readonly components: readonly string[];
  /** The path at the time of the walk. */
  readonly hostPath: string;
  readonly facts: EntryFacts;
  readonly access: "hidden" | "read-only";
  /** Opened for read-only entries in writable scopes, if `FindOptions.openHandles` is set. */
  readonly handle?: EntryHandle | undefined;
}

export interface ProtectedEntries {
  readonly entries: readonly ProtectedEntry[];
  /** Virtual paths of the first folders below the deepest level. They are not looked into, and are hidden entries themselves. */
  readonly tooDeep: readonly string[];
  /** Host paths of pipes, sockets and devices in folders that were not walked. */
  readonly specials: readonly string[];
  /** Host paths of files and folders `.git`. */
  readonly gits: readonly string[];
  /** Identities of folders that could not be listed or opened. */
  readonly locked: ReadonlySet<string>;
}

export interface FindOptions {
  readonly table: ScopeTable;
  /** Folded names that are open to the command; `.git` alone does not open `.git/config` and `.git/hooks`. */
  readonly unprotected: ReadonlySet<string>;
  /** The folders that the command may write in. Elsewhere, only what it must not see is found. */
  readonly places: readonly WritePlace[];
  /** As `CommandRequest.hidesCredentials`. Default false. */
  readonly hidesCredentials?: boolean | undefined;
  readonly signal?: AbortSignal;
  /** Opens a handle of each entry that a wall mounts read-only. The caller closes them with `closeHandles`. */
  readonly openHandles?: boolean;
  /**
   * The walk after a command: `places` alone, and folders that the command locked are unlocked, so that nothing hides in
   * them. `except`: identities of folders that were locked before.
   */
  readonly unlock?: { readonly except: ReadonlySet<string> };
}

/**
 * Finds all protected names in scopes, at any depth: a hook or a key in a sub-project is as dangerous as at the top. Leaves out
 * folders of dependencies, which hold thousands of `package.json` and other people's code; what a command moves out of one is found
 * where it then is. Takes a tenth of a millisecond for each folder.
 */
export async function findProtected(options: FindOptions): Promise<ProtectedEntries> {
  const { table, unlock, places } = options;
  const walk: Walk = {
    ...options,
    entries: [],
    tooDeep: [],
    specials: [],
    gits: [],
    locked: new Set(),
    seen: new Set(),
    spareLanes: 7,
  };
  // Outer roots first. A root in another one is then met on the way, unless it lies in a folder that is left out.
  const roots = table.roots.toSorted((a, b) => a.realPath.length - b.realPath.length);
  try {
    for (const folder of unlock ? places : roots.map(folderOfRoot)) await visit(walk, folder);
  } catch (error) {
    await closeHandles(walk);
    throw error;
  }
  const entries = walk.entries.sort((a, b) => (a.hostPath < b.hostPath ? -1 : 1));
  return {
    entries,
    tooDeep: walk.tooDeep.sort().slice(0, mostNamed),
    specials: walk.specials,
    gits: walk.gits,
    locked: walk.locked,
  };
}

export async function closeHandles({ entries }: Pick<ProtectedEntries, "entries">): Promise<void> {
  await Promise.all(entries.map(({ handle }) => handle?.close()));
}

interface Walk extends FindOptions {
  readonly entries: ProtectedEntry[];
  readonly tooDeep: string[];
  readonly specials: string[];
  readonly gits: string[];
  readonly locked: Set<string>;
  /** Identities of the folders that were visited. */
  readonly seen: Set<string>;
  /** How many more folders may be visited at the same time. */
  spareLanes: number;
}

async function visit(walk: Walk, folder: OpenFolder): Promise<void> {
  const { seen, signal, table } = walk;
  const { directory, scope, components } = folder;
  if (seen.has(directory.identity)) return;
  seen.add(directory.identity);
  if (seen.size % 200 === 0) await setImmediate();
  if (seen.size > mostWalked) throw new ScopeError("io_error", `The scopes hold more than ${mostWalked} folders.`);
  signal?.throwIfAborted();
  const subfolders: string[] = [];
  for (const entry of await list(walk, folder)) {
    const treatment = treat(walk, folder, entry);
    if (foldName(entry.name) === ".git") walk.gits.push(join(hostPathOf(table, folder), entry.name));
    if (treatment === "visit") subfolders.push(entry.name);
    else if (treatment === "too-deep") {
      await add(walk, folder, { name: entry.name, access: "hidden" });
      walk.tooDeep.push(table.format(scope, [...components, entry.name]));
    } else if (treatment !== "ignore") await add(walk, folder, { name: entry.name, access: treatment });
    if (isUnwalked(walk, folder, { entry, treatment })) {
      walk.specials.push(...(await findSpecialFiles(join(hostPathOf(table, folder), entry.name))));
    }
  }
  await visitSubfolders(walk, folder, subfolders);
}

/** Visits several at once, as far as lanes are left. Waits for all of them even if one fails: they use the open folder. */
async function visitSubfolders(walk: Walk, folder: OpenFolder, names: readonly string[]): Promise<void> {
  const failures: unknown[] = [];
  const lanes: Promise<void>[] = [];
  for (const name of names) {
    if (failures.length > 0) break;
    const visiting = visitSubfolder(walk, folder, name).catch((error: unknown) => void failures.push(error));
    if (walk.spareLanes === 0) await visiting;
    else {
      walk.spareLanes--;
      lanes.push(visiting.then(() => void walk.spareLanes++));
    }
  }
  await Promise.all(lanes);
  if (failures.length > 0) throw failures[0];
}

async function visitSubfolder(walk: Walk, above: OpenFolder, name: string): Promise<void> {
  const folder = await open(walk, above, name);
  if (folder !== undefined) await closing(folder, (opened) => visit(walk, opened));
}

interface Treated {
  readonly entry: DirectoryEntry;
  readonly treatment: Treatment;
}

/** Returns whether a command sees a folder that the walk leaves out. */
function isUnwalked({ table, unlock }: Walk, { scope, components }: OpenFolder, { entry, treatment }: Treated): boolean {
  if (unlock || entry.type !== "directory" || (treatment !== "ignore" && treatment !== "read-only")) return false;
  return components.length > 0 || !machineFolders.has(join(table.root(scope).realPath, entry.name));
}

type Treatment = ProtectedEntry["access"] | "visit" | "too-deep" | "ignore";

function treat(walk: Walk, folder: OpenFolder, entry: DirectoryEntry): Treatment {
  if (walk.hidesCredentials && holdsCredentials([...folder.components, entry.name].map(foldName))) return "hidden";
  const own = isWritable(walk.places, folder) ? treatByName(walk, folder, entry) : treatUnwritable(walk, folder, entry);
  if (own !== undefined) return own;
  if (entry.type !== "directory" || isLeftOut(walk, folder, entry.name)) return "ignore";
  return folder.components.length >= mostLevels ? "too-deep" : "visit";
}

/** Undefined where the entry is not protected itself, but can hold what is. */
function treatByName({ table, unprotected }: Walk, folder: OpenFolder, entry: DirectoryEntry): Treatment | undefined {
  const { scope } = folder;
  const components = [...folder.components, entry.name];
  const protection = table.protection(scope, components);
  const insideGit = protection === "program" ? undefined : insideOpenGit(components, unprotected);
  if (protection !== "program" && insideGit === undefined && isOpened(unprotected, components)) return "ignore";
  if (entry.type === "link" && table.leadsToProgram(scope, components)) return "read-only";
  if (isTransientName(entry.name)) return undefined;
  // A socket reaches a process outside the wall, with or without a network; a device reaches anything.
  if (entry.type === "other") return "hidden";
  if (insideGit !== undefined) {
    const part = gitPartOf(insideGit, entry.type);
    if (part !== undefined && !unprotected.has(part)) return "read-only";
    return mayHoldGitParts(insideGit) ? undefined : "ignore";
  }
  // Every command of git reads `.git`. Its hooks and configuration must not be written, so none of it is.
  if (protection === "ask-read-and-write" && foldName(entry.name) !== ".git") return "hidden";
  return protection && "read-only";
}

/** A name that only protects against writing costs nothing where nothing is written. */
function treatUnwritable(
  { table }: Walk,
  { scope, components }: OpenFolder,
  { name, type }: DirectoryEntry,
): Treatment | undefined {
  if (type === "other") return "hidden";
  if (foldName(name) === ".git") return "ignore";
  const isHidden = table.protection(scope, [...components, name]) === "ask-read-and-write";
  return isHidden && !isTransientName(name) ? "hidden" : undefined;
}

/** Folders of dependencies (but inside `.git` a submodule can have any name), and those of which the wall has its own view. */
function isLeftOut({ table, unprotected }: Walk, { scope, components }: OpenFolder, name: string): boolean {
  if (dependencyFolders.has(name)) return insideOpenGit(components, unprotected) === undefined;
  return components.length === 0 && machineFolders.has(join(table.root(scope).realPath, name));
}

const machineFolders = new Set(["/proc", "/sys", "/dev", "/run", ...programFolders]);

async function add(walk: Walk, folder: OpenFolder, entry: Pick<ProtectedEntry, "access"> & { name: string }): Promise<void> {
  const { directory, scope } = folder;
  const { name, access } = entry;
  const facts = await directory.look(name).catch(() => undefined);
  if (facts === undefined) return;
  const components = [...folder.components, name];
  const hostPath = join(walk.table.root(scope).realPath, ...components);
  const isMounted = access === "read-only" && facts.type !== "link";
  const handle = walk.openHandles && isMounted ? await directory.openHandle(name) : undefined;
  walk.entries.push({ scope, components, hostPath, facts, access, handle });
}

async function list(walk: Walk, { directory }: OpenFolder): Promise<readonly DirectoryEntry[]> {
  try {
    return await directory.entries();
  } catch (error) {
    if (!isLocked(error) || !noteLock(walk, directory.identity)) return [];
    await directory.unlock(".").catch(() => undefined);
    return directory.entries().catch(() => []);
  }
}

async function open(walk: Walk, above: OpenFolder, name: string): Promise<OpenFolder | undefined> {
  try {
    return await openSubfolder(walk.table, above, name);
  } catch (error) {
    // A folder that cannot be opened for want of descriptors can hold anything: the command does not start.
    if (["EMFILE", "ENFILE", "ENOMEM"].includes(errorCode(error))) throw error;
    if (!isLocked(error)) return undefined;
    const facts = await above.directory.look(name).catch(() => undefined);
    if (facts === undefined || !noteLock(walk, facts.identity)) return undefined;
    await above.directory.unlock(name).catch(() => undefined);
    return openSubfolder(walk.table, above, name).catch(() => undefined);
  }
}

function isLocked(error: unknown): boolean {
  return errorCode(error) === "EACCES" || errorCode(error) === "EPERM";
}

/** Returns whether the folder is to be unlocked. */
function noteLock({ locked, unlock }: Walk, identity: string): boolean {
  locked.add(identity);
  return unlock !== undefined && !unlock.except.has(identity);
}
