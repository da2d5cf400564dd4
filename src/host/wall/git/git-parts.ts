import type { EntryType } from "../../files/directory.ts";
import { foldName } from "../../scopes/protected-names.ts";

/** Names of the parts that `.git` alone does not open to a command. */
export type GitPart = ".git/config" | ".git/hooks";

/**
 * Returns the folded components below the outermost `.git` of a path; undefined without one, or if `.git` is not open.
 */
export function insideOpenGit(components: readonly string[], unprotected: ReadonlySet<string>): readonly string[] | undefined {
  if (!unprotected.has(".git")) return undefined;
  const folded = components.map(foldName);
  const at = folded.indexOf(".git");
  return at < 0 ? undefined : folded.slice(at + 1);
}

/**
 * Returns which part of a git directory an entry is, if it makes git run programs, or look for them elsewhere: hooks, configuration
 * (with filters, pagers, helpers, and its lock), `commondir`, files that give others filters, name folders with more objects or are remotes,
 * and `.git` itself if it is a file that names a folder. The same holds for submodules and other working trees, which lie further down. `inside`: the folded components below `.git`.
 */
export function gitPartOf(inside: readonly string[], type: EntryType): GitPart | undefined {
  const name = inside.at(-1);
  if (name === undefined) return type === "directory" ? undefined : ".git/config";
  if (type !== "directory" && (isRemote(inside) || steering.some((path) => isIn(inside, path)))) return ".git/config";
  if (!isGitFolder(inside.slice(0, -1))) return undefined;
  if (name === "hooks") return ".git/hooks";
  return type !== "directory" && configuration.has(name) ? ".git/config" : undefined;
}

/**
 * Returns whether git could write elsewhere through a link of this path below `.git`: `COMMIT_EDITMSG`, `logs/HEAD`, folders of refs. Git makes
 * none itself but `HEAD`, which it replaces and never writes through.
 */
export function leadsGitAway(inside: readonly string[]): boolean {
  return inside.at(-1) !== "head" || !isGitFolder(inside.slice(0, -1));
}

/** Returns whether a folder below `.git` holds nothing but what was committed, in files that git never writes again. */
export function holdsObjectsAlone(inside: readonly string[]): boolean {
  return /^(?:objects\/[0-9a-f]{2}|(?:lfs|annex)\/objects\/.+)$/.test(inside.join("/"));
}

/** Returns whether a file is an index of a git directory, or a part of one that is split. */
export function isIndex(inside: readonly string[]): boolean {
  return /^(?:index|sharedindex\..*)$/.test(inside.at(-1) ?? "") && isGitFolder(inside.slice(0, -1));
}

/** The name of a submodule is a path of any length: each folder below `modules` can be a git directory. */
function isGitFolder(inside: readonly string[]): boolean {
  const [first, ...rest] = inside;
  return first === undefined || first === "modules" || (first === "worktrees" && rest.length === 1);
}

/** Returns whether a path is this one in a git directory. */
function isIn(inside: readonly string[], path: string): boolean {
  const names = path.split("/");
  return inside.slice(-names.length).join("/") === path && isGitFolder(inside.slice(0, -names.length));
}

/** Folders of files that are remotes (`gitremotes(7)`): addresses that git fetches from and pushes to. */
const remoteFolders: readonly string[] = ["remotes", "branches"];

/** Returns whether it is such a folder, or in one. Refs have folders of these names, too. */
function isRemote(inside: readonly string[]): boolean {
  return inside.some((name, index) => {
    if (!remoteFolders.includes(name) || inside.slice(2, index).includes("refs")) return false;
    return isGitFolder(inside.slice(0, index));
  });
}

/** Files further down that give files filters, or name folders with more objects. */
const steering = ["info/attributes", "objects/info/alternates", "objects/info/http-alternates"];

const configuration = new Set(["config", "config.lock", "config.worktree", "config.worktree.lock", "commondir"]);
