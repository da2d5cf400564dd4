import type { Command } from "commander";
import { runOutcomes } from "../../protocol/call.ts";
import type { AnswerFlags } from "../commands/records/approvals.ts";
import type { ForkFlags } from "../commands/records/fork.ts";
import type { ResumeFlags } from "../commands/records/resume.ts";
import { isDebugging } from "../debugging.ts";
import { choicesOption, collect } from "./repeated-options.ts";
import { addCompileOptions, addForkOptions, addResumeOptions, parseCount, parseSince, parseTolerance } from "./run-options.ts";
import { act, type Exit } from "./setup-commands.ts";

const whose =
  "the program's folder, or one of its .worker files; without it, an id is of any program, and `last` of that of this folder";

/** `llm-do resume [RUN] [TARGET]`. */
export function addResume(program: Command, exit: Exit): void {
  const resume = program
    .command("resume")
    .description("go on with a run that was killed, stopped, or ended at a limit: nothing that is recorded is done again")
    .argument("[run]", "its id, or `last`: the newest that did not end; one that was answered comes first", "last")
    .argument("[target]", whose);
  addResumeOptions(resume).action(
    act(exit, async () => {
      const { resumeCommand } = await import("../commands/records/resume.ts");
      return (run: string, target: string | undefined, flags: ResumeFlags) =>
        resumeCommand(run, target, { ...flags, debug: isDebugging(flags) });
    }),
  );
}

/** `llm-do replay [RUN] [TARGET]`. */
export function addReplay(program: Command, exit: Exit): void {
  const replay = program
    .command("replay")
    .description("play a recorded run again with the program of today, answered from the record; 1 where it does something else")
    .argument("[run]", "its id, or `last`", "last")
    .argument("[target]", whose);
  addCompileOptions(replay)
    .option("--trust", "import the program's code, which runs as it is")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/records/replay.ts")).replayCommand));
}

/** `llm-do runs list|show|compare|export|import|adopt|move|rm|prune`. */
export function addRuns(program: Command, exit: Exit): void {
  const runs = program.command("runs").description("look at what earlier runs did; alone, list them");
  addRunViews(runs, exit);
  addRunTransfers(runs, exit);
  addRunRemovals(runs, exit);
}

function addRunViews(runs: Command, exit: Exit): void {
  const where = "the program's folder, or one of its .worker files; without it, all programs that you ran";
  runs
    .command("list")
    .description("list runs, oldest first: how each ended, its time, cost, model and prompt")
    .argument("[target]", where)
    .option(
      "-n, --number <number>",
      "the most runs, counted from the last (default: 20; with a target and --json: all)",
      parseCount,
    )
    .option("--program <name>", "only of programs of this name")
    .addOption(
      choicesOption(
        "--outcome <outcome>",
        "only runs that ended so (repeatable); denied: also with a call that was denied; suspended: waits for answers",
        runOutcomes,
      ),
    )
    .option("--since <time>", "only runs that began since then: 2026-01-31, or 30m, 12h, 7d, 2w ago", parseSince)
    .option("--model <text>", "only runs whose entry had a model with this in its name")
    .option("--search <text>", "only runs with this text, in any case, in a prompt, an input or an answer")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/records/runs.ts")).listRunsCommand));
  runs
    .command("show")
    .description("show how far a run got")
    .argument("[run]", "its id, or `last`", "last")
    .argument("[target]", whose)
    .option("--messages", "show what each call was sent, and what it answered")
    .option("--costs", "show tokens and dollars by worker and by turn, and what each part of a context took")
    .option("--json", "print the journal's entries, one a line")
    .action(act(exit, async () => (await import("../commands/records/runs.ts")).showRunCommand));
  runs
    .command("compare")
    .description(
      "what two runs, or two sets of runs, did otherwise: outcome, output, calls, denials, requests, tokens, dollars, time",
    )
    .argument("<first>", "its id, or `last`; a set is ID,ID,ID")
    .argument("<second>", "its id, or `last`; a set is ID,ID,ID")
    .option(
      "--tolerance <share>",
      "exit with 1 where the second did something else, or took more requests, tokens or dollars by more than this: 0.1",
      parseTolerance,
    )
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/records/compare-runs.ts")).compareRunsCommand));
}

/** Records that come from elsewhere, or go there. */
function addRunTransfers(runs: Command, exit: Exit): void {
  runs
    .command("export")
    .description("write a record into one file, without secrets: to be looked at and adopted elsewhere")
    .argument("<run>", "its id, or `last`")
    .option("-o, --out <file>", "the file; by default stdout")
    .action(act(exit, async () => (await import("../commands/records/foreign-runs.ts")).exportRunCommand));
  runs
    .command("import")
    .description("take in records from elsewhere, to be looked at: nothing in them counts until they are adopted")
    .argument("<path>", "a file of `runs export`, the folder of a record, or a folder with `.llm-do/runs` of an older llm-do")
    .action(act(exit, async () => (await import("../commands/records/foreign-runs.ts")).importRunsCommand));
  runs
    .command("adopt")
    .description("take over what happened in a record from elsewhere, after a question; what waits in it is asked anew")
    .argument("<run>", "its id")
    .argument("[target]", "the program that it is of from now on; by default that of this folder")
    .option("-y, --yes", "do it without a question")
    .action(act(exit, async () => (await import("../commands/records/foreign-runs.ts")).adoptRunCommand));
  runs
    .command("move")
    .description("give a program that was moved its records, and its created workers what they may do")
    .argument("<old>", "the folder where it was")
    .argument("<new>", "the folder where it is")
    .option("-y, --yes", "do it without a question")
    .action(act(exit, async () => (await import("../commands/records/foreign-runs.ts")).moveRunsCommand));
}

function addRunRemovals(runs: Command, exit: Exit): void {
  runs
    .command("rm")
    .description("remove the records of runs, with their secrets; never of one that is under way or waits for answers")
    .argument("<run...>", "ids, or `last`")
    .action(act(exit, async () => (await import("../commands/records/remove-runs.ts")).removeRunsCommand));
  runs
    .command("prune")
    .description("remove the records of all runs of a program but the newest")
    .argument("[target]", "the program's folder, or one of its .worker files; without it, the program of this folder")
    .option("--all", "of each program that you ran")
    .requiredOption("--keep <number>", "how many runs of each program stay", parseCount)
    .option("--dry-run", "print the runs that would be removed, and remove none")
    .option("-y, --yes", "remove them without a question")
    .action(act(exit, async () => (await import("../commands/records/remove-runs.ts")).pruneRunsCommand));
}

/** `llm-do fork RUN [PROMPT]`. */
export function addFork(program: Command, exit: Exit): void {
  const fork = program
    .command("fork")
    .description("begin a new run with the recorded answers of another one, and go on live from there")
    .argument("<run>", "its id, or `last`")
    .argument(
      "[prompt]",
      "another prompt, in the place of the recorded input; what follows `--` is prompt, whatever it looks like",
    );
  addForkOptions(fork).action(async (run: string, written: string | undefined, flags: ForkFlags) => {
    const { forkCommand } = await import("../commands/records/fork.ts");
    const prompt = exit.afterDashes?.join(" ") ?? written;
    const words = { run, prompt, isLiteral: exit.afterDashes !== undefined };
    exit.exitCode = await forkCommand(words, { ...flags, debug: isDebugging(flags) });
  });
}

/** `llm-do undo [RUN] [TARGET]`. */
export function addUndo(program: Command, exit: Exit): void {
  program
    .command("undo")
    .description("take back what a run's file tools wrote; files that were changed since stay, and so does what commands did")
    .argument("[run]", "its id, or `last`", "last")
    .argument("[target]", whose)
    .option("--call <path>", "only what this call, and the calls below it, wrote: main/0.helper")
    .option("--within <folder>", "take back files in this folder, too, beside the program's own (repeatable)", collect)
    .option("--dry-run", "show what would be done, and do nothing")
    .option("-y, --yes", "do it without a question")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/records/undo.ts")).undoCommand));
}

/** `llm-do view [RUN]`. */
export function addView(program: Command, exit: Exit): void {
  program
    .command("view")
    .description("write a page of a run, with its calls, messages, diffs and approvals, and open it in the browser")
    .argument("[run]", "its id, or `last`", "last")
    .argument("[target]", whose)
    .option("--out <file>", "where to write the page; by default into the run's folder")
    .option("--no-open", "only write it, and print its path")
    .action(act(exit, async () => (await import("../commands/records/view.ts")).viewCommand));
}

/** `llm-do approvals`, `llm-do approve` and `llm-do deny`. */
export function addApprovals(program: Command, exit: Exit): void {
  program
    .command("approvals")
    .description("list the questions of a run that was suspended, or killed, and waits for their answers")
    .argument("[run]", "its id, or `last`: the newest in which something waits", "last")
    .argument("[target]", whose)
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/records/approvals.ts")).approvalsCommand));
  for (const type of ["approve", "deny"] as const) {
    const how = type === "approve" ? "; without questions, ask for one after the other at the terminal" : "";
    program
      .command(type)
      .description(`${type} calls that wait in a suspended run; \`llm-do resume\` then goes on with it${how}`)
      .argument("[run]", "its id, or `last`: the newest in which something waits", "last")
      .argument("[target]", whose)
      .argument("[question...]", "numbers as `llm-do approvals` lists them, ranges such as 3-5, or ids")
      .option("--note <text>", type === "approve" ? "kept in the record" : "returned to the model")
      .option("--all", `${type} all that have no answer yet`)
      .option("--all-runs", `${type} all that have no answer yet, in all runs of the program, as of the rows of a map`)
      .option("-y, --yes", "with --all or --all-runs: do it without a question")
      .option("--json", "print the questions and their answers as JSON")
      .action(
        act(exit, async () => {
          const { answerCommand } = await import("../commands/records/approvals.ts");
          const { answerAllRuns } = await import("../commands/records/answer-all-runs.ts");
          return (run: string, target: string | undefined, words: readonly string[], flags: AnswerFlags) =>
            (flags.allRuns ? answerAllRuns : answerCommand)({ run, target, words, type }, flags);
        }),
      );
  }
}
