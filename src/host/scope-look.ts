import { setImmediate } from "node:timers/promises";
import { dependencyFolders } from "./dependency-folders.ts";
import type { DirectoryEntry } from "./directory.ts";
import { scopeTable } from "./open-scopes.ts";
import { readAnyFile } from "./scope-files.ts";
import type { ScopeTable } from "./scope-table.ts";
import { inFolder, inSubfolder, type OpenFolder } from "./scope-walk.ts";
import type { ReadFile, Scopes } from "./scopes.ts";

/*
 * Looks into scopes in order to judge a call, never to return content to a model: suffixes and size limits of scopes do not
 * count, and protected names are seen. Links are not followed here either.
 */

/** Reads the beginning of a regular file. */
export async function lookIntoFile(scopes: Scopes, virtualPath: string, maxBytes: number): Promise<ReadFile> {
  const table = await scopeTable(scopes);
  return readAnyFile(table, table.resolve(virtualPath), maxBytes);
}

/** Lists the entries of a folder. */
export async function lookIntoFolder(scopes: Scopes, virtualPath: string): Promise<readonly DirectoryEntry[]> {
  const table = await scopeTable(scopes);
  return inFolder(table, table.resolve(virtualPath), ({ directory }) => directory.entries());
}

export interface FindOptions {
  readonly isMeant: (name: string) => boolean;
  readonly maxFolders: number;
}

export interface FoundFolders {
  /** Virtual paths. */
  readonly folders: readonly string[];
  /** False where `maxFolders` ended the search. */
  readonly isComplete: boolean;
}

/**
 * Finds the folders at and below a path that hold an entry with a meant name. Does not look into such entries, nor into folders of
 * dependencies. Takes a tenth of a millisecond for each folder.
 */
export async function findFoldersWith(scopes: Scopes, virtualPath: string, options: FindOptions): Promise<FoundFolders> {
  const table = await scopeTable(scopes);
  const walk: Walk = { table, options, folders: [], seen: new Set() };
  await inFolder(table, table.resolve(virtualPath), (folder) => visit(walk, folder));
  return { folders: walk.folders, isComplete: walk.seen.size <= options.maxFolders };
}

interface Walk {
  readonly table: ScopeTable;
  readonly options: FindOptions;
  readonly folders: string[];
  /** Identities. */
  readonly seen: Set<string>;
}

async function visit(walk: Walk, folder: OpenFolder): Promise<void> {
  const { table, options, seen } = walk;
  const { isMeant, maxFolders } = options;
  const { directory, scope, components } = folder;
  if (seen.has(directory.identity) || seen.size > maxFolders) return;
  seen.add(directory.identity);
  if (seen.size % 200 === 0) await setImmediate();
  // A folder that we cannot list cannot be listed by a command either: its user is ours.
  const entries = await directory.entries().catch(() => []);
  if (entries.some(({ name }) => isMeant(name))) walk.folders.push(table.format(scope, components));
  for (const { name, type } of entries) {
    if (type !== "directory" || isMeant(name) || dependencyFolders.has(name)) continue;
    await inSubfolder(table, folder, name, (inner) => visit(walk, inner));
  }
}
