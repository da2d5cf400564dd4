import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { entriesOf, realPathOf, statOf } from "../../command/look.ts";
import { toPathText, toSystemPath } from "../../files/system-path.ts";

/** A git directory: of a repository, a submodule or another working tree. Host paths. */
export interface GitFolder {
  readonly path: string;
  /** The top of its work tree; undefined if it is not known. */
  readonly top: string | undefined;
  /** Holds the objects: the folder itself, but of another working tree the one that it belongs to. */
  readonly common: string;
}

/** Limit of git directories that are looked at: a repository with more submodules is none that git could work with. */
const mostFolders = 2000;
const maxLinkBytes = 10_000;

/** Finds the git directories that the entries lead to: folders `.git` with all in them, and those that a file `.git` names. */
export function findGitFolders(entries: readonly string[]): readonly GitFolder[] {
  const found = new Map<string, GitFolder>();
  const add = (folder: GitFolder) => {
    const known = found.get(folder.path);
    // The work tree of a submodule is known by its file `.git` alone.
    if (known !== undefined && (known.top ?? folder.top) === known.top) return;
    if (found.size >= mostFolders || statOf(folder.path)?.isDirectory() !== true) return;
    found.set(folder.path, folder);
    for (const { name } of entriesOf(join(folder.path, "worktrees"))) {
      const path = join(folder.path, "worktrees", name);
      const file = readLink(join(path, "gitdir"), path);
      add({ path, top: file === undefined ? undefined : dirname(file), common: folder.path });
    }
    for (const path of submodulesIn(join(folder.path, "modules"))) add({ path, top: undefined, common: path });
  };
  for (const entry of entries) {
    const top = dirname(entry);
    const path = statOf(entry)?.isDirectory() === true ? realPathOf(entry) : readLink(entry, top, "gitdir: ");
    if (path !== undefined) add({ path, top, common: readLink(join(path, "commondir"), path) ?? path });
  }
  return [...found.values()];
}

/** The name of a submodule is a path of any length. */
function submodulesIn(folder: string): readonly string[] {
  const inside = entriesOf(folder).filter((entry) => entry.isDirectory());
  return inside.flatMap(({ name }) => {
    const path = join(folder, name);
    return isGitDirectory(path) ? [path] : submodulesIn(path);
  });
}

/** A configuration is enough: a command to which `.git` is open can remove `HEAD`. */
function isGitDirectory(path: string): boolean {
  return ["HEAD", "config"].some((own) => statOf(join(path, own))?.isFile());
}

/** The path in a file that names one, without links. */
function readLink(file: string, base: string, beginning = ""): string | undefined {
  const path = pathNamedIn(file, base, beginning);
  return path && (realPathOf(path) ?? resolve(path));
}

/** The path in a file that names one, as it is written there. */
export function pathNamedIn(file: string, base: string, beginning = ""): string | undefined {
  const bytes = readSmall(file, maxLinkBytes);
  const text = bytes && toPathText(bytes).trimEnd();
  if (text === undefined || !text.startsWith(beginning) || text.includes("\0")) return undefined;
  const path = text.slice(beginning.length);
  return isAbsolute(path) ? path : `${base}/${path}`;
}

/** Undefined if it is no file, is larger, or cannot be read. Follows links. */
export function readSmall(path: string, maxBytes: number): Buffer | undefined {
  const stats = statOf(path);
  if (stats?.isFile() !== true || stats.size > maxBytes) return undefined;
  try {
    return readFileSync(toSystemPath(path));
  } catch {
    return undefined;
  }
}
