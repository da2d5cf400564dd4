import { setImmediate } from "node:timers/promises";
import { dependencyFolders } from "./dependency-folders.ts";
import type { DirectoryEntry } from "./directory.ts";
import { scopeTable } from "./open-scopes.ts";
import { readAnyFile } from "./scope-files.ts";
import type { ScopeTable } from "./scope-table.ts";
import { enter, openPlace, type Place } from "./scope-walk.ts";
import type { ReadFile, Scopes } from "./scopes.ts";

/*
 * Looks at what a scope holds in order to judge a call, never to give it to a model: suffixes and size limits of scopes do not
 * count, protected names are seen. Nothing is followed out of a scope here either.
 */

/** The beginning of a regular file. */
export function lookIntoFile(scopes: Scopes, virtualPath: string, maxBytes: number): Promise<ReadFile> {
  const table = scopeTable(scopes);
  return readAnyFile(table, table.resolve(virtualPath), maxBytes);
}

/** What lies directly in a folder. */
export async function lookIntoFolder(scopes: Scopes, virtualPath: string): Promise<readonly DirectoryEntry[]> {
  const table = scopeTable(scopes);
  const place = await openPlace(table, table.resolve(virtualPath));
  try {
    return await place.directory.entries();
  } finally {
    await place.close();
  }
}

export interface FindOptions {
  readonly isMeant: (name: string) => boolean;
  readonly maxFolders: number;
}

export interface FoundFolders {
  /** Virtual paths of the folders that have it. */
  readonly folders: readonly string[];
  /** False where not all of them were looked into. */
  readonly isComplete: boolean;
}

/**
 * The folders below a folder that hold an entry of a meant name. What is meant is not looked into, and folders of dependencies are
 * left out. A tenth of a millisecond a folder.
 */
export async function findFoldersWith(scopes: Scopes, virtualPath: string, options: FindOptions): Promise<FoundFolders> {
  const table = scopeTable(scopes);
  const walk: Walk = { table, options, folders: [], seen: new Set() };
  const place = await openPlace(table, table.resolve(virtualPath));
  try {
    await visit(walk, place);
  } finally {
    await place.close();
  }
  return { folders: walk.folders, isComplete: walk.seen.size <= options.maxFolders };
}

interface Walk {
  readonly table: ScopeTable;
  readonly options: FindOptions;
  readonly folders: string[];
  /** Identities. */
  readonly seen: Set<string>;
}

async function visit(walk: Walk, place: Place): Promise<void> {
  const { isMeant, maxFolders } = walk.options;
  if (walk.seen.has(place.directory.identity) || walk.seen.size > maxFolders) return;
  walk.seen.add(place.directory.identity);
  if (walk.seen.size % 200 === 0) await setImmediate();
  // What cannot be listed, no command can list either: its user is ours.
  const entries = await place.directory.entries().catch(() => []);
  if (entries.some(({ name }) => isMeant(name))) walk.folders.push(walk.table.format(place.scope, place.components));
  for (const { name, type } of entries) {
    if (type !== "directory" || isMeant(name) || dependencyFolders.has(name)) continue;
    const inner = await enter(walk.table, place, name).catch(() => undefined);
    if (inner === undefined) continue;
    try {
      await visit(walk, inner);
    } finally {
      await inner.close();
    }
  }
}
