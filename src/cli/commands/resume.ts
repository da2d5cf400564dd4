import type { Host } from "../../host/host.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { readJournalEnds } from "../../journal/read-journal.ts";
import { readResult, resume } from "../../llm-do.ts";
import { UsageError } from "../exit-codes.ts";
import { findRuns, readLast } from "../find-runs.ts";
import { writeStderr } from "../output.ts";
import { type FoundProgram, playRecorded } from "../play-recorded.ts";
import { startOf } from "../recorded-program.ts";
import type { RunFlags } from "../run-flags.ts";

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
      if (run === "last" && !flags.quiet) writeStderr(`llm-do: going on with the run ${runId} of ${root}\n`);
      if (recorded.hasEnded && !flags.quiet) writeStderr(`llm-do: the run ${runId} came to its end; this is its result\n`);
      return recorded;
    },
    play: async ({ journal: _, attachments: __, ...request }, _signal, { hasEnded }) => {
      const ended = hasEnded ? await readResult(request.program, { directory: request.directory }) : undefined;
      return ended ?? resume({ ...request, takeOver, fromHere });
    },
  });
}

interface EndedProgram extends FoundProgram {
  /** It came to its end: its result is given again. */
  readonly hasEnded: boolean;
}

/** `last`: the newest one that did not end. Rejects where one that is newer cannot be read. */
async function findResumable(run: string, target: string | undefined): Promise<EndedProgram> {
  const isLast = run === "last";
  const runs = await findRuns(target);
  const named = runs.filter(({ runId }) => runId === run);
  for (const found of isLast ? runs.toReversed() : named) {
    const read = (host: Host) => readJournalEnds(host, found.directory);
    const ends = await (isLast ? readLast(found, read) : read(createNodeHost()));
    const { first, last } = ends ?? {};
    const hasEnded = last?.type === "run-end" && last.stopReason === "done";
    if (isLast && (first === undefined || hasEnded)) continue;
    const start = startOf(found, first);
    return { found, compiled: start.compiled, isHeld: start.onUnanswered === "hold", hasEnded };
  }
  const which = isLast ? "no run that did not end" : `no run \`${run}\``;
  throw new UsageError(`there is ${which}; \`llm-do runs list${target === undefined ? "" : ` ${target}`}\` names what there is`);
}
