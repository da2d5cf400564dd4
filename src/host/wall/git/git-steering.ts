import { basename, dirname, join } from "node:path";
import { linksBehind, realPathOf, textOfLink } from "../../command/look.ts";
import type { Host } from "../../host.ts";
import { foldersAbove } from "../mount.ts";
import type { GitSetting } from "./git-configuration.ts";
import { filesNamedBy, placeOf, resolveText } from "./git-named-files.ts";
import { type GitFolder, pathNamedIn } from "./git-repositories.ts";
import { readSettings } from "./git-settings.ts";

/** Places that git is led to by files of git directories, and all programs by links of protected names. Host paths. */
export interface GitSteering {
  /** Without links: what such links lead to, files that a configuration includes or starts, and folders of hooks. They can be missing. */
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
  /** Whose own configuration holds in all repositories. */
  readonly user: Pick<Host, "environment" | "homeDirectory">;
}

export function findSteering({ entries, folders, links, user }: Leading): GitSteering {
  const closed = new Set<string>();
  const ways = new Set<string>();
  const lead = (path: string | undefined) => {
    for (const way of path === undefined ? [] : [...linksBehind(path), ...foldersAbove(join(path))]) ways.add(way);
  };
  const close = (path: string): string => {
    const real = realPathOf(path) ?? join(realPathOf(dirname(path)) ?? dirname(path), basename(path));
    lead(path);
    for (const folder of foldersAbove(real)) ways.add(folder);
    closed.add(real);
    return real;
  };
  /** With the settings of the files that it includes, which are closed. */
  const settingsOf = (file: string, seen = new Set<string>()): readonly GitSetting[] => {
    if (seen.has(file)) return [];
    seen.add(file);
    return (readSettings(file) ?? []).flatMap((setting) => {
      if (!setting.section.startsWith("include") || setting.key !== "path") return [setting];
      const path = placeOf(setting.value, { base: dirname(file), home: user.homeDirectory });
      return path === undefined ? [] : settingsOf(close(path), seen);
    });
  };
  const closeNamed = (settings: readonly GitSetting[], top: string) => {
    const named = settings.flatMap((setting) => filesNamedBy(setting, { base: top, home: user.homeDirectory }));
    for (const path of named) close(path);
  };
  for (const link of links) close(resolveText(dirname(link), textOfLink(link) ?? ""));
  for (const entry of entries) {
    const path = pathNamedIn(entry, dirname(entry), "gitdir: ");
    // A folder that is missing is no repository yet.
    if (path !== undefined && realPathOf(path) === undefined) close(path);
    lead(path);
  }
  const everywhere = userFiles(user).flatMap((file) => settingsOf(close(file)));
  closeNamed(everywhere, user.homeDirectory);
  for (const { path, top = path } of folders) {
    lead(pathNamedIn(join(path, "commondir"), path));
    // Without them, which can be links, no look knows the folder for a repository.
    for (const name of ["objects", "refs"]) lead(join(path, name));
    const own = ["config", "config.worktree"].flatMap((name) => settingsOf(realPathOf(join(path, name)) ?? ""));
    closeNamed([...everywhere, ...own], top);
  }
  return { closed, ways };
}

/** The files of `git-config(1)` that are of no repository. */
function userFiles({ environment, homeDirectory }: Leading["user"]): readonly string[] {
  const { GIT_CONFIG_GLOBAL: global, XDG_CONFIG_HOME: folder } = environment;
  const own = [join(folder || join(homeDirectory, ".config"), "git/config"), join(homeDirectory, ".gitconfig")];
  return ["/etc/gitconfig", ...(global === undefined ? own : [global])];
}
