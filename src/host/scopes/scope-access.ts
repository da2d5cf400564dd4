import { inspectPath } from "./scope-files.ts";
import { isEverything } from "./scope-list.ts";
import type { ScopePaths, ScopeTable } from "./scope-table.ts";
import { assertInPlace } from "./scope-walk.ts";
import type { ResolvedPath, ScopeDeclaration } from "./scopes.ts";

type UseOfPath<T> = (table: ScopeTable, path: ResolvedPath) => Promise<T>;

/** Ways to the open table. Each finds that the folders lie where they did before it uses them. */
export function createAccess(paths: ScopePaths, open: () => Promise<ScopeTable>) {
  const at = async <T>(virtualPath: string, use: UseOfPath<T>): Promise<T> => {
    const path = paths.resolve(virtualPath);
    const table = await open();
    await assertInPlace(table, path.scope);
    return use(table, path);
  };
  const below = async <T>(virtualPath: string, use: (table: ScopeTable) => Promise<T>): Promise<T> => {
    const named = isEverything(paths, virtualPath) ? paths.roots : [paths.root(paths.resolve(virtualPath).scope)];
    const table = await open();
    for (const { declaration } of named) await assertInPlace(table, declaration);
    return use(table);
  };
  const writing = new Set<Promise<unknown>>();
  const change = async <T>(virtualPath: string, use: UseOfPath<T>): Promise<T> => {
    const running = at(virtualPath, use);
    writing.add(running);
    return running.finally(() => writing.delete(running));
  };
  const can = async (virtualPath: string, access: "read" | "write"): Promise<boolean> => {
    try {
      const path = paths.resolve(virtualPath);
      const { protection } = await inspectPath(await open(), path, access);
      return access === "read" || protection !== "program";
    } catch {
      return false;
    }
  };
  /** An aborted call does not end its write, which could be neither completed nor undone in a closed folder. */
  const settled = () => Promise.allSettled(writing);
  return { at, below, change, can, settled };
}

export function coveredScopes(table: ScopePaths, virtualPath: string): readonly ScopeDeclaration[] {
  if (isEverything(table, virtualPath)) return table.roots.map((root) => root.declaration);
  const { scope, components } = table.resolve(virtualPath);
  return table.covered(scope, components);
}
