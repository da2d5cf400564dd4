import { basename, dirname } from "node:path";
import type { Directory, RootDirectory } from "./directory.ts";
import type { ScopeSystem } from "./open-scopes.ts";
import { errorCode } from "./system-error.ts";

/** What of a path is there: the nearest folder upwards, open, and the names below it that are missing. */
export interface NearestFolder {
  readonly directory: RootDirectory;
  readonly missing: readonly string[];
}

/** Makes a folder and what is missing on the way to it. Links that are there are followed. */
export async function makeFolders(system: ScopeSystem, path: string, mode?: number): Promise<void> {
  const { directory, missing } = await openNearest(system, path);
  await makeBelow(directory, missing, { system, mode });
}

export interface OwnFolders {
  readonly root: string;
  readonly names: readonly string[];
  readonly mode: number | undefined;
}

/** Makes folders below one that is there, and follows no link among them. */
export async function makeOwnFolders(system: ScopeSystem, { root, names, mode }: OwnFolders): Promise<void> {
  await makeBelow(await system.openRoot(root), names, { system, mode });
}

/** The caller closes the folder. */
export async function openNearest(system: ScopeSystem, path: string): Promise<NearestFolder> {
  const missing: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      return { directory: await system.openRoot(folder), missing };
    } catch (error) {
      if (errorCode(error) !== "ENOENT" || dirname(folder) === folder) throw error;
      missing.unshift(basename(folder));
    }
  }
}

/**
 * One folder at a time, through the open one above it: the recursive `mkdir` of Node follows links, and reports `ENOENT`
 * where the disk is read-only. Closes the folder.
 */
export async function makeBelow(
  folder: Directory,
  names: readonly string[],
  { system, mode }: { readonly system: ScopeSystem; readonly mode?: number | undefined },
): Promise<void> {
  let above = folder;
  try {
    for (const name of names) {
      const next = await enterOrMake(above, name, { system, mode });
      await above.close();
      above = next;
    }
  } finally {
    await above.close();
  }
}

async function enterOrMake(
  above: Directory,
  name: string,
  { system, mode }: { readonly system: ScopeSystem; readonly mode?: number | undefined },
): Promise<Directory> {
  try {
    return await above.openDirectory(name);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
  try {
    await above.makeDirectory(name, mode);
    await system.writer.writes?.note(() => above.look(name));
  } catch (error) {
    // Another process made it meanwhile.
    if (errorCode(error) !== "EEXIST") throw error;
  }
  return above.openDirectory(name);
}
