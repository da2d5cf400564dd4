import type { Command } from "commander";
import type { ExecutorFlags } from "../commands/doors/executor.ts";
import type { SubmitFlags } from "../commands/records/submit.ts";
import { isDebugging } from "../debugging.ts";
import { addExecutorOptions, addSubmitOptions } from "./run-options.ts";
import { act, type Exit } from "./setup-commands.ts";

/** `llm-do executor`. */
export function addExecutor(program: Command, exit: Exit): void {
  const executor = program
    .command("executor")
    .description(
      "execute submitted runs, on as many machines as this is started on, with the policy of these flags; what asks waits",
    );
  addExecutorOptions(executor).action(
    act(exit, async () => {
      const { executorCommand } = await import("../commands/doors/executor.ts");
      return (flags: ExecutorFlags) => executorCommand({ ...flags, verbose: 0, debug: isDebugging(flags) });
    }),
  );
}

/** `llm-do submit TARGET [PROMPT]`. */
export function addSubmit(program: Command, exit: Exit & { readonly afterDashes: readonly string[] | undefined }): void {
  const submit = program
    .command("submit")
    .description("hand a run to the executors of a database, and print its id; nothing of it runs here")
    .argument("<target>", "the folder of a program with a `name:` in its llm-do.yaml")
    .argument("[prompt...]", "what to do, as one argument; `-` reads it from stdin");
  addSubmitOptions(submit).action(async (target: string, rest: readonly string[], flags: SubmitFlags) => {
    const { submitCommand } = await import("../commands/records/submit.ts");
    const words = { target, rest, afterDashes: exit.afterDashes };
    exit.exitCode = await submitCommand(words, { ...flags, verbose: 0, debug: isDebugging(flags) });
  });
}

/** `llm-do cancel RUN`. */
export function addCancel(program: Command, exit: Exit): void {
  program
    .command("cancel")
    .description("take a submitted run off the queue; an executor that has it ends it at once, and keeps its record")
    .argument("<run>", "its id")
    .action(act(exit, async () => (await import("../commands/records/submit.ts")).cancelCommand));
}
