import { basename, dirname } from "node:path";
import type { ScopeSystem } from "../scopes/open-scopes.ts";
import type { Directory, RootDirectory } from "./directory.ts";
import { errorCode } from "./system-error.ts";
import type { Writer } from "./temporary-name.ts";

/** The deepest folder on the way to a path that exists, open, and the names below it that do not. */
export interface NearestFolder {
  readonly directory: RootDirectory;
  readonly missing: readonly string[];
}

/** Makes a folder and what is missing on the way to it. Links that exist are followed. */
export async function makeFolders(system: ScopeSystem, path: string, mode?: number): Promise<void> {
  const { directory, missing } = await openNearest(system, path);
  await makeBelow(directory, missing, { writer: system.writer, mode });
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

export interface Making {
  readonly writer: Writer;
  /** Default 0o777, less the process's mask. */
  readonly mode?: number | undefined;
}

/**
 * Makes folders, each in the one before, and follows no link among them. One at a time, through the open folder above: the recursive
 * `mkdir` of Node follows links, and reports `ENOENT` where the disk is read-only. Closes the folder that it begins in.
 */
export async function makeBelow(folder: Directory, names: readonly string[], making: Making): Promise<void> {
  let above = folder;
  try {
    for (const name of names) {
      const next = await openOrMake(above, name, making);
      await above.close();
      above = next;
    }
  } finally {
    await above.close();
  }
}

async function openOrMake(above: Directory, name: string, making: Making): Promise<Directory> {
  try {
    return await above.openDirectory(name);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
  await makeFolder(above, name, making);
  return above.openDirectory(name);
}

/** Makes one folder, or leaves the one that another process made meanwhile. */
export async function makeFolder(above: Directory, name: string, { writer, mode }: Making): Promise<void> {
  try {
    await above.makeDirectory(name, mode);
    await writer.writes?.note(() => above.look(name));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}
