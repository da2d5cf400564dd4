import { getOwn } from "../../../util/get-own.ts";
import { nameSet } from "../../../util/name-set.ts";
import { followPath } from "../parse/folders.ts";
import { everyCommand, type Folder, type ShellPlan, type ShellWord, type SimpleCommand } from "../parse/plan.ts";
import { baseName } from "../parse/scripts.ts";
import { changing, harmlessSubcommands } from "../programs/git.ts";
import { findOption, readOptions } from "../programs/options.ts";
import { readStart } from "../programs/registry.ts";
import { cp } from "../programs/writers.ts";

/** Uses of git in a line of commands. */
export interface GitUse {
  /** Folders in which git could run. */
  readonly folders: readonly Folder[];
  /** It may bring into the index what is not there yet: add, check out, merge, … */
  readonly changes: boolean;
  /** Files of the work tree that it looks at or writes, whatever its words name. */
  readonly tree: TreeUse;
  /** Commands that speak to another repository. */
  readonly transports: readonly GitTransport[];
  /** A program of the line that brings whole folders along, so that git could find a repository that is not there yet. */
  readonly copier: string | undefined;
}

/** `none`: history and settings alone, and files that are named. `write` includes `read`. */
export type TreeUse = "none" | "read" | "write";

export interface GitTransport {
  readonly subcommand: string;
  /** The repositories that its words name. Empty where it takes what is configured. */
  readonly named: readonly string[];
}

/** All uses of git in a line. Undefined where there is none. */
export function findGitUse(plan: ShellPlan): GitUse | undefined {
  const commands = [...everyCommand(plan)];
  const starts = commands.flatMap((command) => startsOf(command));
  const uses = starts.flatMap(([program, ...args]) => (program !== undefined && isGit(program) ? [readUse(args)] : []));
  // A program that is not known may start it: its repository is looked at all the same.
  if (uses.length === 0 && !commands.some(({ words }) => words.some(isGit))) return undefined;
  const folders = commands.flatMap(foldersOf);
  return {
    folders: [...new Map(folders.map((folder) => [folder.join("/"), folder])).values()],
    changes: uses.some(({ changes }) => changes),
    tree: (["write", "read"] as const).find((tree) => uses.some((use) => use.tree === tree)) ?? "none",
    transports: uses.flatMap(({ transport }) => transport ?? []),
    copier: starts.find(copies)?.[0]?.value,
  };
}

function copies(words: readonly ShellWord[]): boolean {
  const name = baseName(words[0]?.value ?? "");
  if (name === "tar") return readStart({ words, hasInput: false }).effect === "write";
  if (name !== "cp") return false;
  const { options, unknown } = readOptions(words, cp.options);
  return unknown !== undefined || findOption({ options }, "-a", "-R") !== undefined;
}

const deepest = 6;

/** The program with its arguments, and what it starts itself: behind `timeout` and the like. */
function startsOf({ words, hasInput }: Pick<SimpleCommand, "words" | "hasInput">, depth = 0): readonly (readonly ShellWord[])[] {
  if (words.length === 0 || depth > deepest) return [];
  const { inner = [] } = readStart({ words, hasInput });
  return [words, ...inner.flatMap((one) => startsOf({ words: one.words, hasInput }, depth + 1))];
}

function isGit({ value }: ShellWord): boolean {
  return /^git(?:\.exe)?$/i.test(baseName(value));
}

/** Folders in which git could run, and where each `-C` leads from the one before it. */
function foldersOf({ words, folders = [] }: SimpleCommand): readonly Folder[] {
  if (!words.some(isGit)) return [];
  const all = [...folders];
  let current = folders;
  for (const [index, { value }] of words.entries()) {
    const target = value === "-C" ? words[index + 1]?.value : undefined;
    if (target === undefined) continue;
    current = current.map((folder) => followPath(folder, target)).filter((folder) => folder !== undefined);
    all.push(...current);
  }
  return all;
}

interface OneUse extends Pick<GitUse, "changes" | "tree"> {
  readonly transport: GitTransport | undefined;
}

function readUse(words: readonly ShellWord[]): OneUse {
  const values = words.map(({ value }) => value);
  const at = values.findIndex((value, index) => !value.startsWith("-") && values[index - 1] !== "-C");
  const subcommand = values[at] ?? "";
  // It starts a git in each submodule of the history, which no index has to name.
  const entersAll = values.includes("--submodule=diff");
  const looks = at === -1 || keepingLinks.has(subcommand) || (harmlessSubcommands.has(subcommand) && !changing.has(subcommand));
  const named = getOwn(transports, subcommand)?.(values.slice(at + 1));
  const tree = at === -1 ? "none" : treeUseOf(subcommand, values[at + 1]);
  return { changes: !looks || entersAll, tree, transport: named && { subcommand, named } };
}

function treeUseOf(subcommand: string, action: string | undefined): TreeUse {
  if (ofHistory.has(subcommand) || (subcommand === "stash" && (action === "list" || action === "show"))) return "none";
  const isReading =
    (harmlessSubcommands.has(subcommand) && !changing.has(subcommand)) || /^(?:add|stage|commit)$/.test(subcommand);
  return isReading ? "read" : "write";
}

/** Subcommands that look at no file of the work tree but those that are named. */
const ofHistory = nameSet(
  `log show whatchanged diff-tree rev-list reflog shortlog blame annotate rev-parse ls-tree branch tag remote cat-file merge-base name-rev
  for-each-ref show-ref show-branch symbolic-ref count-objects verify-pack config version fetch push ls-remote fetch-pack send-pack
  archive notes gc fsck prune help var`,
);

/** Subcommands that change a repository, but bring no folder into its index that is not there already. */
const keepingLinks = nameSet(
  "commit push fetch tag branch notes ls-remote fetch-pack send-pack request-pull archive gc fsck prune format-patch bundle clean rm",
);

/** Options of these whose value is the next word. All others are taken to have none, so that what follows counts as a repository. */
const valued = nameSet(
  `-o --push-option --server-option --depth --deepen --shallow-since --shallow-exclude --filter --refmap --negotiation-tip -j --jobs -s
  --strategy -X --strategy-option --sort`,
);

function operandsOf(args: readonly string[]): readonly string[] {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return args.filter((arg, index) => index > end || (index < end && !arg.startsWith("-") && !valued.has(args[index - 1] ?? "")));
}

/** Long options with a value, also where they are abbreviated; those that are a flag as well. */
const unclear = [...valued, "--submodule-prefix", "--recurse-submodules-default", "--receive-pack", "--upload-pack", "--exec"];

/** Words that can be the repository: the first operand, or the next one where the first could be the value of an option. */
function repositoryOf(args: readonly string[]): readonly string[] {
  const operands = operandsOf(args);
  const before = args[args.indexOf(operands[0] ?? "") - 1] ?? "";
  const isValue =
    before !== "--" && !before.includes("=") && unclear.some((option) => before.length > 3 && option.startsWith(before));
  return operands.slice(0, isValue ? 2 : 1);
}

/** Values of an option, behind `=` or in the next word, abbreviated or not. */
function valuesOf(args: readonly string[], option: string): readonly string[] {
  return args.flatMap((arg, index) => {
    const [name = "", ...rest] = arg.split("=");
    if (name.length < 4 || !option.startsWith(name)) return [];
    return rest.length > 0 ? [rest.join("=")] : args.slice(index + 1, index + 2);
  });
}

/** The repositories that the arguments of a subcommand name. Undefined where it speaks to none. */
const transports: Readonly<Record<string, (args: readonly string[]) => readonly string[] | undefined>> = {
  // `git fetch --multiple` takes several.
  fetch: (args) => (args.some((arg) => arg.startsWith("--mu")) ? operandsOf(args) : repositoryOf(args)),
  pull: repositoryOf,
  "ls-remote": repositoryOf,
  "fetch-pack": repositoryOf,
  "send-pack": repositoryOf,
  "request-pull": (args) => operandsOf(args).slice(1, 2),
  push: (args) => [...valuesOf(args, "--repo"), ...repositoryOf(args)],
  archive: (args) => {
    const named = valuesOf(args, "--remote");
    return named.length === 0 ? undefined : named;
  },
};
