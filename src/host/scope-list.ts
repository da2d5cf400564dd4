import { setImmediate } from "node:timers/promises";
import type { DirectoryEntry } from "./directory.ts";
import { compileGlob, type Glob, type GlobState } from "./glob.ts";
import { systemRefused } from "./scope-refusals.ts";
import type { ScopeTable } from "./scope-table.ts";
import {
  folderOfRoot,
  hasSuffix,
  inFolder,
  inSubfolder,
  mostLevels,
  mostNamed,
  mostWalked,
  type OpenFolder,
} from "./scope-walk.ts";
import type { ListedFiles, ListOptions } from "./scopes.ts";
import { isTransientName } from "./temporary-name.ts";
import { defaultScopeName, formatVirtualPath, isNameable } from "./virtual-path.ts";

/** Names between two turns of the event loop. */
const burst = 2000;

interface Walk {
  readonly table: ScopeTable;
  readonly options: ListOptions;
  readonly glob: Glob;
  readonly paths: string[];
  /** True where the listing began inside a folder that asks before it is read: such names are shown then. */
  readonly showsProtected: boolean;
  /** All roots are walked. One that lies in another is not walked twice. */
  readonly everything: boolean;
  /** Virtual paths of folders below the deepest level, which are not listed. */
  readonly tooDeep: string[];
  /** True where the walk ends: at `maxEntries`, or after too many names. */
  ended: boolean;
  looked: number;
}

/** A folder in the walk, and the path by which it was reached. */
interface Step {
  readonly folder: OpenFolder;
  readonly state: GlobState;
  readonly scopeName: string;
  readonly components: readonly string[];
  /** Levels below the folder in which the listing began. */
  readonly level: number;
}

/** Walks depth first, in the order of the paths, so that `maxEntries` keeps the same files every time. Opens one descriptor a level. */
export async function listFiles(table: ScopeTable, virtualPath: string, options: ListOptions): Promise<ListedFiles> {
  const glob = compileGlob(options.pattern);
  const everything = isEverything(table, virtualPath);
  const path = everything ? undefined : table.resolve(virtualPath);
  const showsProtected = path !== undefined && table.protection(path.scope, path.components) === "ask-read-and-write";
  const walk: Walk = { table, options, glob, showsProtected, everything, paths: [], tooDeep: [], ended: false, looked: 0 };
  if (path === undefined) await listRoots(walk);
  else {
    const { scope, components } = path;
    const start = { state: glob.start, scopeName: scope.name, components, level: 0 };
    await inFolder(table, path, (folder) => listFolder(walk, { folder, ...start }));
  }
  // In order already, but for paths with the prefix of the default scope.
  return {
    paths: walk.paths.sort(),
    truncated: walk.ended || walk.tooDeep.length > 0,
    tooDeep: walk.tooDeep.slice(0, mostNamed),
  };
}

/** Returns whether a path means all scopes, listed side by side: `.` without a default scope. */
export function isEverything(table: ScopeTable, virtualPath: string): boolean {
  const hasDefault = table.allowed.readable.includes(defaultScopeName);
  return !hasDefault && (virtualPath === "" || virtualPath === "." || virtualPath === "./");
}

async function listRoots(walk: Walk): Promise<void> {
  const roots = [...walk.table.roots].sort((a, b) => compare(`${a.declaration.name}/`, `${b.declaration.name}/`));
  for (const root of roots) {
    const scopeName = root.declaration.name;
    const state = walk.glob.step(walk.glob.start, scopeName);
    if (!walk.ended) await listFolder(walk, { folder: folderOfRoot(root), state, scopeName, components: [], level: 0 });
  }
}

async function listFolder(walk: Walk, step: Step): Promise<void> {
  walk.options.signal?.throwIfAborted();
  const isSeen = walk.options.scopes?.includes(step.folder.scope.name) ?? true;
  if (!isSeen && !holdsSeen(walk, step.folder)) return;
  for (const entry of await sortedEntries(walk, step)) {
    if (++walk.looked % burst === 0) await pause(walk);
    if (walk.looked > mostWalked) walk.ended = true;
    if (walk.ended) return;
    if (entry.type === "directory") await listSubfolder(walk, step, entry.name);
    else if (isSeen && entry.type === "file") addFile(walk, step, entry.name);
    if (walk.ended) return;
  }
}

async function listSubfolder(walk: Walk, step: Step, name: string): Promise<void> {
  const state = walk.glob.step(step.state, name);
  if (state.size === 0 || isHidden(walk, step.folder, name)) return;
  if (step.level >= mostLevels) {
    if (walk.tooDeep.length <= mostNamed) walk.tooDeep.push(pathOf(walk, step, name));
    return;
  }
  await inSubfolder(walk.table, step.folder, name, async (folder) => {
    if (walk.everything && folder.components.length === 0) return;
    const components = [...step.components, name];
    await listFolder(walk, { folder, state, scopeName: step.scopeName, components, level: step.level + 1 });
  });
}

function addFile(walk: Walk, step: Step, name: string): void {
  if (!walk.glob.accepts(walk.glob.step(step.state, name)) || !hasSuffix(step.folder.scope, name)) return;
  if (isTransientName(name) || isHidden(walk, step.folder, name)) return;
  if (walk.paths.length >= walk.options.maxEntries) walk.ended = true;
  else walk.paths.push(pathOf(walk, step, name));
}

/** Returns the path by which the file was reached. A nested scope named after its folder needs no prefix. */
function pathOf({ table }: Walk, step: Step, name: string): string {
  const reached = [...step.components, name];
  const canonical = table.format(step.folder.scope, [...step.folder.components, name]);
  if (step.scopeName === defaultScopeName && canonical === reached.join("/")) return canonical;
  return formatVirtualPath(step.scopeName, reached, { has: (scope) => table.allowed.readable.includes(scope) });
}

function isHidden(walk: Walk, { scope, components }: OpenFolder, name: string): boolean {
  return !walk.showsProtected && walk.table.protection(scope, [...components, name]) === "ask-read-and-write";
}

/** A wanted scope can lie in one that is not. */
function holdsSeen(walk: Walk, { scope: around, components }: OpenFolder): boolean {
  return walk.table.covered(around, components).some((scope) => walk.options.scopes?.includes(scope.name));
}

/** Sorts by code unit of the whole path: the name of a folder sorts with the slash that follows it. */
async function sortedEntries(walk: Walk, step: Step): Promise<readonly DirectoryEntry[]> {
  const entries = await step.folder.directory.entries().catch((error: unknown) => {
    // Below the first folder, an unreadable one is skipped like a missing one.
    if (step.state !== walk.glob.start) return [];
    throw systemRefused(walk.table.format(step.folder.scope, step.folder.components), error);
  });
  return entries.filter((entry) => isNameable(entry.name)).sort((a, b) => compare(sortKey(a), sortKey(b)));
}

function sortKey(entry: DirectoryEntry): string {
  return entry.type === "directory" ? `${entry.name}/` : entry.name;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function pause(walk: Walk): Promise<void> {
  walk.options.signal?.throwIfAborted();
  await setImmediate();
}
