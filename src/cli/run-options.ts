import { type Command, InvalidArgumentError, Option } from "commander";

/** The flags of a run; `RunFlags` is what becomes of them. */
export function addRunOptions(run: Command): Command {
  return run
    .option("-a, --attachment <file>", "pass a file along (repeatable)", collect)
    .option("--entry <name>", "start at this worker, or at code: tools.ts:main")
    .option("--model <provider:name>", "the model of every worker that names none of its own")
    .option("--approve-all", "run everything that would ask")
    .option("--reject-all", "deny everything that would ask")
    .addOption(
      new Option("--on-denied <what>", "after a denial: `return` tells the model, `stop` ends the run")
        .choices(["return", "stop"])
        .default("return"),
    )
    .option("--trust", "let the program's own code run, this once")
    .option("--max-depth <number>", "the deepest worker call; the entry is 0 (default: 5)", parseCount)
    .option("--headless", "ask nothing, even at a terminal")
    .option("--json", "print one JSON object in place of the output")
    .option("--no-journal", "keep no record of the run")
    .option("-v, --verbose", "show calls, approvals and usage on stderr; -vv: text as it comes", increase, 0)
    .option("-q, --quiet", "say nothing but the result, and why it failed")
    .option("--debug", "as -v, and stack traces; also by LLM_DO_DEBUG=1");
}

function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

function increase(_: string, count: number): number {
  return count + 1;
}

function parseCount(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}
