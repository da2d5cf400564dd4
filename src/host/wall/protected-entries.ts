import { join, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { linksBehind, realPathOf, statOf } from "../command/look.ts";
import { dependencyFolders } from "../command/program-folders.ts";
import type { DirectoryEntry, EntryFacts, EntryHandle, EntryType } from "../files/directory.ts";
import { errorCode } from "../files/system-error.ts";
import { isTransientName } from "../files/temporary-name.ts";
import { findInstallation } from "../own-files/installation.ts";
import { belowOpened, foldName, leadsToProtected } from "../scopes/protected-names.ts";
import type { ScopeTable } from "../scopes/scope-table.ts";
import {
  closing,
  mostLevels,
  mostNamed,
  mostWalked,
  type OpenFolder,
  openParent,
  openSubfolder,
  type ParentFolder,
} from "../scopes/scope-walk.ts";
import { type ScopeDeclaration, ScopeError } from "../scopes/scopes.ts";
import { isForeignIndex } from "./git/git-index.ts";
import { gitPartOf, holdsObjectsAlone, insideOpenGit, isIndex, leadsGitAway } from "./git/git-parts.ts";
import type { GitSteering } from "./git/git-steering.ts";
import { machineFolders } from "./hidden-entries.ts";
import { foldersAbove } from "./mount.ts";
import { holdsCredentials } from "./secret-places.ts";
import { isWritable, type WritePlace } from "./write-places.ts";

/** An entry of a scope that a command must not change (`read-only`), or must not see either (`hidden`). */
export interface ProtectedEntry {
  readonly scope: ScopeDeclaration;
  readonly components: readonly string[];
  /** The path at the time of the walk. */
  readonly hostPath: string;
  readonly facts: EntryFacts;
  readonly access: "hidden" | "read-only";
  /** Another one when a link leads elsewhere: the device and inode behind it. Undefined for other entries. */
  readonly target?: string | undefined;
  /** The path in a link, as it is written there. Undefined for other entries. */
  readonly text?: string | undefined;
  /** Opened for all but links, if `FindOptions.openHandles` is set: as long as it is open, nothing new gets the inode. */
  readonly handle?: EntryHandle | undefined;
}

/** A link that a command can remove or replace: nothing can be mounted over one. */
export interface HeldLink extends Pick<ProtectedEntry, "scope" | "components" | "hostPath" | "facts"> {
  /** As it is written in the link. */
  readonly text: string;
}

export interface ProtectedEntries {
  readonly entries: readonly ProtectedEntry[];
  /** In writable folders: protected links, and those that they lead through. */
  readonly links: readonly HeldLink[];
  /** What protected links lead to in writable folders, without links. */
  readonly targets: readonly ProtectedEntry[];
  /** Virtual paths of the first folders below the deepest level. They are not looked into, and are hidden entries themselves. */
  readonly tooDeep: readonly string[];
  /** Identities of folders that could not be listed or opened. */
  readonly locked: ReadonlySet<string>;
}

export interface FindOptions {
  readonly table: ScopeTable;
  /** Folded names that are open to the command; `.git` alone does not open `.git/config` and `.git/hooks`. */
  readonly unprotected: ReadonlySet<string>;
  /** The folders that the command may write in. */
  readonly places: readonly WritePlace[];
  /** Host paths of git directories with other names than `.git`, of submodules too: they are protected as those are. */
  readonly gitFolders?: ReadonlySet<string>;
  /** Default: none. */
  readonly steering?: GitSteering;
  /** As `CommandRequest.hidesCredentials`. Default false. */
  readonly hidesCredentials?: boolean | undefined;
  readonly signal?: AbortSignal;
  /** Opens a handle of each entry but links. The caller closes them with `closeHandles`. */
  readonly openHandles?: boolean;
  /** Looks at what protected links lead to; for scopes on this machine's disk. */
  readonly followsLinks?: boolean;
  /**
   * The walk after a command: folders that it locked are unlocked, so that nothing hides in them. `except`: identities of folders that
   * were locked before. They are not looked into: what is in them was not seen, and may have been there.
   */
  readonly unlock?: { readonly except: ReadonlySet<string> };
}

/**
 * Finds all protected names in folders that a command may write in, at any depth: a hook or a key in a sub-project is as dangerous as at
 * the top. A link is protected with what it leads to there: nothing can be mounted over the link itself. Leaves out
 * folders of dependencies, which hold thousands of `package.json` and other people's code; what a command moves out of one is found
 * where it then is. Takes a tenth of a millisecond for each folder.
 */
export async function findProtected(options: FindOptions): Promise<ProtectedEntries> {
  const walk: Walk = {
    ...options,
    entries: [],
    targets: [],
    links: new Map(),
    tooDeep: [],
    locked: new Set(),
    seen: new Set(),
    spareLanes: 7,
  };
  try {
    for (const place of options.places) await visit(walk, place);
    if (options.openHandles) await addInstallation(walk);
  } catch (error) {
    await closeHandles(walk);
    throw error;
  }
  const { targets, locked } = walk;
  const links = [...walk.links.values()];
  const entries = walk.entries.sort((a, b) => (a.hostPath < b.hostPath ? -1 : 1));
  return { entries, links, targets, tooDeep: walk.tooDeep.sort().slice(0, mostNamed), locked };
}

type Handled = readonly Pick<ProtectedEntry, "handle">[];

export async function closeHandles({ entries, targets }: Readonly<Record<"entries" | "targets", Handled>>): Promise<void> {
  await Promise.all([...entries, ...targets].map(({ handle }) => handle?.close()));
}

interface Walk extends FindOptions {
  readonly entries: ProtectedEntry[];
  readonly targets: ProtectedEntry[];
  /** By their host paths. */
  readonly links: Map<string, HeldLink>;
  readonly tooDeep: string[];
  readonly locked: Set<string>;
  /** Identities of the folders that were visited. */
  readonly seen: Set<string>;
  /** How many more folders may be visited at the same time. */
  spareLanes: number;
}

async function visit(walk: Walk, folder: OpenFolder): Promise<void> {
  const { seen, signal, table, places } = walk;
  const { directory, scope, components } = folder;
  // A scope nested in a place is another one, which the command may write in only if it is a place of its own.
  if (!isWritable(places, folder) || seen.has(directory.identity) || walk.unlock?.except.has(directory.identity)) return;
  seen.add(directory.identity);
  if (seen.size % 200 === 0) await setImmediate();
  if (seen.size > mostWalked) throw new ScopeError("io_error", `The scopes hold more than ${mostWalked} folders.`);
  signal?.throwIfAborted();
  const subfolders: string[] = [];
  for (const entry of await list(walk, folder)) {
    const treatment = treat(walk, folder, entry);
    if (treatment === "visit") subfolders.push(entry.name);
    else if (treatment === "too-deep") {
      await add(walk, folder, { name: entry.name, access: "hidden" });
      walk.tooDeep.push(table.format(scope, [...components, entry.name]));
    } else if (treatment !== "ignore") await add(walk, folder, { name: entry.name, access: treatment });
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

/** `way`: a link that is protected without what it leads to, which may be written by its own name. */
type Treatment = ProtectedEntry["access"] | "way" | "visit" | "too-deep" | "ignore";

function treat(walk: Walk, folder: OpenFolder, entry: DirectoryEntry): Treatment {
  const components = namesOf(walk, folder, entry.name);
  if (walk.hidesCredentials && holdsCredentials(components.map(foldName))) return "hidden";
  const own = treatByPlace(walk, folder, entry) ?? treatByName(walk, folder, { components, type: entry.type });
  if (own !== undefined) return own;
  if (entry.type !== "directory" || isLeftOut(walk, folder, { components, name: entry.name })) return "ignore";
  return folder.components.length >= mostLevels ? "too-deep" : "visit";
}

function treatByPlace({ table, steering }: Walk, folder: OpenFolder, { name, type }: DirectoryEntry): Treatment | undefined {
  if (steering === undefined || steering.ways.size === 0) return undefined;
  const path = join(table.root(folder.scope).realPath, ...folder.components, name);
  // A place can be such a folder, or lie in one.
  if ([path, ...foldersAbove(path)].some((folder) => steering.closed.has(folder)))
    return type === "other" ? "hidden" : "read-only";
  return type === "link" && steering.ways.has(path) ? "way" : undefined;
}

/** The path of an entry, with `.git` in the place of the name of each git directory. */
function namesOf({ table, gitFolders }: Walk, { scope, components }: OpenFolder, name: string): readonly string[] {
  const path = [...components, name];
  if (gitFolders === undefined || gitFolders.size === 0) return path;
  let at = table.root(scope).realPath;
  return path.map((own) => {
    at = join(at, own);
    return gitFolders.has(at) ? ".git" : own;
  });
}

interface Named {
  readonly components: readonly string[];
  readonly type: EntryType;
}

/** Undefined if the entry is not protected itself, but can hold what is. */
function treatByName(walk: Walk, folder: OpenFolder, { components, type }: Named): Treatment | undefined {
  const { table, unprotected } = walk;
  const { scope } = folder;
  const ofProgram = table.protection(scope, components) === "program";
  const inside = ofProgram ? undefined : insideOpenGit(components, unprotected);
  const closed = ofProgram || inside !== undefined ? components : belowOpened(unprotected, components);
  if (closed.length === 0) return undefined;
  const protection = table.protection(scope, closed);
  if (type === "link" && table.leadsToProgram(scope, components)) return "way";
  const name = components.at(-1) ?? "";
  if (isTransientName(name)) return undefined;
  if (inside !== undefined) return treatInGit(walk, folder, { inside, name, type });
  // Every command of git reads `.git`. Its hooks and configuration must not be written, so none of it is.
  if (protection === "ask-read-and-write" && foldName(name) !== ".git") return "hidden";
  if (protection === undefined && type === "link" && leadsToProtected(closed)) return "way";
  return protection && heldAs(type);
}

/** `other`: pipes, sockets and devices. */
function heldAs(type: EntryType): "hidden" | "read-only" {
  return type === "other" ? "hidden" : "read-only";
}

interface NamedInGit extends DirectoryEntry {
  /** As of `insideOpenGit`. */
  readonly inside: readonly string[];
}

function treatInGit({ table, unprotected }: Walk, { scope, components }: OpenFolder, entry: NamedInGit): Treatment | undefined {
  const { inside, name, type } = entry;
  const part = gitPartOf(inside, type);
  if (part !== undefined && !unprotected.has(part)) return heldAs(type);
  if (type === "link") return leadsGitAway(inside) && !unprotected.has(".git/config") ? "way" : "ignore";
  if (type === "file" && isIndex(inside)) {
    const folder = join(table.root(scope).realPath, ...components);
    const common = inside[0] === "worktrees" ? join(folder, "../..") : folder;
    return isForeignIndex(join(folder, name), common) ? "read-only" : "ignore";
  }
  return holdsObjectsAlone(inside) ? "ignore" : undefined;
}

interface Left {
  readonly components: readonly string[];
  readonly name: string;
}

/** Folders of dependencies (but inside `.git` a submodule can have any name), and those of which the wall has its own view. */
function isLeftOut({ table, unprotected }: Walk, folder: OpenFolder, { components, name }: Left): boolean {
  if (dependencyFolders.has(name)) return insideOpenGit(components, unprotected) === undefined;
  return folder.components.length === 0 && machineFolders.has(join(table.root(folder.scope).realPath, name));
}

interface Added {
  readonly name: string;
  readonly access: ProtectedEntry["access"] | "way";
}

async function add(walk: Walk, folder: OpenFolder, { name, access: treatment }: Added): Promise<void> {
  const { directory, scope } = folder;
  const facts = await directory.look(name).catch(() => undefined);
  if (facts === undefined) return;
  const components = [...folder.components, name];
  const hostPath = join(walk.table.root(scope).realPath, ...components);
  const access = treatment === "way" ? "read-only" : treatment;
  const handle = walk.openHandles && facts.type !== "link" ? await directory.openHandle(name) : undefined;
  const target = facts.type === "link" && walk.followsLinks ? identityBehind(hostPath) : undefined;
  const text = facts.type === "link" ? await directory.readLink(name).catch(() => undefined) : undefined;
  walk.entries.push({ scope, components, hostPath, facts, access, target, text, handle });
  if (target !== undefined && walk.unlock === undefined) for (const link of linksBehind(hostPath)) await addLink(walk, link);
  if (target !== undefined && walk.openHandles && treatment !== "way") await addTarget(walk, hostPath, access);
}

function identityBehind(link: string): string {
  const stats = statOf(link);
  return stats === undefined ? "nothing" : `${stats.dev}:${stats.ino}`;
}

/** Adds what a protected link leads to, where the command may write it. */
async function addTarget(walk: Walk, link: string, access: ProtectedEntry["access"]): Promise<void> {
  const hostPath = realPathOf(link);
  if (hostPath === undefined || walk.gitFolders?.has(hostPath)) return;
  await inPlace(walk, hostPath, async (place, { directory, name }) => {
    if (place.facts.type === "link") return;
    const handle = await directory.openHandle(name);
    walk.targets.push({ ...place, access, handle });
  });
}

/** Adds the packages that this process runs from: a command that changes one would be outside of its wall in the next run. */
async function addInstallation(walk: Walk): Promise<void> {
  const { folders, links } = findInstallation();
  for (const folder of folders) await addTarget(walk, folder, "read-only");
  for (const link of links) await addLink(walk, link);
}

async function addLink(walk: Walk, hostPath: string): Promise<void> {
  if (walk.links.has(hostPath)) return;
  await inPlace(walk, hostPath, async (place, { directory, name }) => {
    if (place.facts.type === "link") walk.links.set(hostPath, { ...place, text: await directory.readLink(name) });
  });
}

type Placed = Pick<ProtectedEntry, "scope" | "components" | "hostPath" | "facts">;

/** Looks at a path of the host, if it lies in a folder that the command may write in. */
async function inPlace(
  walk: Walk,
  hostPath: string,
  use: (placed: Placed, parent: ParentFolder) => Promise<void>,
): Promise<void> {
  const { table, places } = walk;
  const root = table.rootAround(hostPath);
  if (root === undefined || hostPath === root.realPath) return;
  const scope = root.declaration;
  const components = relative(root.realPath, hostPath).split(sep);
  if (!isWritable(places, { scope, components: components.slice(0, -1) })) return;
  await closing(await openParent(table, { scope, components, virtualPath: "" }), async (parent) => {
    const facts = parent.missing.length > 0 ? undefined : await parent.directory.look(parent.name);
    if (facts !== undefined) await use({ scope, components, hostPath, facts }, parent);
  });
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
