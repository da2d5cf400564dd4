import { type Command, InvalidArgumentError, Option } from "commander";
import { collect } from "./repeated-options.ts";
import { parseCount, parseDollars, parseSince } from "./run-options.ts";
import { act, type Exit } from "./setup-commands.ts";

const target = ["[target]", "the program's folder, or one of its .worker files; default: the program of this folder"] as const;

/** Which cases are asked, and how: what is asked of candidates by `compare` is asked of a function by `stabilise`. */
function addCaseOptions(command: Command): Command {
  return command
    .option("--cases <file>", "a case file in place of the recorded calls")
    .option("--last <number>", "the most recorded calls, newest first (default: 200)", parseCount)
    .option("--limit <number>", "the most cases", parseCount)
    .option("--usd <dollars>", "the most dollars of each candidate", parseDollars)
    .option("-m, --model <model>", "the model of workers that name none")
    .option("--trust", "run the code of the program without a question");
}

/** `llm-do calls STEP [TARGET]`. */
export function addCalls(program: Command, exit: Exit): void {
  program
    .command("calls")
    .description("show what a worker was asked in recorded runs, and what it answered; or write that into a case file")
    .argument("<worker>", "its name")
    .argument(...target)
    .option("--last <number>", "the most calls, newest first (default: 50; with --json or --out: all)", parseCount)
    .option("--since <time>", "only calls since then: 2026-01-31, or 30m, 12h, 7d, 2w ago", parseSince)
    .option("--run <id>", "only calls of this run")
    .addOption(new Option("--outcome <outcome>", "only calls that ended so").choices(["done", "failed", "cut"]))
    .addOption(new Option("--by <answerer>", "only calls that code, or the prompt, answered").choices(["code", "prompt"]))
    .option("--model <text>", "only calls that had a model with this in its name")
    .option("--all", "also calls that were denied, edited, cut, repeated, that failed, or that hold a secret")
    .option("--out <file>", "write a case file (.jsonl), and the files of the calls beside it")
    .option("--review", "go through the cases of --out at the terminal: right, wrong, or the right output instead")
    .option("--json", "print one call a line")
    .action(act(exit, async () => (await import("../commands/boundary/calls.ts")).callsCommand));
}

/** `llm-do compare STEP [TARGET]`. */
export function addCompare(program: Command, exit: Exit): void {
  addCaseOptions(
    program
      .command("compare")
      .description(
        "have candidates answer what a worker was asked, in copies of the program, and say how often they agree with it",
      )
      .argument("<worker>", "its name")
      .argument(...target)
      .option("--with <candidate>", "tools.ts:NAME, FILE.worker, model:PROVIDER:NAME or git:REVISION; several", collect)
      .option("--again", "ask today's prompt, too: how often it agrees with itself says how much noise there is"),
  )
    .option("--judge <file>", "a worker file that says whether free texts mean the same: from `expected` and `output`, a boolean")
    .option("--within <path=number>", "how far a number may be off: score=1; several", parseWithin)
    .option("--parallel <number>", "the most cases at the same time (default: 4)", parseCount)
    .option("--live-reads", "tools that change nothing run where the record does not answer them")
    .option("--at-least <share>", "exit with 1 where the lower end of an interval is below this", parseShare)
    .option("--show <number>", "print this many disagreements of each candidate", parseCount)
    .option("--out <file>", "write the cases of all disagreements into a case file")
    .option("--json", "print the figures as JSON")
    .action(act(exit, async () => (await import("../commands/boundary/compare.ts")).compareCommand));
}

/** `llm-do stabilise STEP [TARGET]`. */
export function addStabilise(program: Command, exit: Exit): void {
  addCaseOptions(
    program
      .command("stabilise")
      .description(
        "let a function answer a worker first, where its agreement with recorded calls allows it; or the prompt alone again",
      )
      .argument("<worker>", "its name")
      .argument(...target)
      .option("--with <function>", "the function: tools.ts:NAME")
      .option("--draft", "have a model write the function from a part of the calls, and judge it by the others")
      .option("--rounds <number>", "with --draft: the most drafts (default: 5)", parseCount)
      .option("--back", "remove `code` and `check`: the prompt answers everything again")
      .option("--again", "ask today's prompt, too, and hold the function to it in place of the record"),
  )
    .option("--at-least <share>", "the lowest end of the interval of its agreement (default: 0.9)", parseShare)
    .option("--check <share>", "the share of its answers that the prompt answers, too (default: 0.05)", parseShare)
    .option("-y, --yes", "write without a question")
    .action(act(exit, async () => (await import("../commands/boundary/stabilise.ts")).stabiliseCommand));
}

/** `llm-do soften TOOL [TARGET]`. */
export function addSoften(program: Command, exit: Exit): void {
  program
    .command("soften")
    .description("put a tool behind a worker of its name, as the code that answers first; its callers stay as they are")
    .argument("<tool>", "tools.ts:NAME")
    .argument(...target)
    .option("--trust", "run the code of the program without a question")
    .option("-y, --yes", "write without a question")
    .action(act(exit, async () => (await import("../commands/boundary/soften.ts")).softenCommand));
}

/** `llm-do keep RUN[/CALL] [TARGET]`. */
export function addKeep(program: Command, exit: Exit): void {
  program
    .command("keep")
    .description("make a tool of a program that a model wrote in a run: NAME.program.js, which runs in the interpreter alone")
    .argument("<run[/call]>", "the run's id, or `last`; with the path of the call of run_program where it made several")
    .argument("[target]", "the program's folder, or one of its .worker files; default: that of the run")
    .requiredOption("--as <name>", "the name of the tool")
    .option("-y, --yes", "write without a question")
    .action(act(exit, async () => (await import("../commands/boundary/keep.ts")).keepCommand));
}

/** `llm-do drift STEP [TARGET]`. */
export function addDrift(program: Command, exit: Exit): void {
  program
    .command("drift")
    .description("how often the checks of a worker's code agreed with its prompt, by week")
    .argument("<worker>", "its name")
    .argument(...target)
    .option("--since <time>", "only checks since then: 2026-01-31, or 30m, 12h, 7d, 2w ago", parseSince)
    .option("--at-least <share>", "exit with 1 where the whole interval of the last week lies below this", parseShare)
    .option("--json", "print one week a line")
    .action(act(exit, async () => (await import("../commands/boundary/drift.ts")).driftCommand));
}

function parseWithin(text: string, all: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> {
  const [path = "", bound = ""] = text.split("=", 2);
  const number = Number(bound);
  if (path === "" || bound.trim() === "" || !(number >= 0)) throw new InvalidArgumentError("Write PATH=NUMBER, such as score=1.");
  return { ...all, [path]: number };
}

function parseShare(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number >= 0 && number <= 1)) throw new InvalidArgumentError("Write a share from 0 to 1.");
  return number;
}
