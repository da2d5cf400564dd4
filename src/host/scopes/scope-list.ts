import { setImmediate } from "node:timers/promises";
import { isTransientName } from "../files/temporary-name.ts";
import { compileGlob, type Glob, type GlobState } from "./glob.ts";
import { isReadProtected } from "./protected-names.ts";
import { systemRefused } from "./scope-refusals.ts";
import type { ScopePaths, ScopeTable } from "./scope-table.ts";
import {
  folderOfRoot,
  hasSuffix,
  inFolder,
  mostLevels,
  mostNamed,
  mostWalked,
  type OpenFolder,
  openSubfolder,
} from "./scope-walk.ts";
import type { ListedFiles, ListOptions, WalkOptions } from "./scopes.ts";
import { defaultScopeName, formatVirtualPath, isNameable } from "./virtual-path.ts";

/** Names between two turns of the event loop. */
const burst = 2000;

/** How many folders that the walk has left can still be open. */
const mostClosing = 8;

/** Files of one folder that follow one another in the order of the paths. */
export interface WalkedFiles {
  readonly folder: OpenFolder;
  readonly names: readonly string[];
  /** The path by which a file was reached. */
  pathOf(name: string): string;
}

/** Resolves to true if the walk is to end. Can go on to read what it was given: each folder stays open until that is done. */
type Visit = (files: WalkedFiles) => Promise<boolean>;

interface Walk {
  readonly table: ScopeTable;
  readonly options: WalkOptions;
  readonly glob: Glob;
  readonly visit: Visit;
  /** True if the listing began inside a folder that asks before it is read: such names are shown then. */
  readonly showsProtected: boolean;
  /** All roots are walked. One that lies in another is not walked twice. */
  readonly everything: boolean;
  /** Virtual paths of folders below the deepest level, which are not listed. */
  readonly tooDeep: string[];
  /** True if the walk ends: the visitor has seen enough, or there were too many names. */
  ended: boolean;
  looked: number;
  unnameable: number;
  /** Folders that the walk has left. */
  readonly closing: Promise<void>[];
}

/** A folder in the walk, and the path by which it was reached. */
interface Step {
  readonly folder: OpenFolder;
  readonly state: GlobState;
  readonly scopeName: string;
  readonly components: readonly string[];
  /** Levels below the folder in which the listing began. */
  readonly level: number;
  /** True if a name on the way asks before anything in it is read. */
  readonly asks: boolean;
}

/** A step, with what holds for all names in its folder. */
interface OpenStep extends Step {
  /** Returns whether the pattern accepts a file of this name. */
  isMeant(name: string): boolean;
  readonly hidesAll: boolean;
}

export async function listFiles(table: ScopeTable, virtualPath: string, options: ListOptions): Promise<ListedFiles> {
  const paths: string[] = [];
  const walked = await walkFiles(table, virtualPath, options, async ({ names, pathOf }) => {
    const room = options.maxEntries - paths.length;
    for (const name of names.slice(0, room)) paths.push(pathOf(name));
    return names.length > room;
  });
  // In order already, but for paths with the prefix of the default scope.
  if (table.allowed.readable.includes(defaultScopeName)) paths.sort();
  return { paths, ...walked };
}

/**
 * Visits files depth first, in the order of the paths, so that a visitor that ends the walk sees the same files every time. Opens one
 * descriptor a level.
 */
export async function walkFiles(
  table: ScopeTable,
  virtualPath: string,
  options: WalkOptions,
  visit: Visit,
): Promise<Omit<ListedFiles, "paths">> {
  const glob = compileGlob(options.pattern);
  const everything = isEverything(table, virtualPath);
  const path = everything ? undefined : table.resolve(virtualPath);
  const showsProtected = path !== undefined && table.protection(path.scope, path.components) === "ask-read-and-write";
  const counts = { ended: false, looked: 0, unnameable: 0 };
  const walk: Walk = { table, options, glob, visit, showsProtected, everything, tooDeep: [], closing: [], ...counts };
  try {
    if (path === undefined) await listRoots(walk);
    else {
      const { scope, components } = path;
      const start = { state: glob.start, scopeName: scope.name, components, level: 0 };
      await inFolder(table, path, (folder) => listFolder(walk, { folder, ...start, asks: asksIn(table, folder) }));
    }
  } finally {
    await Promise.all(walk.closing);
  }
  const { ended, tooDeep, unnameable } = walk;
  return { truncated: ended || tooDeep.length > 0, tooDeep: tooDeep.slice(0, mostNamed), unnameable };
}

/** Returns whether a path means all scopes, listed side by side: `.` without a default scope. */
export function isEverything(table: ScopePaths, virtualPath: string): boolean {
  const hasDefault = table.allowed.readable.includes(defaultScopeName);
  return !hasDefault && (virtualPath === "" || virtualPath === "." || virtualPath === "./");
}

async function listRoots(walk: Walk): Promise<void> {
  const roots = [...walk.table.roots].sort((a, b) => compare(`${a.declaration.name}/`, `${b.declaration.name}/`));
  for (const root of roots) {
    const scopeName = root.declaration.name;
    const state = walk.glob.step(walk.glob.start, scopeName);
    const folder = folderOfRoot(root);
    const asks = asksIn(walk.table, folder);
    if (!walk.ended) await listFolder(walk, { folder, state, scopeName, components: [], level: 0, asks });
  }
}

async function listFolder(walk: Walk, reached: Step): Promise<void> {
  walk.options.signal?.throwIfAborted();
  const step = openStep(walk, reached);
  const isSeen = walk.options.scopes?.includes(step.folder.scope.name) ?? true;
  if (!isSeen && !holdsSeen(walk, step.folder)) return;
  let names: string[] = [];
  const visitFiles = async () => {
    if (names.length === 0) return;
    const files = { folder: step.folder, names, pathOf: pathsIn(walk, step) };
    names = [];
    if (await walk.visit(files)) walk.ended = true;
  };
  for (const key of await sortedKeys(walk, step)) {
    if (++walk.looked % burst === 0) await pause(walk);
    if (walk.looked > mostWalked) walk.ended = true;
    if (walk.ended) break;
    if (!key.endsWith("/")) {
      if (isSeen && isWanted(walk, step, key)) names.push(key);
      continue;
    }
    await visitFiles();
    if (!walk.ended) await listSubfolder(walk, step, key.slice(0, -1));
  }
  await visitFiles();
}

function openStep(walk: Walk, step: Step): OpenStep {
  const { scope, components } = step.folder;
  const hidesAll = step.asks && walk.table.protection(scope, components) === "ask-read-and-write";
  return { ...step, hidesAll, isMeant: walk.glob.filesOf(step.state) };
}

async function listSubfolder(walk: Walk, step: OpenStep, name: string): Promise<void> {
  const state = walk.glob.step(step.state, name);
  if (state.size === 0 || isHidden(walk, step, name)) return;
  if (step.level >= mostLevels) {
    if (walk.tooDeep.length <= mostNamed) walk.tooDeep.push(formatPath(walk, step, [name]));
    return;
  }
  const folder = await openSubfolder(walk.table, step.folder, name).catch(() => undefined);
  if (folder === undefined) return;
  try {
    if (walk.everything && folder.components.length === 0) return;
    const components = [...step.components, name];
    const asks = folder.components.length === 0 ? asksIn(walk.table, folder) : step.asks || isReadProtected(name);
    await listFolder(walk, { folder, state, scopeName: step.scopeName, components, level: step.level + 1, asks });
  } finally {
    await leave(walk, folder);
  }
}

/** Closes a folder, which waits for those who read its files. The walk goes on meanwhile, and leaves few open. */
async function leave(walk: Walk, folder: OpenFolder): Promise<void> {
  const closing = folder.close();
  closing.catch(() => undefined);
  walk.closing.push(closing);
  if (walk.closing.length > mostClosing) await walk.closing.shift();
}

function isWanted(walk: Walk, step: OpenStep, name: string): boolean {
  if (!step.isMeant(name) || !hasSuffix(step.folder.scope, name)) return false;
  return !isTransientName(name) && !isHidden(walk, step, name);
}

function asksIn(table: ScopeTable, { scope, components }: OpenFolder): boolean {
  return table.asksToRead(scope, components);
}

/** Returns a function that gives the path by which a file in a folder was reached. */
function pathsIn(walk: Walk, step: Step): (name: string) => string {
  // At a root, the beginning depends on the name of the file.
  if (step.folder.components.length === 0 || step.components.length === 0) return (name) => formatPath(walk, step, [name]);
  const prefix = `${formatPath(walk, step, [])}/`;
  return (name) => prefix + name;
}

/** `names`: below the folder. A nested scope named after its folder needs no prefix. */
function formatPath({ table }: Walk, { folder, scopeName, components }: Step, names: readonly string[]): string {
  const reached = [...components, ...names];
  const canonical = table.format(folder.scope, [...folder.components, ...names]);
  if (scopeName === defaultScopeName && canonical === reached.join("/")) return canonical;
  return formatVirtualPath(scopeName, reached, { has: (scope) => table.allowed.readable.includes(scope) });
}

function isHidden(walk: Walk, { folder, hidesAll }: OpenStep, name: string): boolean {
  // The name alone rules most of them out; the whole path is dear.
  if (walk.showsProtected || !(hidesAll || isReadProtected(name))) return false;
  return walk.table.protection(folder.scope, [...folder.components, name]) === "ask-read-and-write";
}

/** A wanted scope can lie in one that is not. */
function holdsSeen(walk: Walk, { scope: around, components }: OpenFolder): boolean {
  return walk.table.covered(around, components).some((scope) => walk.options.scopes?.includes(scope.name));
}

/** Returns files by their names and folders with a slash behind theirs, sorted by code unit: so they follow one another as whole paths. */
async function sortedKeys(walk: Walk, step: Step): Promise<readonly string[]> {
  const entries = await step.folder.directory.entries().catch((error: unknown) => {
    // Below the first folder, an unreadable one is skipped like a missing one.
    if (step.state !== walk.glob.start) return [];
    throw systemRefused(walk.table.format(step.folder.scope, step.folder.components), error);
  });
  const keys: string[] = [];
  for (const { name, type } of entries) {
    if (!isNameable(name)) walk.unnameable++;
    else if (type === "file") keys.push(name);
    else if (type === "directory") keys.push(`${name}/`);
  }
  return keys.sort();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function pause(walk: Walk): Promise<void> {
  walk.options.signal?.throwIfAborted();
  await setImmediate();
}
