import { Command, InvalidArgumentError, Option } from "commander";
import { version } from "../version.ts";
import type { CheckFlags } from "./commands/check.ts";
import type { RunFlags } from "./commands/run.ts";
import type { RunsFlags } from "./commands/runs.ts";

/** The command line's grammar. Commands are imported when they run, so that `--help` pays for none of them. */
export function createProgram(exit: { code: number }): Command {
  const program = new Command("llm-do")
    .description("Prompts you can run, review, pin, test and resume like code.")
    .version(version)
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError("(llm-do --help lists the commands and flags)")
    .configureHelp({ showGlobalOptions: false })
    .exitOverride();
  addRun(program, exit);
  addCheck(program, exit);
  addRuns(program, exit);
  program.addHelpText("after", exitCodesHelp);
  for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
    command.exitOverride();
  return program;
}

const exitCodesHelp = `
Exit codes: 0 done, 1 failed, 2 usage or compile error, 3 output does not fit its schema, 4 approval needed and nobody to
ask, 5 denied and stopped, 6 limit, 7 provider or authentication, 130 interrupted, 143 terminated.`;

function addRun(program: Command, exit: { code: number }): void {
  program
    .command("run", { isDefault: true })
    .description("run a program; `llm-do TARGET [PROMPT]` is the same")
    .argument("<target>", "a folder with a main.worker, or a .worker file")
    .argument("[prompt]", "what to do; `-` reads it from stdin, and so does no prompt where stdin is a pipe")
    .option("-a, --attachment <file>", "pass a file along (repeatable)", collect, [])
    .option("--entry <name>", "start at this worker, or at code: tools.ts:main")
    .option("--model <provider:name>", "the model of every worker that names none of its own")
    .option("--approve-all", "run everything that would ask")
    .option("--reject-all", "deny everything that would ask")
    .addOption(
      new Option("--on-denied <what>", "after a denial: tell the model, or end the run")
        .choices(["return", "stop"])
        .default("return"),
    )
    .option("--trust", "let the program's own code run")
    .option("--max-depth <number>", "the deepest worker call; the entry is 0", parseCount)
    .option("--headless", "ask nothing, even at a terminal")
    .option("--json", "print one JSON object in place of the output")
    .option("--no-journal", "keep no record of the run")
    .option(
      "-v, --verbose",
      "show calls, approvals and usage on stderr; -vv: text as it comes",
      (_, count: number) => count + 1,
      0,
    )
    .option("-q, --quiet", "say nothing but the result and errors")
    .option("--debug", "show stack traces")
    .action(async (target: string, prompt: string | undefined, flags: RunFlags) => {
      const { runCommand } = await import("./commands/run.ts");
      exit.code = await runCommand(target, prompt, flags);
    });
}

function addCheck(program: Command, exit: { code: number }): void {
  program
    .command("check")
    .description("say what is wrong with a program, and run none of it")
    .argument("[target]", "a folder with a main.worker, or a .worker file", ".")
    .option("--entry <name>", "check from this worker, or from code: tools.ts:main")
    .option("--model <provider:name>", "check that the workers can run on this model")
    .option("--trust", "import the program's code, and check what it exports")
    .addOption(new Option("--format <format>", "how to print").choices(["text", "json"]).default("text"))
    .action(async (target: string, flags: CheckFlags) => {
      const { checkCommand } = await import("./commands/check.ts");
      exit.code = await checkCommand(target, flags);
    });
}

function addRuns(program: Command, exit: { code: number }): void {
  const runs = program.command("runs").description("look at what earlier runs did");
  runs
    .command("list")
    .description("list the runs of a program, oldest first")
    .option("--program <folder>", "the program", ".")
    .option("--json", "print JSON")
    .action(async (flags: RunsFlags) => {
      const { listRunsCommand } = await import("./commands/runs.ts");
      exit.code = await listRunsCommand(flags);
    });
  runs
    .command("show")
    .description("show how far a run got")
    .argument("<run>", "its id, or `last`")
    .option("--program <folder>", "the program", ".")
    .option("--json", "print the journal's entries")
    .action(async (run: string, flags: RunsFlags) => {
      const { showRunCommand } = await import("./commands/runs.ts");
      exit.code = await showRunCommand(run, flags);
    });
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}

function parseCount(value: string): number {
  if (/^\d+$/.test(value)) return Number(value);
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}
