import { isAbsolute, join } from "node:path";
import { isExecutable, knownEntriesOf, statOf } from "../../command/look.ts";
import { isCodeName } from "../../scopes/protected-names.ts";
import type { GitSetting } from "./git-configuration.ts";
import { startsNothing } from "./git-harmless.ts";
import { readSmall } from "./git-repositories.ts";

export interface Around {
  /** The folder that relative paths hold in. */
  readonly base: string;
  readonly home: string;
}

/** Undefined for no path, and for one in the home of an unknown user. */
export function placeOf(text = "", { base, home }: Around): string | undefined {
  const [start = "", name] = /^~([^/]*)(?=\/)/.exec(text) ?? [];
  if (name === undefined) return text === "" ? undefined : resolveText(base, text);
  const folder = name === "" ? home : homeOf(name);
  return folder && join(folder, text.slice(start.length));
}

export function resolveText(base: string, text: string): string {
  return isAbsolute(text) ? text : `${base}/${text}`;
}

function homeOf(name: string): string | undefined {
  const users = readSmall("/etc/passwd", 1_000_000)?.toString().split("\n");
  return users?.find((line) => line.startsWith(`${name}:`))?.split(":")[5];
}

const pathKeys: ReadonlySet<string> = new Set(["core.hookspath", "core.attributesfile", "init.templatedir"]);

/**
 * Returns what a setting can make git start: folders of hooks and templates, the program that a value begins with if it names one by a path,
 * and files that paths in the value lead to. A word without a folder counts only if the file can be run.
 */
export function filesNamedBy(setting: GitSetting, around: Around): readonly string[] {
  const { section, key, value = "" } = setting;
  if (pathKeys.has(`${section}.${key}`)) return [value].flatMap((path) => placeOf(path, around) ?? []);
  // Other aliases are a command of git, and its arguments.
  if (startsNothing(setting) || (section === "alias" && !/^\s*[!-]/.test(value))) return [];
  const text = value.replaceAll(/["'\\]/g, "");
  const words = text.split(/[\s`;&|()<>=!]+/).filter((word) => word !== "");
  const own = words.flatMap((word) => {
    const path = placeOf(word, around);
    if (path === undefined) return [];
    const isFile = statOf(path)?.isFile();
    const isStarted = word.includes("/") ? (isFile ?? word === words[0]) : isFile && (isExecutable(path) || isCodeName(word));
    return isStarted ? [path] : [];
  });
  return [...own, ...filesIn(text, around)];
}

/** Suffixes that an interpreter adds to the name of a module. */
const suffixes = ["", ".js", ".cjs", ".mjs", ".rb", ".py"];

/**
 * Returns the files that parts of a text lead to, wherever these begin and end: options can be glued to a path, and names can hold blanks.
 * A relative path begins with the name of a folder that is there.
 */
function filesIn(text: string, around: Around): readonly string[] {
  if (!text.includes("/")) return [];
  const folders = knownEntriesOf(around.base).flatMap((entry) => (entry.isFile() ? [] : [`${entry.name}/`]));
  const beginnings = ["/", "~", "./", "../", ...folders];
  const starts = text.split("").flatMap((_, at) => (beginnings.some((one) => text.startsWith(one, at)) ? [at] : []));
  const ends = [...text.matchAll(/[\s`;&|()<>=,:]|$/g)].map(({ index }) => index);
  const parts = starts.flatMap((start) => ends.flatMap((end) => (end > start ? [text.slice(start, end)] : [])));
  const paths = [...new Set(parts)].flatMap((part) => placeOf(part, around) ?? []);
  return paths.flatMap((path) => suffixes.map((suffix) => `${path}${suffix}`)).filter((path) => statOf(path)?.isFile());
}
