import type { Command } from "commander";
import { createProgram, withDescendants } from "../../src/cli/program.ts";

/** A command line that reads a record. */
export interface RecordLine {
  readonly words: readonly string[];
  /** True: the user approves what the run does, or has it taken back, so that files of its scopes change. */
  readonly changesScopes: boolean;
}

/** Values of arguments by their names, and of options that a command cannot do without. */
const values: Readonly<Record<string, readonly string[]>> = {
  ...{ target: ["."], prompt: ["go on"], question: ["1"], worker: ["main"] },
  ...{ keep: ["0"], with: ["model:scripted:model.yaml"] },
};

/** Flags that vouch for the code of the program, or that need somebody at a terminal. */
const left = new Set(["trust", "tui", "chat", "open", "plain", "help", "otel"]);

/** Every command that reads records, as it is and with each of its flags, of the table by which the command line is parsed. */
export function recordLines(runId: string): readonly RecordLine[] {
  const program = createProgram({ exitCode: 0, afterDashes: undefined });
  const lines = withDescendants(program).flatMap((command) => (readsRecords(command) ? linesOf(command, runId) : []));
  const all = [...lines, toLine(["run", ".", "more", "--continue"]), toLine(["run", ".", "more", "--continue", "--hold"])];
  return [...new Map(all.map((line) => [line.words.join(" "), line])).values()];
}

/** Commands that have `--store` to begin runs, that take a file, or that need a database. */
const others = new Set("run chat map import move submit executor cancel".split(" "));

function readsRecords(command: Command): boolean {
  const hasStore = command.options.some(({ long }) => long === "--store");
  return hasStore && !others.has(command.name());
}

function linesOf(command: Command, runId: string): readonly RecordLine[] {
  const names = [command.parent?.name() ?? "llm-do", command.name()].filter((name) => name !== "llm-do");
  const given = command.registeredArguments.flatMap((argument) =>
    argument.name() === "run" ? [runId] : (values[argument.name()] ?? unknownWord(command, argument.name())),
  );
  const needed = command.options.flatMap((option) => {
    const value = values[option.attributeName()];
    return value && (option.mandatory || option.attributeName() === "with") ? [option.long ?? "", ...value] : [];
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
