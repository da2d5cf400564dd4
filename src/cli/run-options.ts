import { type Command, InvalidArgumentError, Option } from "commander";
import type { LimitName, Limits } from "../protocol/usage.ts";

/** The flags of a run; `RunFlags` is what becomes of them. */
export function addRunOptions(run: Command): Command {
  return run
    .option("-a, --attachment <file>", "pass a file along (repeatable)", collect)
    .option("--entry <name>", "start at this worker, or at code: tools.ts:main")
    .option("--model <provider:name>", "the model of every worker that names none of its own")
    .option("--model-for <pattern=model>", "the model of the workers whose names match, over their own (repeatable)", collect)
    .option("--set <key=value>", "a frontmatter key of the entry, or of a worker: worker.key=value (repeatable)", collect)
    .option("--approve-all", "run everything that would ask")
    .option("--reject-all", "deny everything that would ask")
    .addOption(
      new Option("--on-denied <what>", "after a denial: `return` tells the model, `stop` ends the run")
        .choices(["return", "stop"])
        .default("return"),
    )
    .option("--trust", "let the program's own code run, this once")
    .option("--limit <name=number>", `a limit of the run (repeatable): ${limitNames.join(", ")}`, collectLimit)
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

const limitNames = ["depth", "turns", "tool_calls", "tokens", "seconds", "parallel"] satisfies LimitName[];

function collectLimit(value: string, previous: Limits = {}): Limits {
  const [, name = "", number = ""] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if ((limitNames as string[]).includes(name)) return { ...previous, [name]: Number(number) };
  throw new InvalidArgumentError(`It must be name=number, with one of ${limitNames.join(", ")}.`);
}

function increase(_: string, count: number): number {
  return count + 1;
}

function parseCount(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}
