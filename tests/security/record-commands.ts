import type { Command } from "commander";
import { createProgram, withDescendants } from "../../src/cli/grammar/program.ts";

/** A command line that reads a record. */
export interface RecordLine {
  readonly words: readonly string[];
  /** True: the user approves what the run does, or has it taken back, so that files of its scopes change. */
  readonly changesScopes: boolean;
}

/** Values of arguments by their names, and of options that a command cannot do without. */
const values: Readonly<Record<string, readonly string[]>> = {
  ...{ prompt: ["go on"], question: ["1"], worker: ["main"], tool: ["write_file"] },
  ...{ keep: ["0"], with: ["model:scripted:model.yaml"], as: ["kept"] },
};

/** Flags that vouch for the code of the program, or that need somebody at a terminal. */
const left = new Set(["trust", "tui", "chat", "open", "plain", "help", "otel"]);

/**
 * Every command that reads records, as it is and with each of its flags, of the table by which the command line is parsed. `target`: the
 * program; without one, it is that of the working directory.
 */
export function recordLines(runId: string, target: readonly string[] = ["."]): readonly RecordLine[] {
  const lines = allCommands().flatMap((command) => (readsRecords(command) ? linesOf(command, { runId, target }) : []));
  const more = ["--continue", "--hold"].map((_, at, flags) => ["run", ".", "more", ...flags.slice(0, at + 1)]);
  // The files of a run are delivered in a folder.
  const delivered = ["resume", "fork"].map((name) => [name, runId, "--approve-all", "--output", "../o/"]);
  const all = [...lines, ...[...more, ...delivered].map(toLine)];
  return [...new Map(all.map((line) => [line.words.join(" "), line])).values()];
}

/** Every command that reads records, without an id and without a program: with `last` in the place of the id, and with nothing there. */
export function linesWithoutId(): readonly (readonly string[])[] {
  const lines = recordLines("last", []).map(({ words }) => words);
  const all = [...lines, ...lines.map((words) => words.filter((word) => word !== "last"))];
  return [...new Map(all.map((words) => [words.join(" "), words])).values()];
}

/** Commands of the table that neither read records nor begin runs in a store: `config`, `keys set`. */
export function commandsWithoutRecords(): readonly string[] {
  return allCommands().flatMap((command) => (hasStore(command) ? [] : [namesOf(command).join(" ")]));
}

function allCommands(): readonly Command[] {
  const program = createProgram({ exitCode: 0, afterDashes: undefined });
  return withDescendants(program).filter((command) => command.commands.length === 0);
}

function namesOf(command: Command): readonly string[] {
  return [command.parent?.name() ?? "llm-do", command.name()].filter((name) => name !== "llm-do");
}

/** Commands that have `--store` to begin runs, that take a file, or that need a database. */
const others = new Set("run chat map import move submit executor cancel".split(" "));

function hasStore(command: Command): boolean {
  return command.options.some(({ long }) => long === "--store");
}

function readsRecords(command: Command): boolean {
  return hasStore(command) && !others.has(command.name());
}

interface Named {
  readonly runId: string;
  readonly target: readonly string[];
}

function linesOf(command: Command, { runId, target }: Named): readonly RecordLine[] {
  const names = namesOf(command);
  const words: typeof values = { ...values, run: [runId], "run[/call]": [runId], first: [runId], second: [runId], target };
  const given = command.registeredArguments.flatMap(
    (argument) => words[argument.name()] ?? unknownWord(command, argument.name()),
  );
  const needed = command.options.flatMap((option) => {
    const value = values[option.attributeName()];
    return value && (option.mandatory || ["with", "as"].includes(option.attributeName())) ? [option.long ?? "", ...value] : [];
  });
  const closed = command.options.some(({ long }) => long === "--no-open") ? ["--no-open"] : [];
  const yes = command.options.some(({ long }) => long === "--yes") ? ["--yes"] : [];
  const base = [...names, ...given, ...needed, ...closed];
  const flags = command.options.filter((option) => option.isBoolean() && !left.has(option.attributeName()));
  // `approve ID . 1 --all` says two things.
  const more = flags.map(({ long = "" }) => [...(long === "--all" ? base.filter((word) => word !== "1") : base), long]);
  return [base, ...more].map((words) => toLine(words.includes("--dry-run") ? words : [...new Set([...words, ...yes])]));
}

function toLine(words: readonly string[]): RecordLine {
  return { words, changesScopes: words.includes("--approve-all") || (words[0] === "undo" && !words.includes("--dry-run")) };
}

function unknownWord(command: Command, name: string): never {
  throw new Error(`the argument ${name} of ${command.name()} needs a value here`);
}
