import { accessSync, constants, type Dirent, lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import { findRealPath, listFolder, toPathText, toSystemPath } from "../files/system-path.ts";

/*
 * Looks at paths synchronously. A command needs some hundred of these answers; each takes a few microseconds here, and ten times
 * that as a task of the thread pool.
 */

/** Follows links. Undefined if nothing can be seen. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(toSystemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Follows no link. Undefined if nothing can be seen. */
export function linkStatOf(path: string): Stats | undefined {
  try {
    return lstatSync(toSystemPath(path), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** As of `EntryFacts`. Follows no link. */
export function identityOf(path: string): string | undefined {
  const stats = linkStatOf(path);
  return stats && `${stats.dev}:${stats.ino}`;
}

/** None where the folder cannot be listed. */
export function entriesOf(folder: string): readonly Dirent[] {
  return entriesIn(folder) ?? [];
}

/** Undefined if the folder cannot be listed; with `/.` behind its path also where it cannot be entered. */
export function entriesIn(folder: string): readonly Dirent[] | undefined {
  try {
    return listFolder(toSystemPath(folder));
  } catch {
    return undefined;
  }
}

interface Listing {
  readonly version: string;
  readonly entries: readonly Dirent[];
}

/** Listings of folders of the machine: some dozens, looked at for each command. */
const listings = new Map<string, Listing>();
const mostListings = 200;

/** Milliseconds: a change that is younger can be followed by another one with the same time stamp. */
const settled = 2000;

/** Returns whether another change gives another version. */
export function isSettled({ ctimeMs }: Stats): boolean {
  return Date.now() - ctimeMs > settled;
}

/** Another one after a file was written, or a folder got or lost an entry. */
export function versionOf({ dev, ino, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${mtimeMs}:${ctimeMs}`;
}

/** The entries of a folder that changes seldom: it is listed again when its time stamps change. */
export function knownEntriesOf(folder: string): readonly Dirent[] {
  const stats = statOf(folder);
  if (stats === undefined) return [];
  const version = versionOf(stats);
  const known = listings.get(folder);
  if (known?.version === version) return known.entries;
  const entries = entriesOf(folder);
  if (listings.size >= mostListings) listings.clear();
  if (isSettled(stats)) listings.set(folder, { version, entries });
  return entries;
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
    accessSync(toSystemPath(path), mode);
    return true;
  } catch {
    return false;
  }
}

/** The path without links. Undefined if nothing can be seen. */
export function realPathOf(path: string): string | undefined {
  if (statOf(path) === undefined) return undefined;
  try {
    return findRealPath(path);
  } catch {
    return undefined;
  }
}

/** As many as the system follows. */
const mostLinks = 40;

/** The links that a path leads through, itself among them, each by a path to it that has no link in it. */
export function linksBehind(path: string): readonly string[] {
  const found: string[] = [];
  const names = path.split(sep);
  let at: string = sep;
  for (let name = names.shift(); name !== undefined && found.length < mostLinks; name = names.shift()) {
    const here = join(at, name);
    const text = textOfLink(here);
    if (text === undefined) at = here;
    else {
      found.push(here);
      if (isAbsolute(text)) at = sep;
      names.unshift(...text.split(sep));
    }
  }
  return found;
}

/** Undefined if it is no link. */
export function textOfLink(path: string): string | undefined {
  try {
    return toPathText(readlinkSync(toSystemPath(path), "buffer"));
  } catch {
    return undefined;
  }
}
