import type { Dirent } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { nameSet } from "../../../util/text/name-set.ts";
import { isWithin } from "../../../util/within.ts";
import { entriesOf, realPathOf, statOf, versionOf } from "../../command/look.ts";
import type { GitLeftOut } from "../../commands.ts";
import { foldName, isReadProtected } from "../../scopes/protected-names.ts";
import type { Mount } from "../mount.ts";
import { type GitSetting, printGitConfiguration } from "./git-configuration.ts";
import { startsNothing } from "./git-harmless.ts";
import { hashBytesOf, readIndexPaths } from "./git-index.ts";
import { gitPartOf } from "./git-parts.ts";
import { type GitFolder, readSmall } from "./git-repositories.ts";
import { readSettings } from "./git-settings.ts";
import { maskCredentials } from "./mask-credentials.ts";
import { toMaskedText } from "./masked-text.ts";

/** What a command sees of git's own files where that differs from the disk. */
export interface GitView extends GitLeftOut {
  readonly mounts: readonly Mount[];
}

export interface GitViewOptions {
  readonly folders: readonly GitFolder[];
  /** Folded names that are opened to the command. */
  readonly opened: ReadonlySet<string>;
  /** The command may read what the repositories' files held. */
  readonly isHistoryOpen: boolean;
  /** The roots of scopes, as host paths. */
  readonly roots: readonly { readonly path: string; readonly isShown: boolean }[];
}

const maxIndexBytes = 64_000_000;
const maxAlternatesBytes = 100_000;
const mostBorrowed = 100;

/**
 * Describes git's files for a command: configurations without credentials; where `.git` is opened, also without what starts programs,
 * and no hooks; and no objects, and a fixed index, where these hold a file that asks before it is read.
 */
export function findGitView(options: GitViewOptions): GitView {
  const { opened, isHistoryOpen } = options;
  const folders = options.folders.filter(({ path }) => isSeen(path, options));
  const leftOut: string[] = [];
  const isFiltered = !opened.has(".git/config");
  const configurations = isFiltered ? folders.flatMap((one) => configurationsOf(one, options, leftOut)) : [];
  const others = isFiltered ? folders.flatMap((one) => othersIn(one, options)) : [];
  const included = isFiltered ? [...new Set(folders.flatMap((one) => includedIn(one, options)))] : [];
  const hooks = opened.has(".git") && !opened.has(".git/hooks") ? folders.flatMap(hooksOf) : [];
  const closed = isHistoryOpen ? [] : folders.filter((folder) => holdsHidden(folder, options));
  const objects = closed.flatMap(({ common }) =>
    [...storesIn(common), ...objectsOf(common).filter((path) => isSeen(path, options))].flatMap(toHidden),
  );
  return {
    mounts: [
      ...others,
      ...included.flatMap((file) => toMasked(file, readSettings(file))),
      ...configurations,
      ...hooks,
      ...objects,
      // Without its index, or with another one, the next command would see the objects.
      ...closed.flatMap(({ path }) => toReadOnly(join(path, "index"))),
    ],
    leftOut,
    withoutObjects: closed.map(({ path }) => nameOf(path, options)),
  };
}

/** The deepest root decides. */
function rootOf(path: string, { roots }: GitViewOptions) {
  return roots.filter((root) => isWithin(path, root.path)).sort((a, b) => b.path.length - a.path.length)[0];
}

function isSeen(path: string, options: GitViewOptions): boolean {
  return rootOf(path, options)?.isShown === true;
}

function toHidden(path: string): readonly Mount[] {
  return statOf(path)?.isDirectory() === true ? [{ kind: "hidden-folder", path: realPathOf(path) ?? path }] : [];
}

function toReadOnly(file: string): readonly Mount[] {
  const path = realPathOf(file);
  return path === undefined ? [] : [{ kind: "read-only", path, source: path }];
}

/** Folders that hold texts of files beside the objects: those of extensions, and of recorded conflicts. */
function storesIn(common: string): readonly string[] {
  return ["lfs", "annex", "rr-cache"].map((name) => join(common, name));
}

/** Folders of objects, and of those that they borrow (`gitrepository-layout(5)`, `objects/info/alternates`). */
function objectsOf(common: string): readonly string[] {
  const found = new Set([join(common, "objects")]);
  for (const folder of found) {
    const lines = readSmall(join(folder, "info/alternates"), maxAlternatesBytes)?.toString().split("\n") ?? [];
    for (const line of lines) if (line !== "" && found.size < mostBorrowed) found.add(resolve(folder, line));
  }
  return [...found];
}

function hooksOf({ path }: GitFolder): readonly Mount[] {
  return toHidden(join(path, "hooks"));
}

function configurationsOf({ path, common }: GitFolder, options: GitViewOptions, leftOut: string[]): readonly Mount[] {
  return ["config", "config.worktree"].flatMap((name): readonly Mount[] => {
    const file = realPathOf(join(path, name));
    if (file === undefined || !isSeen(file, options) || statOf(file)?.isFile() !== true) return [];
    const settings = readSettings(file);
    if (settings === undefined) {
      leftOut.push(`${nameOf(common, options)}: all of \`${name}\`, which cannot be read`);
      return [{ kind: "content", path: file, content: "" }];
    }
    if (!options.opened.has(".git")) return toMasked(file, settings);
    const shown = withoutPrograms(settings, dirname(file), { options, leftOut }).map(maskCredentials);
    return [{ kind: "content", path: file, content: printGitConfiguration(shown) }];
  });
}

/** None where nothing is to be masked. */
function toMasked(file: string, settings: readonly GitSetting[] = []): readonly Mount[] {
  const masked = settings.map(maskCredentials);
  if (masked.every((one, index) => isSame(one, settings[index]))) return [];
  return [{ kind: "content", path: file, content: printGitConfiguration(masked) }];
}

/** The names that are read as a configuration, and those that hold no text. */
const ownFiles = nameSet("config config.worktree index packed-refs shallow");
/** Other git directories, and folders that hold what was committed, or names of commits. */
const unread = nameSet("modules worktrees objects refs logs rr-cache");

/** The other texts that can hold a credential; where `.git` is opened, without those that git replaces: nothing can be mounted over them. */
function othersIn({ path }: GitFolder, options: GitViewOptions): readonly Mount[] {
  const isReplaced = (entry: Dirent) =>
    gitPartOf([foldName(entry.name)], entry.isDirectory() ? "directory" : "file") !== ".git/config";
  const files = entriesOf(path).flatMap((entry) =>
    ownFiles.has(entry.name) || (options.opened.has(".git") && isReplaced(entry)) ? [] : textsOf(path, entry),
  );
  return files.flatMap((file) => (isSeen(file, options) ? toMaskedText(file) : []));
}

function textsOf(folder: string, entry: Dirent): readonly string[] {
  const path = join(folder, entry.name);
  // Nothing can be mounted over a link.
  if (entry.isSymbolicLink()) return [realPathOf(path) ?? path];
  if (!entry.isDirectory()) return [path];
  return unread.has(entry.name) ? [] : entriesOf(path).flatMap((inner) => textsOf(path, inner));
}

/** The files that the configuration of a git directory includes, as far as the command sees them. */
function includedIn({ path }: GitFolder, options: GitViewOptions): readonly string[] {
  const found = new Set<string>();
  const add = (file: string) => {
    for (const { section, key, value = "" } of readSettings(file) ?? []) {
      const inner = section.startsWith("include") && key === "path" ? placeOfIncluded(value, dirname(file), options) : undefined;
      if (inner === undefined || found.has(inner)) continue;
      found.add(inner);
      add(inner);
    }
  };
  for (const name of ["config", "config.worktree"]) add(realPathOf(join(path, name)) ?? "");
  return [...found];
}

function isSame(one: GitSetting, other: GitSetting | undefined): boolean {
  return one.value === other?.value && one.subsection === other?.subsection;
}

/** The repository's folder as the scope's user knows it. */
function nameOf(path: string, options: GitViewOptions): string {
  return (relative(rootOf(path, options)?.path ?? dirname(path), path) || basename(path)).toWellFormed();
}

interface Filtering {
  readonly options: GitViewOptions;
  readonly leftOut: string[];
  readonly depth?: number;
}

/**
 * Leaves out all that could start a program. A filter is replaced by one that fails: without it git would stage what it hides.
 * Included files take the place of the key that names them.
 */
function withoutPrograms(
  settings: readonly GitSetting[],
  folder: string,
  { options, leftOut, depth = 0 }: Filtering,
): readonly GitSetting[] {
  const drop = (setting: GitSetting) => {
    const { section, subsection, key } = maskCredentials(setting);
    const name = [section, ...(subsection === undefined ? [] : [subsection]), key].join(".");
    if (!leftOut.includes(name)) leftOut.push(name);
  };
  return settings.flatMap((setting): readonly GitSetting[] => {
    const { section, subsection, key } = setting;
    if (section === "core" && key === "hookspath" && options.opened.has(".git/hooks")) return [setting];
    if (startsNothing(setting)) return [setting];
    if (section === "include" && key === "path" && depth < 10) {
      const included = readIncluded(setting.value ?? "", folder, options);
      if (included !== undefined) {
        return withoutPrograms(included.settings, included.folder, { options, leftOut, depth: depth + 1 });
      }
    }
    drop(setting);
    return section === "filter" ? failingFilter(subsection) : [];
  });
}

function failingFilter(subsection: string | undefined): readonly GitSetting[] {
  return Object.entries({ clean: "false", smudge: "false", required: "true" }).map(([key, value]) => ({
    section: "filter",
    subsection,
    key,
    value,
  }));
}

/** Undefined if the command does not see the file: git runs with the user's rights here, and would read any. */
function readIncluded(value: string, folder: string, options: GitViewOptions) {
  const file = placeOfIncluded(value, folder, options);
  const settings = file === undefined ? undefined : readSettings(file);
  return file === undefined || settings === undefined ? undefined : { settings, folder: dirname(file) };
}

function placeOfIncluded(value: string, folder: string, options: GitViewOptions): string | undefined {
  if (value === "" || value.startsWith("~")) return undefined;
  const file = realPathOf(join(value.startsWith("/") ? "/" : folder, value));
  return file === undefined || !isSeen(file, options) || file.split(sep).some(isReadProtectedFile) ? undefined : file;
}

function isReadProtectedFile(name: string): boolean {
  return name !== ".git" && isReadProtected(name);
}

interface KnownIndex {
  readonly version: string;
  /** Undefined if not all paths are known. */
  readonly names: readonly string[] | undefined;
}

/** Indexes that were read, by their paths; for names that hide, and for folders that a scope hides, all paths are needed. */
const indexes = new Map<string, KnownIndex>();
const mostIndexes = 20;

/** Returns whether objects hold what asks before it is read, as far as the index says. One that cannot be read could name anything. */
function holdsHidden({ path, top, common }: GitFolder, { roots }: GitViewOptions): boolean {
  const file = join(path, "index");
  const stats = statOf(file);
  if (stats === undefined) return false;
  const version = versionOf(stats);
  let known = indexes.get(file);
  if (known?.version !== version) {
    const index = readSmall(file, maxIndexBytes);
    known = { version, names: index && readIndexPaths(index, hashBytesOf(common)) };
    if (indexes.size >= mostIndexes) indexes.clear();
    indexes.set(file, known);
  }
  const hidden = roots.filter((root) => !root.isShown && top !== undefined && isWithin(root.path, top));
  const folders = hidden.map((root) => relative(top ?? "", root.path));
  return (
    known.names?.some((name) => asksToBeRead(name) || folders.some((folder) => isWithin(`/${name}`, `/${folder}`))) !== false
  );
}

/** `.env.example` and its like are made to be published. */
const published = /^\.env\.(?:example|sample|template|dist|defaults)$/i;

function asksToBeRead(path: string): boolean {
  return path.split("/").some((name) => isReadProtected(name) && !published.test(name));
}
