import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { ScopeTable } from "../scopes/scope-table.ts";
import { mostNamed } from "../scopes/scope-walk.ts";
import { hostPathOf, type WritePlace } from "../wall/write-places.ts";
import { entriesOf, linkStatOf } from "./look.ts";

/** Milliseconds by which time stamps of files can be behind the clock. */
const lag = 20;

/** Folders that are listed before others get their turn. */
const batch = 200;

/**
 * Finds files that a command wrote, and that are larger than their scopes let file tools write: nothing bounds a command itself. Returns
 * the first of their virtual paths. `since`: when the command began, in milliseconds.
 */
export async function findLargeFiles(
  table: ScopeTable,
  places: readonly WritePlace[],
  since: number,
): Promise<readonly string[]> {
  const roots = new Set(table.roots.map(({ realPath }) => realPath));
  const found: string[] = [];
  const folders = places.filter(({ scope }) => scope.maxFileBytes !== undefined);
  for (let count = 1, folder = folders.pop(); folder !== undefined; folder = folders.pop(), count++) {
    const { scope, components } = folder;
    const path = hostPathOf(table, folder);
    for (const entry of entriesOf(path)) {
      const inner = { ...folder, components: [...components, entry.name] };
      const place = join(path, entry.name);
      if (entry.isDirectory() && !roots.has(place)) folders.push(inner);
      const stats = entry.isFile() ? linkStatOf(place) : undefined;
      const isLarge = stats !== undefined && stats.size > (scope.maxFileBytes ?? 0) && stats.ctimeMs >= since - lag;
      if (isLarge) found.push(table.format(scope, inner.components));
    }
    if (count % batch === 0) await setImmediate();
  }
  return found.sort().slice(0, mostNamed);
}
