import type { ShellWord } from "../parse/plan.ts";
import {
  changing,
  checkingOut,
  configuring,
  globalOptions,
  harmlessActions,
  harmlessSubcommands,
  keptNames,
  listing,
  makingRepositories,
  optionsOfChange,
  readingSubcommands,
  runningSubcommands,
} from "./git-options.ts";
import { type OptionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type Program, type ProgramReading } from "./program.ts";
import { leavesFolder } from "./readers.ts";

/** Looking at a repository is free, as far as the options are known. Everything else must be spelt out by a rule. */
export const git: Program = { options: globalOptions, read: ({ words }) => readGit(words) };

function readGit(words: readonly ShellWord[]): ProgramReading {
  const at = subcommandIndex(words);
  if (typeof at === "string")
    return { hatches: [hatch(`\`${at}\` before a subcommand can make git run programs`)], effect: "write" };
  const subcommand = words[at]?.value;
  if (subcommand === undefined) return { hatches: [], effect: "read" };
  const table = harmlessSubcommands.get(subcommand);
  if (table !== undefined) return readHarmless(words, at, table);
  const spelt = runningSubcommands.has(subcommand) ? undefined : subcommand;
  const hatches = [
    hatch(`\`git ${subcommand}\` changes things or runs programs`, spelt),
    ...configures(words.slice(at)),
    ...dangers(words.slice(at)),
  ];
  const effect = readingSubcommands.has(subcommand) ? "read" : "write";
  return { hatches, effect, texts: messages(words, at), ...opensFor(subcommand) };
}

/** Where the subcommand is, or the option before it that is not known to be harmless. */
function subcommandIndex(words: readonly ShellWord[]): number | string {
  for (let index = 1; index < words.length; index++) {
    const { value } = words[index] as ShellWord;
    if (!value.startsWith("-")) return index;
    if (value === "-C" && leavesFolder(words[index + 1]?.value ?? "/")) return "-C";
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
  const names = options.map(({ name }) => name);
  const hatches = changesOf(
    subcommand,
    operands.map((index) => words[index]?.value ?? ""),
    names,
  );
  if (unknown !== undefined) {
    const spelt = dangers(words.slice(at)).length > 0 ? undefined : unknown;
    hatches.push(hatch(`\`git ${subcommand} ${unknown}\` is not known to be harmless`, spelt));
  }
  const isPattern = subcommand === "grep" && !names.includes("-e") && operands[0] !== undefined;
  const texts = new Set([...(isPattern ? [operands[0] ?? 0] : []), ...options.map(({ index }) => index)]);
  const changes = hatches.length > 0 && changing.has(subcommand);
  if (changes) hatches.push(...configures(words.slice(at)));
  return { hatches, effect: "read", texts, ...(changes ? opensFor(subcommand) : {}) };
}

/** What makes a subcommand that can only look one that does more. */
function changesOf(subcommand: string, operands: readonly string[], options: readonly string[]): Hatch[] {
  const hatches: Hatch[] = [];
  const [action] = operands;
  if (subcommand === "diff" && operands.some(leavesFolder)) {
    hatches.push(hatch("`git diff` of files outside the repository reads them"));
  }
  const isHarmless = action === undefined ? subcommand !== "stash" : harmlessActions.get(subcommand)?.has(action) !== false;
  if (!isHarmless) {
    const shown = action === undefined ? subcommand : `${subcommand} ${action}`;
    hatches.push(hatch(`\`git ${shown}\` changes things`, action ?? subcommand));
  }
  if ((subcommand === "branch" || subcommand === "tag") && operands.length > 0 && !options.some((one) => listing.has(one))) {
    hatches.push(hatch(`\`git ${subcommand}\` with a name makes a ${subcommand}`, subcommand));
  }
  if (subcommand === "symbolic-ref" && operands.length > 1) {
    hatches.push(hatch("`git symbolic-ref` with two names moves a reference", subcommand));
  }
  if (subcommand === "config" && !options.some((one) => one.startsWith("--get") || one === "--list" || one === "-l")) {
    hatches.push(hatch("`git config` without --get or --list can set a value"));
  }
  return hatches;
}

/** git cannot change anything without its own folder; its configuration and its hooks only a person opens. */
function opensFor(subcommand: string): Pick<ProgramReading, "opens" | "opensIfAsked"> {
  const opens = checkingOut.has(subcommand) ? [".git", ...keptNames] : [".git"];
  const hooks = makingRepositories.has(subcommand) ? [".git/hooks"] : [];
  return configuring.has(subcommand) ? { opens, opensIfAsked: [".git/config", ...hooks] } : { opens };
}

/** What writes the repository's configuration: no rule spells that out, because the configuration makes git run programs. */
function configures(words: readonly ShellWord[]): Hatch[] {
  const [subcommand = "", ...args] = words.map(({ value }) => value);
  const options = configuring.get(subcommand);
  if (options === undefined) return [];
  const isMeant = options.size === 0 || args.some((arg) => [...options].some((option) => isOption(arg, option)));
  return isMeant ? [hatch(`\`git ${subcommand}\` writes the repository's configuration`)] : [];
}

/** Abbreviated, with a value, or among other letters. */
function isOption(arg: string, option: string): boolean {
  const name = arg.split("=", 1)[0] ?? arg;
  if (option.startsWith("--")) return name.length > 2 && option.startsWith(name);
  return /^-[A-Za-z]/.test(arg) && arg.includes(option.charAt(1));
}

function dangers(words: readonly ShellWord[]): Hatch[] {
  const { danger } = readOptions(words, optionsOfChange(words[0]?.value ?? ""));
  return danger === undefined ? [] : [hatch(`\`${danger}\` makes git run programs or write files`)];
}

/** `-m TEXT` is no path. */
function messages(words: readonly ShellWord[], from: number): ReadonlySet<number> {
  const { options } = readOptions(words, optionsOfChange(words[from]?.value ?? ""), from + 1);
  return new Set(options.filter(({ name }) => name === "-m").map(({ index }) => index));
}
