import { basename, dirname, isAbsolute, join } from "node:path";
import { isExecutable, linksBehind, realPathOf, statOf, textOfLink } from "../../command/look.ts";
import type { Host } from "../../host.ts";
import { isCodeName } from "../../scopes/protected-names.ts";
import { foldersAbove } from "../mount.ts";
import type { GitSetting } from "./git-configuration.ts";
import { startsNothing } from "./git-harmless.ts";
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
    const named = settings.flatMap((setting) => namedBy(setting, { base: top, home: user.homeDirectory }));
    for (const path of named) close(path);
  };
  for (const link of links) close(resolveText(dirname(link), textOfLink(link) ?? ""));
  for (const entry of entries) {
    const path = pathNamedIn(entry, dirname(entry), "gitdir: ");
    // A folder that is missing is no repository yet.
    if (path !== undefined && realPathOf(path) === undefined) close(path);
    lead(path);
  }
  const everywhere = userFiles(user).flatMap((file) => settingsOf(textOfLink(file) === undefined ? file : close(file)));
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

interface Around {
  readonly base: string;
  readonly home: string;
}

/** Undefined for no path, and for one in the home of another user. */
function placeOf(text = "", { base, home }: Around): string | undefined {
  if (text.startsWith("~/")) return join(home, text.slice(2));
  return text === "" || text.startsWith("~") ? undefined : resolveText(base, text);
}

const pathKeys: ReadonlySet<string> = new Set(["core.hookspath", "core.attributesfile", "init.templatedir"]);

/**
 * Returns what a setting can make git start: folders of hooks and templates, the program that a value begins with if it names one by a path,
 * and files among the other words of the value. A word without a folder counts only if the file can be run.
 */
function namedBy(setting: GitSetting, around: Around): readonly string[] {
  const { section, key, value = "" } = setting;
  const whole = placeOf(value, around);
  if (pathKeys.has(`${section}.${key}`)) return whole === undefined ? [] : [whole];
  // Other aliases are arguments of git.
  if (startsNothing(setting) || (section === "alias" && !value.startsWith("!"))) return [];
  const words = value.split(/[\s"'`;&|()<>=!]+/).filter((word) => word !== "");
  return [value, ...words].flatMap((word) => {
    const path = placeOf(word, around);
    if (path === undefined) return [];
    const isFile = statOf(path)?.isFile() ?? word === words[0];
    return isFile && (word.includes("/") || isExecutable(path) || isCodeName(word)) ? [path] : [];
  });
}

function resolveText(base: string, text: string): string {
  return isAbsolute(text) ? text : `${base}/${text}`;
}
