import type { Dirent } from "node:fs";
import { join, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { nameSet } from "../../util/text/name-set.ts";
import { entriesIn, linkStatOf, statOf } from "../command/look.ts";
import { dependencyFolders, programFolders } from "../command/program-folders.ts";
import { isTransientName } from "../files/temporary-name.ts";
import { foldName, isOpened, isReadProtected } from "../scopes/protected-names.ts";
import type { ScopeRoot, ScopeTable } from "../scopes/scope-table.ts";
import { mostLevels, mostNamed, mostWalked } from "../scopes/scope-walk.ts";
import { type ScopeDeclaration, ScopeError } from "../scopes/scopes.ts";
import { toMaskedText } from "./git/masked-text.ts";
import type { Mount } from "./mount.ts";
import { holdsCredentials } from "./secret-places.ts";
import { hostPathOf, isWritable, type WritePlace } from "./write-places.ts";

/** Entries of scopes that a command must not see, or sees in another way. Host paths. */
export interface HiddenEntries {
  /** Names that hide, pipes, sockets and devices, folders that cannot be looked into, and texts without their credentials. */
  readonly masks: readonly Mount[];
  /** Those of the masks that hide pipes, sockets and devices: these are hidden wherever they are moved to. */
  readonly pipes: ReadonlySet<string>;
  /** Links whose names hide, or that lie in folders that hide: what they lead to is hidden. */
  readonly links: readonly string[];
  /** All links, but in folders of git and of dependencies. */
  readonly otherLinks: readonly FolderInScope[];
  /** Files, folders and links `.git`. */
  readonly gits: readonly string[];
  /** Git directories of any name that have no work tree. */
  readonly bareGits: readonly string[];
  /** Folders of dependencies that are shown as layers. */
  readonly layers: readonly FolderInScope[];
  /** Virtual paths of the first folders that are too deep. */
  readonly tooDeep: readonly string[];
  /** Virtual paths of the first folders that cannot be listed or entered. The command could give itself the right. */
  readonly locked: readonly string[];
}

export interface FolderInScope {
  readonly scope: ScopeDeclaration;
  readonly components: readonly string[];
}

export interface HidingOptions {
  readonly table: ScopeTable;
  /** The roots that the command sees. */
  readonly roots: readonly ScopeRoot[];
  /** Folded names that are open to the command. */
  readonly unprotected: ReadonlySet<string>;
  /** As `CommandRequest.hidesCredentials`. */
  readonly hidesCredentials: boolean;
  /** The folders that the command may write in. */
  readonly places: readonly WritePlace[];
  /** Returns whether folders of dependencies can be shown as layers. Called where there are some. */
  readonly hasLayers: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

interface Walk extends HidingOptions {
  readonly isRoot: ReadonlySet<string>;
  /** Folders that are still to be listed. */
  readonly folders: Folder[];
  readonly masks: Mount[];
  readonly pipes: Set<string>;
  readonly links: string[];
  readonly otherLinks: FolderInScope[];
  readonly gits: string[];
  readonly bareGits: string[];
  readonly tooDeep: string[];
  readonly locked: string[];
  /** Folders of dependencies, which hold many: they are looked into only if they are no layers. */
  readonly layered: Folder[];
}

interface Folder {
  readonly root: ScopeRoot;
  readonly path: string;
  readonly components: readonly string[];
  /** Only pipes, sockets and devices are looked for: a folder of dependencies, or of git. */
  readonly isPlain: boolean;
  /** It is hidden itself: only links are looked for. */
  readonly isHidden?: boolean;
  /** Every name hides: the root lies in a folder that does. */
  readonly isHiding: boolean;
  /** Paths of the files that a pinned scope names, with their folders: all others hide. Undefined for other scopes. */
  readonly known: ReadonlySet<string> | undefined;
}

/** Folders of dependencies that hold many folders, and in which tools keep their notes. */
const layeredNames = nameSet("node_modules bower_components .venv venv .tox");

/** Each is a mount. Others are looked into. */
const mostLayers = 8;

/** Pipes, sockets and devices: each is a mount, and mounting more takes minutes. */
const mostPipes = 1000;

/** Folders that are listed before others get their turn. */
const batch = 200;

/** Characters. The system follows no path that is much longer. */
const longestPath = 3000;

/**
 * Looks in scopes for what a command must not see, by synchronous calls: some hundredths of a millisecond for each folder. One that is
 * swapped meanwhile shows nothing that the command could not read at another path.
 */
export async function findHidden(options: HidingOptions): Promise<HiddenEntries> {
  const isRoot = new Set(options.table.roots.map(({ realPath }) => realPath));
  const folders = options.roots.map((root): Folder => {
    const isHiding = options.table.asksToRead(root.declaration, []);
    return { root, path: root.realPath, components: [], isPlain: false, isHiding, known: knownPaths(root.declaration) };
  });
  // A place in a folder of dependencies is none of its layer.
  for (const { scope, components } of options.places) {
    const path = hostPathOf(options.table, { scope, components });
    const root = options.table.root(scope);
    if (components.some((name) => layeredNames.has(name)))
      folders.push({ root, path, components, isPlain: true, isHiding: false, known: undefined });
  }
  const walk: Walk = {
    ...options,
    isRoot,
    folders,
    masks: [],
    pipes: new Set(),
    links: [],
    otherLinks: [],
    gits: [],
    bareGits: [],
    tooDeep: [],
    locked: [],
    layered: [],
  };
  await empty(walk);
  const isLayered = walk.layered.length > 0 && (await options.hasLayers());
  if (!isLayered) folders.push(...walk.layered);
  await empty(walk);
  const { masks, pipes, links, otherLinks, gits, bareGits, layered } = walk;
  if (pipes.size > mostPipes) throw new ScopeError("io_error", tooManyPipes(walk));
  const [tooDeep = [], locked = []] = [walk.tooDeep, walk.locked].map((paths) => paths.sort().slice(0, mostNamed));
  const layers = isLayered ? layered.map(({ root, components }) => ({ scope: root.declaration, components })) : [];
  return { masks, pipes, links, otherLinks, gits, bareGits, layers, tooDeep, locked };
}

function tooManyPipes({ pipes, table }: Walk): string {
  const [first = ""] = pipes;
  const root = table.rootAround(first);
  const where = root ? table.format(root.declaration, relative(root.realPath, first).split(sep)) : first;
  return `The scopes hold ${pipes.size} pipes, sockets and devices, such as "${where}": no command starts until they are removed.`;
}

/** Looks into the folders of the line, and those that are put into it meanwhile. */
async function empty(walk: Walk): Promise<void> {
  const { folders, signal } = walk;
  for (let count = 1, folder = folders.pop(); folder !== undefined; folder = folders.pop(), count++) {
    const entries = list(walk, folder);
    for (const entry of entries) look(walk, folder, entry);
    if (!folder.isPlain && isGitFolder(entries)) walk.bareGits.push(folder.path);
    if (!folder.isPlain && isOfVersionControl(folder)) maskTexts(walk, folder, entries);
    if (count > mostWalked) throw new ScopeError("io_error", `The scopes hold more than ${mostWalked} folders.`);
    if (count % batch !== 0) continue;
    signal.throwIfAborted();
    await setImmediate();
  }
}

/** Hides a folder that cannot be looked into, whole; none of a scope's names can be hidden if its root is one. */
function list({ table, masks, locked }: Walk, { root, path, components }: Folder): readonly Dirent[] {
  const entries = entriesIn(`${path}/.`);
  if (entries !== undefined || statOf(path)?.isDirectory() !== true) return entries ?? [];
  const name = table.format(root.declaration, components);
  if (path === root.realPath) throw new ScopeError("io_error", `"${name}" cannot be searched for names that hide.`);
  masks.push({ kind: "hidden-folder", path });
  locked.push(name);
  return [];
}

/** The folders by which git knows a git directory of any name. A command cannot remove them if something in it is hidden, as it can the file `HEAD`. */
const gitFolderNames: readonly string[] = ["objects", "refs"];

function isGitFolder(entries: readonly Dirent[]): boolean {
  return gitFolderNames.every((name) => entries.some((entry) => entry.name === name));
}

export function gitFoldersIn(folder: string): readonly string[] {
  return gitFolderNames.map((name) => join(folder, name)).filter((path) => linkStatOf(path)?.isDirectory());
}

/** Repositories other than git's, and the folders in them that hold what was committed. */
const repositories = nameSet(".hg .sl .bzr .jj .pijul .svn _darcs");
const stores = nameSet("store op_store index repository pristine changes patches inventories pristine.hashed");

function isOfVersionControl({ components }: Folder): boolean {
  const folded = components.map(foldName);
  const at = folded.findLastIndex((name) => repositories.has(name));
  return at >= 0 && !folded.slice(at).some((name) => stores.has(name));
}

/** Texts that Mercurial replaces as it commits: it could not over a mount. */
const replaced = /^(?:undo[.]|journal[.])?(?:bookmarks(?:[.]current)?|branch|desc)$|^last-message[.]txt$/;

function maskTexts(walk: Walk, { path, components }: Folder, entries: readonly Dirent[]): void {
  const isMasked = ({ name }: Dirent) => !replaced.test(name) && !isOpened(walk.unprotected, [...components, name]);
  const files = entries.filter((entry) => entry.isFile() && isMasked(entry));
  walk.masks.push(...files.flatMap(({ name }) => toMaskedText(join(path, name))));
}

function look(walk: Walk, folder: Folder, entry: Dirent): void {
  const path = `${folder.path === "/" ? "" : folder.path}/${entry.name}`;
  const isFolder = entry.isDirectory();
  const isLink = entry.isSymbolicLink();
  if (folder.isHidden) {
    lookInHidden(walk, folder, entry);
    return;
  }
  const isUnknown = !isLink && isUnpinned(walk, folder, entry.name);
  const isGit = !isUnknown && !folder.isPlain && isReadProtected(entry.name) && foldName(entry.name) === ".git";
  if (isGit) walk.gits.push(path);
  if (isLink && !isGit && !folder.isPlain)
    walk.otherLinks.push({ scope: folder.root.declaration, components: [...folder.components, entry.name] });
  if (!isFolder && !isLink && !entry.isFile()) {
    walk.masks.push({ kind: "hidden-file", path });
    walk.pipes.add(path);
  } else if (isUnknown || hides(walk, folder, entry.name)) {
    if (isLink) walk.links.push(path);
    else walk.masks.push({ kind: isFolder ? "hidden-folder" : "hidden-file", path });
    // The folders of pinned scopes and of llm-do are large, and hold no links to secrets of the user.
    if (isFolder && !isUnknown && foldName(entry.name) !== ".llm-do")
      walk.folders.push({ ...folder, path, components: [...folder.components, entry.name], isPlain: true, isHidden: true });
  } else if (isFolder && !walk.isRoot.has(path)) enter(walk, { ...folder, path, isPlain: folder.isPlain || isGit }, entry.name);
}

function lookInHidden({ links, folders }: Walk, folder: Folder, entry: Dirent): void {
  const path = `${folder.path}/${entry.name}`;
  if (entry.isSymbolicLink()) links.push(path);
  else if (entry.isDirectory() && folder.components.length < mostLevels)
    folders.push({ ...folder, path, components: [...folder.components, entry.name] });
}

/** In a pinned scope: neither a file that was trusted nor a folder with one. */
function isUnpinned({ unprotected }: Walk, { known, components }: Folder, name: string): boolean {
  const path = [...components, name];
  return known !== undefined && !known.has(path.join("/")) && !isOpened(unprotected, path);
}

function knownPaths({ pinned }: ScopeDeclaration): ReadonlySet<string> | undefined {
  if (!pinned) return undefined;
  const known = new Set<string>();
  for (let path of Object.keys(pinned))
    for (; path !== "" && !known.has(path); path = path.slice(0, Math.max(0, path.lastIndexOf("/")))) known.add(path);
  return known;
}

function hides(walk: Walk, { components, isPlain, isHiding }: Folder, name: string): boolean {
  if (isPlain || isTransientName(name)) return false;
  if (walk.hidesCredentials && holdsCredentials([...components, name].map(foldName))) return true;
  if (!isHiding && !isReadProtected(name)) return false;
  return foldName(name) !== ".git" && !isOpened(walk.unprotected, [...components, name]);
}

/** Puts a folder into the line, unless the wall has its own view of it. */
function enter(walk: Walk, folder: Folder, name: string): void {
  const { table, folders, masks, tooDeep, layered, places } = walk;
  const { root, path, isPlain } = folder;
  const components = [...folder.components, name];
  if (components.length === 1 && machineFolders.has(path)) return;
  if (table.isPrivate(root.declaration, components)) return;
  if (components.length <= mostLevels && path.length <= longestPath) {
    const entered = { ...folder, components, isPlain: isPlain || dependencyFolders.has(name) };
    const isWritten = isWritable(places, { scope: root.declaration, components });
    const isForLayer =
      !isPlain && !folder.known && layeredNames.has(name) && layered.length < mostLayers && !isWritten && path.isWellFormed();
    (isForLayer ? layered : folders).push(entered);
    return;
  }
  masks.push({ kind: "hidden-folder", path });
  tooDeep.push(table.format(root.declaration, components));
}

/** Folders of the machine that a scope such as `/` holds. */
export const machineFolders: ReadonlySet<string> = new Set(["/proc", "/sys", "/dev", "/run", ...programFolders]);
