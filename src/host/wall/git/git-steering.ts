import { basename, dirname, isAbsolute, join } from "node:path";
import { linksBehind, realPathOf } from "../../command/look.ts";
import { foldersAbove } from "../mount.ts";
import { type GitFolder, pathNamedIn } from "./git-repositories.ts";
import { readSettings } from "./git-settings.ts";

/** Places outside of git directories that git is led to by files in them. Host paths. */
export interface GitSteering {
  /** Without links: files that a configuration includes, and folders of hooks. They can be missing. */
  readonly closed: ReadonlySet<string>;
  /** Where a link would lead git elsewhere on its way to them, to a repository, or to what worktrees have in common. */
  readonly ways: ReadonlySet<string>;
}

export const noSteering: GitSteering = { closed: new Set(), ways: new Set() };

/** `entries`: files and folders `.git`. */
export function findSteering(entries: readonly string[], folders: readonly GitFolder[]): GitSteering {
  const closed = new Set<string>();
  const ways = new Set<string>();
  const lead = (path: string | undefined) => {
    for (const way of path === undefined ? [] : [...linksBehind(path), ...foldersAbove(join(path))]) ways.add(way);
  };
  const close = (base: string, text: string | undefined): string | undefined => {
    if (!text || text.startsWith("~")) return undefined;
    const path = isAbsolute(text) ? text : `${base}/${text}`;
    const real = realPathOf(path) ?? join(realPathOf(dirname(path)) ?? dirname(path), basename(path));
    lead(path);
    for (const folder of foldersAbove(real)) ways.add(folder);
    const isNew = !closed.has(real);
    closed.add(real);
    return isNew ? real : undefined;
  };
  const follow = (file: string | undefined, top: string) => {
    for (const { section, key, value } of file === undefined ? [] : (readSettings(file) ?? [])) {
      if (section.startsWith("include") && key === "path") follow(close(dirname(file ?? ""), value), top);
      if (section === "core" && key === "hookspath") close(top, value);
    }
  };
  for (const entry of entries) lead(pathNamedIn(entry, dirname(entry), "gitdir: "));
  for (const { path, top = path } of folders) {
    lead(pathNamedIn(join(path, "commondir"), path));
    for (const name of ["config", "config.worktree"]) follow(realPathOf(join(path, name)), top);
  }
  return { closed, ways };
}
