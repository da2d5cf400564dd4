import { type Program, readConversation } from "../../front/llm-do.ts";
import type { Message } from "../../protocol/message.ts";
import { UsageError } from "../exit-codes.ts";
import { type FoundRun, streamRuns } from "../records/find-runs.ts";
import { portableHistory } from "../tui/portable-history.ts";

export interface EarlierConversation {
  readonly runId: string;
  readonly history: readonly Message[];
}

/**
 * `-c`: the conversation of the last run of the program's entry that ended with an answer. Another model gets the parts that any model
 * takes. Rejects with a `UsageError` if there is none.
 */
export async function findEarlierConversation(program: Program): Promise<EarlierConversation> {
  for await (const run of answeredRuns(program)) {
    const history = await readEarlierConversation(program, run);
    if (history !== undefined) return { runId: run.runId, history };
  }
  throw new UsageError(`-c: no recorded run of \`${workerOf(program).name}\` ended with an answer; begin without -c`);
}

/** Yields the runs of the program's entry that ended with an answer, newest first. Rejects with a `UsageError` for an entry that is code. */
export async function* answeredRuns(program: Program): AsyncGenerator<FoundRun> {
  const { name } = workerOf(program);
  for await (const run of streamRuns(program.root)) {
    const { first, last } = run.ends ?? {};
    if (first?.type !== "run-start" || first.entry !== name) continue;
    if (last?.type === "run-end" && last.stopReason === "done") yield run;
  }
}

/** The conversation of such a run, in the parts that the model of today takes. */
export async function readEarlierConversation(
  program: Program,
  { runId, ends }: FoundRun,
): Promise<readonly Message[] | undefined> {
  const history = await readConversation(program, { run: runId });
  const isSame = ends?.entryCall?.type === "call-start" && ends.entryCall.model === workerOf(program).model?.recorded;
  return isSame || history === undefined ? history : portableHistory(history);
}

function workerOf({ entry }: Program) {
  if (entry.kind !== "worker") throw new UsageError("-c goes on with a conversation, and the entry is code");
  return entry.worker;
}
