import type { Command } from "commander";
import type { ResumeFlags } from "./commands/resume.ts";
import { isDebugging } from "./debugging.ts";
import { addResumeOptions } from "./run-options.ts";
import { type Exit, refuseDashes } from "./setup-commands.ts";

/** `llm-do resume [RUN] [TARGET]`. */
export function addResume(program: Command, exit: Exit): void {
  const resume = program
    .command("resume")
    .description("go on with a run that was killed, stopped, or ended at a limit: nothing that is recorded is done again")
    .argument("[run]", "its id, or `last`: the newest that did not end", "last")
    .argument("[target]", "the program's folder, or one of its .worker files; without it, all programs that you ran");
  addResumeOptions(resume).action(async (run: string, target: string | undefined, flags: ResumeFlags) => {
    refuseDashes("resume", exit);
    const { resumeCommand } = await import("./commands/resume.ts");
    exit.exitCode = await resumeCommand(run, target, { ...flags, debug: isDebugging(flags) });
  });
}
