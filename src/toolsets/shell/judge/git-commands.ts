import { enter } from "../parse/folders.ts";
import type { Folder, ShellPlan, ShellWord, SimpleCommand } from "../parse/plan.ts";
import { baseName } from "../parse/scripts.ts";
import { changing, harmlessSubcommands } from "../programs/git-options.ts";
import { findOption, readOptions } from "../programs/options.ts";
import { readStart } from "../programs/registry.ts";
import { cp } from "../programs/writers.ts";

/** How a line of commands could use git. */
export interface GitUse {
  /** Where git could run. */
  readonly folders: readonly Folder[];
  /** It may bring into the index what is not there yet: add, check out, merge, … */
  readonly changes: boolean;
  /** Commands that speak to another repository. */
  readonly transports: readonly GitTransport[];
  /** A program of the line that brings whole folders along, so that git could find a repository that is not there yet. */
  readonly copier: string | undefined;
}

export interface GitTransport {
  readonly subcommand: string;
  /** The repositories that its words name; empty where it takes what is configured. */
  readonly named: readonly string[];
}

/** All uses of git in a line; undefined where there is none. */
export function findGitUse(plan: ShellPlan): GitUse | undefined {
  const folders = new Map<string, Folder>();
  const uses: Pick<GitUse, "changes" | "transports">[] = [];
  gather(plan, { folders, uses });
  if (uses.length === 0) return undefined;
  return {
    folders: [...folders.values()],
    changes: uses.some(({ changes }) => changes),
    transports: uses.flatMap(({ transports }) => transports),
    copier: findCopier(plan),
  };
}

interface Gathered {
  readonly folders: Map<string, Folder>;
  readonly uses: Pick<GitUse, "changes" | "transports">[];
}

function findCopier(plan: ShellPlan): string | undefined {
  for (const command of plan.commands) {
    const inner = command.words.map(({ script }) => script && findCopier(script)).find((name) => name !== undefined);
    const copier = startsOf(command).find(copies)?.[0]?.value;
    if ((inner ?? copier) !== undefined) return inner ?? copier;
  }
  return undefined;
}

function copies(words: readonly ShellWord[]): boolean {
  const name = baseName(words[0]?.value ?? "");
  if (name === "tar") return readStart({ words, hasInput: false }).effect === "write";
  if (name !== "cp") return false;
  const { options, unknown } = readOptions(words, cp.options);
  return unknown !== undefined || findOption({ options }, "-a", "-R") !== undefined;
}

function gather(plan: ShellPlan, gathered: Gathered): void {
  for (const command of plan.commands) {
    for (const { script } of command.words) if (script !== undefined) gather(script, gathered);
    for (const words of startsOf(command)) if (words[0] && isGit(words[0])) gathered.uses.push(readUse(words.slice(1)));
    // Where a program that is not known may start it, its repository is looked at all the same.
    if (command.words.some(isGit)) gathered.uses.push({ changes: false, transports: [] });
    for (const folder of foldersOf(command)) gathered.folders.set(folder.join("/"), folder);
  }
}

/** The program with its arguments, and what it starts itself: behind `timeout` and the like. */
function startsOf({ words, hasInput }: Pick<SimpleCommand, "words" | "hasInput">, depth = 0): readonly (readonly ShellWord[])[] {
  const [program] = words;
  if (program === undefined || depth > deepest) return [];
  const { inner = [] } = readStart({ words, hasInput });
  return [words, ...inner.flatMap((one) => startsOf({ words: one.words, hasInput }, depth + 1))];
}

const deepest = 6;

function isGit({ value }: ShellWord): boolean {
  return /^git(?:\.exe)?$/i.test(baseName(value));
}

/** Where git could run, and where each `-C` leads from the one before it. */
function foldersOf({ words, folders = [] }: SimpleCommand): readonly Folder[] {
  if (!words.some(isGit)) return [];
  const all = [...folders];
  let current = folders;
  for (const [index, { value }] of words.entries()) {
    const target = value === "-C" ? words[index + 1]?.value : undefined;
    if (target === undefined) continue;
    current = current.map((folder) => enter(folder, target)).filter((folder) => folder !== undefined);
    all.push(...current);
  }
  return all;
}

function readUse(words: readonly ShellWord[]): Pick<GitUse, "changes" | "transports"> {
  const values = words.map(({ value }) => value);
  const at = values.findIndex((value, index) => !value.startsWith("-") && values[index - 1] !== "-C");
  const subcommand = values[at] ?? "";
  // It starts a git in each submodule of the history, which no index has to name.
  const entersAll = values.includes("--submodule=diff");
  const looks = at === -1 || keepingLinks.has(subcommand) || (harmlessSubcommands.has(subcommand) && !changing.has(subcommand));
  const read = transports.get(subcommand);
  return { changes: !looks || entersAll, transports: read === undefined ? [] : read(subcommand, values.slice(at + 1)) };
}

/** What changes a repository, but brings no folder into its index that is not there already. */
const keepingLinks = new Set(
  "commit push fetch tag branch notes ls-remote fetch-pack send-pack request-pull archive gc fsck prune format-patch bundle clean rm".split(
    " ",
  ),
);

type ReadTransport = (subcommand: string, args: readonly string[]) => readonly GitTransport[];

/** Options of these whose value is the next word; all others are taken to have none, so that what follows counts as a repository. */
const valued = new Set(
  "-o --push-option --server-option --depth --deepen --shallow-since --shallow-exclude --filter --refmap --negotiation-tip -j --jobs -s --strategy -X --strategy-option --sort".split(
    " ",
  ),
);

function operandsOf(args: readonly string[]): readonly string[] {
  const ends = args.indexOf("--");
  return args.filter((arg, index) => {
    if (index === ends) return false;
    if (ends !== -1 && index > ends) return true;
    return !arg.startsWith("-") && !valued.has(args[index - 1] ?? "");
  });
}

/** What can be the repository: the first operand, or the next one where the first could be the value of an option. */
function placesOf(args: readonly string[]): readonly string[] {
  const operands = operandsOf(args);
  const before = args[args.indexOf(operands[0] ?? "") - 1] ?? "";
  const isValue =
    before !== "--" && !before.includes("=") && unclear.some((option) => before.length > 3 && option.startsWith(before));
  return operands.slice(0, isValue ? 2 : 1);
}

/** Long options with a value, also where they are abbreviated; those that are a flag as well. */
const unclear = [...valued, "--submodule-prefix", "--recurse-submodules-default", "--receive-pack", "--upload-pack", "--exec"];

/** Values of an option, behind `=` or in the next word, abbreviated or not. */
function valuesOf(args: readonly string[], option: string): readonly string[] {
  return args.flatMap((arg, index) => {
    const [name = "", ...rest] = arg.split("=");
    if (name.length < 4 || !option.startsWith(name)) return [];
    return rest.length > 0 ? [rest.join("=")] : args.slice(index + 1, index + 2);
  });
}

const first: ReadTransport = (subcommand, args) => [{ subcommand, named: placesOf(args) }];

/** `git fetch --multiple` takes several. */
const several: ReadTransport = (subcommand, args) => [
  { subcommand, named: args.some((arg) => arg.startsWith("--mu")) ? operandsOf(args) : placesOf(args) },
];

const transports: ReadonlyMap<string, ReadTransport> = new Map<string, ReadTransport>([
  ["fetch", several],
  ...["pull", "ls-remote", "fetch-pack", "send-pack"].map((name): [string, ReadTransport] => [name, first]),
  ["request-pull", (subcommand, args) => [{ subcommand, named: operandsOf(args).slice(1, 2) }]],
  ["push", (subcommand, args) => [{ subcommand, named: [...valuesOf(args, "--repo"), ...placesOf(args)] }]],
  [
    "archive",
    (subcommand, args) => {
      const named = valuesOf(args, "--remote");
      return named.length === 0 ? [] : [{ subcommand, named }];
    },
  ],
]);
