import { getOrMake } from "../../util/get-or-make.ts";
import { dependencyFolders } from "../command/program-folders.ts";
import { removeLeftOvers } from "../files/replace-file.ts";
import type { Writer } from "../files/temporary-name.ts";
import type { ScopeRoot, ScopeTable } from "./scope-table.ts";
import { inFolder } from "./scope-walk.ts";
import type { ResolvedPath } from "./scopes.ts";

/** Less than a millisecond each; what lies deeper, or in a larger tree, goes with the first write beside it. */
const mostFolders = 1000;
/** Each folder is opened from its root on. */
const mostLevels = 16;
/** Folders of runs that are entered where the scopes are closed before that moment: a program that ran often has thousands. */
const latestRuns = 64;
/** Milliseconds from the opening of scopes: the first request of a run goes first, and short runs wait for no more than they must. */
const delay = 200;

const sweptBy = new WeakMap<Writer, Set<string>>();

/**
 * Removes the temporaries that killed processes left in writable scopes: once in a process for each root, the nearest
 * folders first. Starts a moment later, or when the returned function is called, which resolves when it is done and never rejects.
 * Returns undefined if other scopes see to all of these roots.
 */
export function sweepLater(table: ScopeTable): (() => Promise<void>) | undefined {
  const seenTo = getOrMake(sweptBy, table.writer, () => new Set());
  const roots = table.roots.filter(({ declaration, directory }) => declaration.mode === "rw" && !seenTo.has(directory.identity));
  if (roots.length === 0) return undefined;
  for (const { directory } of roots) seenTo.add(directory.identity);
  let sweeping: Promise<void> | undefined;
  const sweep = (mostRuns: number) => {
    clearTimeout(timer);
    sweeping ??= sweepRoots(table, roots, mostRuns);
    return sweeping;
  };
  const timer = setTimeout(sweep, delay, mostFolders).unref();
  return () => sweep(latestRuns);
}

async function sweepRoots(table: ScopeTable, roots: readonly ScopeRoot[], mostRuns: number): Promise<void> {
  // Paths, not open folders: there are more of them than a process may have open.
  const folders = roots.map(({ declaration }): ResolvedPath => ({ scope: declaration, components: [], virtualPath: "" }));
  for (let index = 0; index < Math.min(folders.length, mostFolders); index++) {
    folders.push(...(await sweepFolder(table, folders[index] as ResolvedPath, mostRuns).catch(() => [])));
  }
}

/** Returns the folders in it. */
function sweepFolder(table: ScopeTable, path: ResolvedPath, mostRuns: number): Promise<readonly ResolvedPath[]> {
  return inFolder(table, path, async ({ directory, scope, components }) => {
    if (scope.mode === "rw") await removeLeftOvers(directory, table.writer);
    if (components.length >= mostLevels) return [];
    const folders = (await directory.entries()).filter(({ type }) => type === "directory");
    const entered = folders.filter(({ name }) => name !== ".git" && !dependencyFolders.has(name));
    const names = entered.map(({ name }) => name);
    const chosen = isRunsFolder(components) ? names.sort().slice(-mostRuns) : names;
    return chosen.map((name) => ({ scope, components: [...components, name], virtualPath: "" }));
  });
}

/** Names of runs begin with their time. */
function isRunsFolder(components: readonly string[]): boolean {
  return components.at(-2) === ".llm-do" && components.at(-1) === "runs";
}
