import type { ShellWord } from "../parse/plan.ts";
import {
  checkingOut,
  dangerousLong,
  globalOptions,
  harmlessActions,
  harmlessSubcommands,
  keptNames,
  readingSubcommands,
  runningSubcommands,
} from "./git-options.ts";
import { findDanger, type OptionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type ProgramReading, type ReadProgram } from "./program.ts";

/** Looking at a repository is free, as far as the options are known; everything else must be spelt out by a rule. */
export const readGit: ReadProgram = ({ words }) => {
  const at = subcommandIndex(words);
  if (typeof at === "string")
    return { hatches: [hatch(`\`${at}\` before a subcommand can make git run programs`)], effect: "write" };
  const subcommand = words[at]?.value;
  if (subcommand === undefined) return { hatches: [], effect: "read" };
  const table = harmlessSubcommands[subcommand];
  if (table !== undefined) return readHarmless(words, at, table);
  const spelt = runningSubcommands.has(subcommand) ? undefined : subcommand;
  const hatches = [hatch(`\`git ${subcommand}\` changes things or runs programs`, spelt), ...dangers(words.slice(at))];
  const effect = readingSubcommands.has(subcommand) ? "read" : "write";
  return { hatches, effect, texts: messages(words, at), opens: opensFor(subcommand) };
};

/** Where the subcommand is, or the option before it that is not known to be harmless. */
function subcommandIndex(words: readonly ShellWord[]): number | string {
  for (let index = 1; index < words.length; index++) {
    const { value } = words[index] as ShellWord;
    if (!value.startsWith("-")) return index;
    if (value === "-C" && leavesScope(words[index + 1]?.value ?? "/")) return "-C";
    if (value === "-C") index++;
    else if (!readsAlone(words[index] as ShellWord)) return value;
  }
  return words.length;
}

function readsAlone(word: ShellWord): boolean {
  return readOptions([word, word], globalOptions).unknown === undefined && !word.value.startsWith("-C");
}

function readHarmless(words: readonly ShellWord[], at: number, table: OptionTable): ProgramReading {
  const subcommand = words[at]?.value ?? "";
  const { unknown, operands, options } = readOptions(words, table, at + 1);
  const hatches: Hatch[] = [];
  if (unknown !== undefined) {
    const spelt = dangers(words.slice(at)).length > 0 ? undefined : unknown;
    hatches.push(hatch(`\`git ${subcommand} ${unknown}\` is not known to be harmless`, spelt));
  }
  if (subcommand === "diff" && operands.some((index) => leavesScope(words[index]?.value ?? ""))) {
    hatches.push(hatch("`git diff` of files outside the repository reads them"));
  }
  const action = words[operands[0] ?? -1]?.value;
  const actions = harmlessActions[subcommand];
  if (actions !== undefined && !actions.includes(action ?? "") && !(action === undefined && subcommand !== "stash")) {
    if (subcommand !== "reflog" || ["expire", "delete", "drop"].includes(action ?? "")) {
      hatches.push(
        hatch(`\`git ${subcommand}${action === undefined ? "" : ` ${action}`}\` changes things`, action ?? subcommand),
      );
    }
  }
  hatches.push(...namedThings({ subcommand, operands: operands.length, options: options.map(({ name }) => name) }));
  const isPattern = subcommand === "grep" && !options.some(({ name }) => name === "-e");
  const texts = new Set(isPattern && operands[0] !== undefined ? [operands[0]] : []);
  for (const option of options) if (!isPathOption(option.name)) texts.add(option.index);
  return { hatches, effect: "read", texts, ...(hatches.length > 0 ? { opens: opensFor(subcommand) } : {}) };
}

/** git cannot change anything without its own folder. */
function opensFor(subcommand: string): readonly string[] {
  return checkingOut.has(subcommand) ? [".git", ...keptNames] : [".git"];
}

interface Naming {
  readonly subcommand: string;
  readonly operands: number;
  readonly options: readonly string[];
}

/** `git branch NAME` makes one, unless an option makes it a list. */
function namedThings({ subcommand, operands, options }: Naming): Hatch[] {
  const lists = ["--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];
  const isList = options.some((option) => lists.includes(option));
  if ((subcommand === "branch" || subcommand === "tag") && operands > 0 && !isList) {
    return [hatch(`\`git ${subcommand}\` with a name makes a ${subcommand}`, subcommand)];
  }
  if (subcommand === "symbolic-ref" && operands > 1)
    return [hatch("`git symbolic-ref` with two names moves a reference", subcommand)];
  const gets = options.some((option) => option.startsWith("--get") || option === "--list" || option === "-l");
  if (subcommand === "config" && !gets) return [hatch("`git config` without --get or --list can set a value")];
  return [];
}

function leavesScope(path: string): boolean {
  return path.startsWith("/") || path.startsWith("~") || path.split("/").includes("..");
}

function isPathOption(name: string): boolean {
  return name === "--relative";
}

function dangers(words: readonly ShellWord[]): Hatch[] {
  const letters = words[0]?.value === "rebase" ? "ix" : "";
  const danger = findDanger(words, { letters, long: dangerousLong });
  return danger === undefined ? [] : [hatch(`\`${danger}\` makes git run programs or write files`)];
}

/** `-m TEXT` is no path. */
function messages(words: readonly ShellWord[], from: number): ReadonlySet<number> {
  const texts = new Set<number>();
  if (!["commit", "tag", "stash", "merge", "notes"].includes(words[from]?.value ?? "")) return texts;
  for (let index = from + 1; index < words.length; index++) {
    const value = words[index]?.value ?? "";
    const before = words[index - 1]?.value ?? "";
    if (before === "--message" || /^-[a-z]*m$/.test(before) || value.startsWith("--message=")) texts.add(index);
  }
  return texts;
}
