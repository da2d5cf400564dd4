import type { Argument, Command, Option } from "commander";
import { type Candidate, type Suggestion, valuesOf } from "./values.ts";

/** Returns what can stand in the place of the last word. The words follow `llm-do`; the last one may be empty. */
export async function suggest(program: Command, words: readonly string[]): Promise<Suggestion> {
  const { command, args, pending, isAfterDashes } = readWords(program, words.slice(0, -1));
  const word = words.at(-1) ?? "";
  const found = await suggestFor({ program, command, args, pending, isAfterDashes, word });
  return { ...found, candidates: found.candidates.filter(({ value }) => value.startsWith(word)) };
}

interface Place {
  readonly command: Command;
  /** Arguments so far. */
  readonly args: readonly string[];
  /** The flag whose value comes next. */
  readonly pending: Option | undefined;
  readonly isAfterDashes: boolean;
}

/** Reads the words before the cursor as the parser would. Words without a command belong to `run`. */
function readWords(program: Command, words: readonly string[]): Place {
  let command = program;
  let pending: Option | undefined;
  const args: string[] = [];
  for (const word of words) {
    if (word === "--") return { command, args, pending: undefined, isAfterDashes: true };
    if (pending) pending = undefined;
    else if (word.startsWith("-") && word !== "-") pending = takesNext(findOption(command, program, word), word);
    else {
      const inner = args.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (inner) command = inner;
      else args.push(word);
    }
  }
  return { command, args, pending, isAfterDashes: false };
}

function findOption(command: Command, program: Command, word: string): Option | undefined {
  const [name] = word.split("=");
  return flagsOf(command, program).find(({ long, short }) => long === name || short === name);
}

function takesNext(option: Option | undefined, word: string): Option | undefined {
  return option?.required && !word.includes("=") ? option : undefined;
}

/** `llm-do TARGET` takes the flags of `run`. */
function flagsOf(command: Command, program: Command): readonly Option[] {
  const own = command.createHelp().visibleOptions(command);
  const run = command === program ? runOf(program) : undefined;
  return run ? [...own, ...run.options.filter(({ long }) => own.every((other) => other.long !== long))] : own;
}

function runOf(program: Command): Command | undefined {
  return program.commands.find((command) => command.name() === "run");
}

interface Question extends Place {
  readonly program: Command;
  readonly word: string;
}

async function suggestFor({ program, command, args, pending, isAfterDashes, word }: Question): Promise<Suggestion> {
  if (isAfterDashes) return nothing;
  if (pending) return valuesOf(pending, { word, args });
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
  if (flag !== undefined && value !== undefined) {
    const option = findOption(command, program, flag);
    if (!option) return nothing;
    const { candidates } = await valuesOf(option, { word: value, args });
    return { takesFiles: false, candidates: candidates.map((one) => ({ ...one, value: `${flag}=${one.value}` })) };
  }
  if (word.startsWith("-")) return { takesFiles: false, candidates: flagsOf(command, program).map(toCandidate) };
  const commands = args.length === 0 ? command.createHelp().visibleCommands(command).map(describeCommand) : [];
  const argument = argumentAt(command === program ? runOf(program) : command, args.length);
  const values = argument ? await valuesOf(argument, { word, args }) : nothing;
  return { ...values, candidates: [...commands, ...values.candidates] };
}

function argumentAt(command: Command | undefined, index: number): Argument | undefined {
  const all = command?.registeredArguments ?? [];
  const last = all.at(-1);
  return all[index] ?? (last?.variadic ? last : undefined);
}

function toCandidate({ long, short, description }: Option): Candidate {
  return { value: long ?? short ?? "", description };
}

function describeCommand(command: Command): Candidate {
  return { value: command.name(), description: command.description() };
}

const nothing: Suggestion = { takesFiles: false, candidates: [] };
