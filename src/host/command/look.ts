import { accessSync, constants, type Dirent, readdirSync, realpathSync, type Stats, statSync } from "node:fs";

/*
 * Looks at paths synchronously. A command needs some hundred of these answers; each takes a few microseconds here, and ten times
 * that as a task of the thread pool.
 */

/** Follows links. Undefined where nothing can be seen. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** None where the folder cannot be listed. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function isReadable(path: string): boolean {
  return hasAccess(path, constants.R_OK);
}

/** Returns whether it is a file that may be executed. */
export function isExecutable(path: string): boolean {
  return statOf(path)?.isFile() === true && hasAccess(path, constants.X_OK);
}

function hasAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** The path without links. Undefined where nothing can be seen. */
export function realPathOf(path: string): string | undefined {
  if (statOf(path) === undefined) return undefined;
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
