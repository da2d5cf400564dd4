import { readResult, resume } from "../../../front/llm-do.ts";
import { show } from "../../../ui/explain/phrases.ts";
import { errorMessage } from "../../../util/text/error-message.ts";
import { explainLine } from "../../command-name.ts";
import { UsageError } from "../../exit-codes.ts";
import { writeStderr } from "../../output.ts";
import { type FoundRun, findRun, requireReadable } from "../../records/find-runs.ts";
import { describeGoOn } from "../../records/next-steps.ts";
import { readStart } from "../../records/recorded-program.ts";
import { type FoundProgram, playRecorded } from "../../run/play-recorded.ts";
import type { RunFlags } from "../../run/run-flags.ts";

export interface ResumeFlags extends RunFlags {
  readonly takeOver?: boolean;
  readonly fromHere?: boolean;
}

/** `llm-do resume [RUN] [TARGET]`: goes on with a run that did not end. Returns the exit code. */
export function resumeCommand(run: string, target: string | undefined, flags: ResumeFlags): Promise<number> {
  const { takeOver = false, fromHere = false } = flags;
  return playRecorded(flags, {
    find: async () => {
      const recorded = await findResumable(run, target);
      const { runId, root } = recorded.found;
      if (run === "last" && !flags.quiet) writeStderr(`llm-do: going on with the run ${runId} of ${show(root)}\n`);
      if (recorded.hasEnded && !flags.quiet) writeStderr(`llm-do: the run ${runId} came to its end; this is its result\n`);
      return recorded;
    },
    advise: async ({ found }) =>
      `Look at it (${explainLine(found.root)}); then run this at a terminal to trust it, or:\n  ${await describeGoOn(found, flags)}`,
    play: async ({ journal: _, attachments: __, ...request }, _signal, { hasEnded }) => {
      const ended = hasEnded ? await readResult(request.program, { run: request.run }) : undefined;
      return ended ?? resume({ ...request, takeOver, fromHere });
    },
  });
}

interface EndedProgram extends FoundProgram {
  /** It came to its end: its result is given again. */
  readonly hasEnded: boolean;
}

/** `last`: the newest one that did not end, of those that were answered if there are any. Rejects if one that is newer cannot be read. */
async function findResumable(run: string, target: string | undefined): Promise<EndedProgram> {
  const applies = (one: FoundRun) => {
    requireReadable(one);
    return one.ends?.first !== undefined && !isDone(one);
  };
  const found = await findRun({
    run,
    target,
    changes: true,
    applies,
    rank: (one) => (isAnswered(one) ? 1 : 0),
    what: "run that did not end",
  });
  const start = await readStart(found).catch((thrown: unknown) => {
    if (run === "last" && !(thrown instanceof UsageError)) requireReadable({ ...found, problem: errorMessage(thrown) });
    throw thrown;
  });
  // A denial would bring it to its end, with which nothing can go on.
  const isHeld = start.onUnanswered === "hold" || "unattended";
  return { found, compiled: start.compiled, isHeld, hasEnded: isDone(found) };
}

/** Has an answer that it has not gone on with. */
function isAnswered({ ends }: FoundRun): boolean {
  return ends?.last?.type === "answer";
}

function isDone({ ends }: FoundRun): boolean {
  return ends?.last?.type === "run-end" && ends.last.stopReason === "done";
}
