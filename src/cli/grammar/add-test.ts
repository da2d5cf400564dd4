import type { Command } from "commander";
import { parseCount, parseDollars, parseTolerance } from "./run-options.ts";
import { act, type Exit } from "./setup-commands.ts";

/** `llm-do test [TARGET]`. */
export function addTest(program: Command, exit: Exit): void {
  program
    .command("test")
    .description(
      "run the tests beside the prompts (*.test.yaml), in scratch copies and without a model; 1 where one fails, 2 where one cannot run",
    )
    .argument("[target]", "a folder with all below it, a test file, or a .worker file that has one beside it", ".")
    .option("--filter <text>", "only cases whose file or name contains the text")
    .option("--live", "ask the models in place of scripts and recordings")
    .option("--record", "ask the models, and write the recordings of the cases that have one")
    .option("--runs <number>", "run each case so often, and report the share that passes", parseCount)
    .option("--budget <usd>", "the most dollars for all runs together", parseDollars)
    .option("-m, --model <provider:name>", "with --live and --record: the model of every worker that names none of its own")
    .option("--parallel <number>", "how many cases run at the same time (default: 4)", parseCount)
    .option("--trust", "let the programs' code and scripts in TypeScript run, this once")
    .option("--baseline <file>", "1, too, where a case passes less often than in this report, which --json printed before")
    .option(
      "--tolerance <share>",
      "with --baseline: 1, too, where a case takes more requests, tokens or dollars by more than this: 0.1",
      parseTolerance,
    )
    .option("--from <run[/call]>", "add a case made from a recorded run, or from one of its calls, and run nothing")
    .option("--name <text>", "with --from: the name of the case")
    .option("--keep", "keep the scratch copies, with the records of their runs beside them, and print their folders")
    .option("--json", "print one JSON object")
    .action(act(exit, async () => (await import("../commands/test.ts")).testCommand));
}
