import type { EntryType } from "../../files/directory.ts";
import { foldName } from "../../scopes/protected-names.ts";

/** Names of the parts that `.git` alone does not open to a command. */
export type GitPart = ".git/config" | ".git/hooks";

/**
 * Returns the folded components below the innermost `.git` of a path; undefined without one, or if `.git` is not open. Git directories of
 * other names, of submodules too, have that name here.
 */
export function insideOpenGit(components: readonly string[], unprotected: ReadonlySet<string>): readonly string[] | undefined {
  if (!unprotected.has(".git")) return undefined;
  const folded = components.map(foldName);
  const at = folded.lastIndexOf(".git");
  return at < 0 ? undefined : folded.slice(at + 1);
}

/** The beginning of a path in a git directory, or in the part of it that is of another working tree. */
const own = "^(?:worktrees/[^/]+/)?";

/**
 * Files that commits, branches, tags, merges, picks, stashes, fetches and collecting garbage leave in a git directory. Of plans only that of
 * picks, which runs no other steps: its options (`sequencer/opts`) can name a program.
 */
const written = new RegExp(
  `${own}(?:${[
    "(?:(?:orig|fetch|merge|cherry_pick|revert|rebase)_)?head|(?:merge|squash)_msg|(?:commit|tag)_editmsg|merge_(?:mode|autostash)",
    "auto_merge|index|sharedindex[.].*|shallow|packed-refs|gc[.](?:log|pid)|info/refs|objects/(?:info/(?:packs|commit-graph)|maintenance)|sequencer/(?:abort-safety|head|todo)",
  ].join("|")})(?:[.]lock)?$|${own}(?:refs|logs|reftable|objects/(?:[0-9a-f]{2}|pack|info/commit-graphs))/.+$`,
);

/** The folders of these, and those between submodules, whose names are paths of any length. */
const folders = new RegExp(
  `${own}(?:info|modules(?:/.+)?|sequencer|worktrees(?:/[^/]+)?|objects(?:/(?:[0-9a-f]{2}|pack(?:/multi-pack-index[.]d)?|info(?:/commit-graphs)?))?|(?:refs|logs|reftable)(?:/.+)?)$`,
);

const hooks = new RegExp(`${own}hooks$`);
const head = new RegExp(`${own}head$`);
const index = new RegExp(`${own}(?:index|sharedindex[.].*)$`);

/**
 * Returns which part of a git directory an entry is, if it is none that git writes for commits and branches: hooks, and all else, since git
 * can be led by it to start programs, or to write elsewhere: configuration, plans, recorded conflicts, remotes, names that no
 * git of today knows, and `.git` itself if it is a file that names a folder. `inside`: as of `insideOpenGit`.
 */
export function gitPartOf(inside: readonly string[], type: EntryType): GitPart | undefined {
  if (inside.length === 0) return type === "directory" ? undefined : ".git/config";
  const path = inside.join("/");
  if (hooks.test(path)) return ".git/hooks";
  const isWritten = (type !== "directory" && written.test(path)) || (type !== "file" && folders.test(path));
  return type !== "other" && isWritten ? undefined : ".git/config";
}

/**
 * Returns whether git could write elsewhere through a link of this path below `.git`: `COMMIT_EDITMSG`, `logs/HEAD`, folders of refs. Git makes
 * none itself but `HEAD`, which it replaces and never writes through.
 */
export function leadsGitAway(inside: readonly string[]): boolean {
  return !head.test(inside.join("/"));
}

/** Returns whether a folder below `.git` holds nothing but what was committed, in files that git never writes again. */
export function holdsObjectsAlone(inside: readonly string[]): boolean {
  return /^objects\/[0-9a-f]{2}$/.test(inside.join("/"));
}

/** Returns whether a file is an index of a git directory, or a part of one that is split. */
export function isIndex(inside: readonly string[]): boolean {
  return index.test(inside.join("/"));
}
