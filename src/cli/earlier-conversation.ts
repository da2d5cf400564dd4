import { type Program, readConversation } from "../llm-do.ts";
import type { Message } from "../protocol/message.ts";
import { UsageError } from "./exit-codes.ts";
import { streamRuns } from "./find-runs.ts";
import { portableHistory } from "./tui/portable-history.ts";

export interface EarlierConversation {
  readonly runId: string;
  readonly history: readonly Message[];
}

/**
 * `-c`: the conversation of the last run of the program's entry that ended with an answer. Another model gets the parts that any model
 * takes. Rejects with a `UsageError` where there is none.
 */
export async function findEarlierConversation(program: Program): Promise<EarlierConversation> {
  const { entry, root } = program;
  if (entry.kind !== "worker") throw new UsageError("-c goes on with a conversation, and the entry is code");
  const { name, model } = entry.worker;
  for await (const { runId, ends } of streamRuns(root)) {
    const { first, entryCall, last } = ends ?? {};
    if (first?.type !== "run-start" || first.entry !== name) continue;
    if (last?.type !== "run-end" || last.stopReason !== "done") continue;
    const history = await readConversation(program, { run: runId });
    if (history === undefined) continue;
    const isSame = entryCall?.type === "call-start" && entryCall.model === model?.recorded;
    return { runId, history: isSame ? history : portableHistory(history) };
  }
  throw new UsageError(`-c: no recorded run of \`${name}\` ended with an answer; begin without -c`);
}
