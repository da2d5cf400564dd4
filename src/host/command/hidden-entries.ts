import type { Dirent } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { dependencyFolders } from "../dependency-folders.ts";
import { foldName, isOpened, isReadProtected } from "../protected-names.ts";
import type { ScopeRoot, ScopeTable } from "../scope-table.ts";
import { mostLevels, mostNamed, mostWalked } from "../scope-walk.ts";
import { ScopeError } from "../scopes.ts";
import { isTransientName } from "../temporary-name.ts";
import { entriesOf } from "./look.ts";
import type { Mount } from "./mount.ts";
import { programFolders } from "./program-folders.ts";
import { holdsCredentials } from "./secret-places.ts";

/** Entries of scopes that a command must not see, or sees in another way. Host paths. */
export interface HiddenEntries {
  /** Names that hide, pipes, sockets and devices, and folders that are too deep to be looked into. */
  readonly masks: readonly Mount[];
  /** Links whose names hide: what they lead to is hidden. */
  readonly links: readonly string[];
  /** Files, folders and links `.git`. */
  readonly gits: readonly string[];
  /** Virtual paths of the first folders that are too deep. */
  readonly tooDeep: readonly string[];
}

export interface HidingOptions {
  readonly table: ScopeTable;
  /** The roots that the command sees. */
  readonly roots: readonly ScopeRoot[];
  /** Folded names that are open to the command. */
  readonly unprotected: ReadonlySet<string>;
  /** As `CommandRequest.hidesCredentials`. */
  readonly hidesCredentials: boolean;
  readonly signal: AbortSignal;
}

interface Walk extends HidingOptions {
  readonly isRoot: ReadonlySet<string>;
  /** Folders that are still to be listed. */
  readonly folders: Folder[];
  readonly masks: Mount[];
  readonly links: string[];
  readonly gits: string[];
  readonly tooDeep: string[];
}

interface Folder {
  readonly root: ScopeRoot;
  readonly path: string;
  readonly components: readonly string[];
  /** Only pipes, sockets and devices are looked for: a folder of dependencies, or of git. */
  readonly isPlain: boolean;
  /** Every name hides: the root lies in a folder that does. */
  readonly isHiding: boolean;
}

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
    return { root, path: root.realPath, components: [], isPlain: false, isHiding };
  });
  const walk: Walk = { ...options, isRoot, folders, masks: [], links: [], gits: [], tooDeep: [] };
  for (let count = 1, folder = folders.pop(); folder !== undefined; folder = folders.pop(), count++) {
    for (const entry of entriesOf(folder.path)) look(walk, folder, entry);
    if (count > mostWalked) throw new ScopeError("io_error", `The scopes hold more than ${mostWalked} folders.`);
    if (count % batch !== 0) continue;
    options.signal.throwIfAborted();
    await setImmediate();
  }
  const { masks, links, gits, tooDeep } = walk;
  return { masks, links, gits, tooDeep: tooDeep.sort().slice(0, mostNamed) };
}

function look(walk: Walk, folder: Folder, entry: Dirent): void {
  const path = `${folder.path === "/" ? "" : folder.path}/${entry.name}`;
  const isFolder = entry.isDirectory();
  const isLink = entry.isSymbolicLink();
  const isGit = !folder.isPlain && isReadProtected(entry.name) && foldName(entry.name) === ".git";
  if (isGit) walk.gits.push(path);
  if (!isFolder && !isLink && !entry.isFile()) walk.masks.push({ kind: "hidden-file", path });
  else if (hides(walk, folder, entry.name)) {
    if (isLink) walk.links.push(path);
    else walk.masks.push({ kind: isFolder ? "hidden-folder" : "hidden-file", path });
  } else if (isFolder && !walk.isRoot.has(path)) enter(walk, { ...folder, path, isPlain: folder.isPlain || isGit }, entry.name);
}

function hides(walk: Walk, { components, isPlain, isHiding }: Folder, name: string): boolean {
  if (isPlain || isTransientName(name)) return false;
  if (walk.hidesCredentials && holdsCredentials([...components, name].map(foldName))) return true;
  if (!isHiding && !isReadProtected(name)) return false;
  return foldName(name) !== ".git" && !isOpened(walk.unprotected, [...components, name]);
}

/** Puts a folder into the line, unless the wall has its own view of it. */
function enter({ table, folders, masks, tooDeep }: Walk, folder: Folder, name: string): void {
  const { root, path } = folder;
  const components = [...folder.components, name];
  if (components.length === 1 && machineFolders.has(path)) return;
  if (table.isPrivate(root.declaration, components)) return;
  if (components.length <= mostLevels && path.length <= longestPath) {
    folders.push({ ...folder, components, isPlain: folder.isPlain || dependencyFolders.has(name) });
    return;
  }
  masks.push({ kind: "hidden-folder", path });
  tooDeep.push(table.format(root.declaration, components));
}

/** Folders of the machine that a scope such as `/` holds. */
export const machineFolders: ReadonlySet<string> = new Set(["/proc", "/sys", "/dev", "/run", ...programFolders]);
