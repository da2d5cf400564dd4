import { join } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { readJournalEnds } from "../../journal/read-journal.ts";
import { resume } from "../../llm-do.ts";
import { UsageError } from "../exit-codes.ts";
import { findRuns } from "../find-runs.ts";
import { writeStderr } from "../output.ts";
import { playRecorded, type RecordedProgram } from "../play-recorded.ts";
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
      return recorded;
    },
    play: ({ journal: _, attachments: __, ...request }) => resume({ ...request, takeOver, fromHere }),
  });
}

/** `last`: the newest one that did not end. */
async function findResumable(run: string, target: string | undefined): Promise<RecordedProgram> {
  const host = createNodeHost();
  const runs = await findRuns(target);
  const named = runs.find(({ runId }) => runId === run);
  let unreadable: unknown;
  for (const found of run === "last" ? runs.toReversed() : named ? [named] : []) {
    if ((await host.files.kind(join(found.directory, "journal.jsonl"))) === undefined) {
      unreadable ??= run === "last" ? undefined : new UsageError(`nothing is recorded of \`${run}\`: it was killed as it began`);
      continue;
    }
    try {
      const { first, last } = await readJournalEnds(host, found.directory);
      const hasEnded = last?.type === "run-end" && last.stopReason === "done";
      if (run === "last" && (first === undefined || hasEnded)) continue;
      const start = first?.type === "run-start" ? first : undefined;
      return { found, compiled: start?.compiled, isHeld: start?.onUnanswered === "hold" };
    } catch (thrown) {
      unreadable ??= thrown;
    }
  }
  if (unreadable !== undefined) throw unreadable;
  const which = run === "last" ? "no run that did not end" : `no run \`${run}\``;
  throw new UsageError(`there is ${which}; \`llm-do runs list${target === undefined ? "" : ` ${target}`}\` names what there is`);
}
