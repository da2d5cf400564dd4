import { basename, dirname, isAbsolute, join } from "node:path";
import { linksBehind, realPathOf, textOfLink } from "../../command/look.ts";
import { foldersAbove } from "../mount.ts";
import { type GitFolder, pathNamedIn } from "./git-repositories.ts";
import { readSettings } from "./git-settings.ts";

/** Places that git is led to by files of git directories, and all programs by links of protected names. Host paths. */
export interface GitSteering {
  /** Without links: what such links lead to, files that a configuration includes, and folders of hooks. They can be missing. */
  readonly closed: ReadonlySet<string>;
  /** The places where a link would lead git elsewhere on its way to them, to a repository, or to what worktrees have in common. */
  readonly ways: ReadonlySet<string>;
}

export const noSteering: GitSteering = { closed: new Set(), ways: new Set() };

interface Leading {
  /** Files and folders `.git`. */
  readonly entries: readonly string[];
  readonly folders: readonly GitFolder[];
  /** Links of protected names, wherever they lie: what they lead to is closed, too. */
  readonly links: readonly string[];
}

export function findSteering({ entries, folders, links }: Leading): GitSteering {
  const closed = new Set<string>();
  const ways = new Set<string>();
  const lead = (path: string | undefined) => {
    for (const way of path === undefined ? [] : [...linksBehind(path), ...foldersAbove(join(path))]) ways.add(way);
  };
  const close = (path: string): string | undefined => {
    const real = realPathOf(path) ?? join(realPathOf(dirname(path)) ?? dirname(path), basename(path));
    lead(path);
    for (const folder of foldersAbove(real)) ways.add(folder);
    const isNew = !closed.has(real);
    closed.add(real);
    return isNew ? real : undefined;
  };
  const named = (base: string, text = "~") => {
    if (text === "" || text.startsWith("~")) return undefined;
    return close(resolveText(base, text));
  };
  const follow = (file: string | undefined, top: string) => {
    for (const { section, key, value } of file === undefined ? [] : (readSettings(file) ?? [])) {
      if (section.startsWith("include") && key === "path") follow(named(dirname(file ?? ""), value), top);
      if (section === "core" && key === "hookspath") named(top, value);
    }
  };
  for (const link of links) close(resolveText(dirname(link), textOfLink(link) ?? ""));
  for (const entry of entries) {
    const path = pathNamedIn(entry, dirname(entry), "gitdir: ");
    // A folder that is missing is no repository yet.
    if (path !== undefined && realPathOf(path) === undefined) close(path);
    lead(path);
  }
  for (const { path, top = path } of folders) {
    lead(pathNamedIn(join(path, "commondir"), path));
    // Without them, which can be links, no look knows the folder for a repository.
    for (const name of ["objects", "refs"]) lead(join(path, name));
    for (const name of ["config", "config.worktree"]) follow(realPathOf(join(path, name)), top);
  }
  return { closed, ways };
}

function resolveText(base: string, text: string): string {
  return isAbsolute(text) ? text : `${base}/${text}`;
}
