import type { ToolCallPart, ToolResultPart } from "../protocol/message.ts";
import { toolFailure } from "../toolsets/toolset.ts";
import { digestJson } from "../util/long-texts.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { addUserText } from "./conversation.ts";

/** How often the same call may give the same result before the model gets a hint, and before the call of its worker fails. */
const hintAt = 3;
const failAt = 5;

/**
 * Counts turns in which the same call gave the same result, as long as no turn brings anything new: a model that checks its work after
 * each change goes on. Throws a `ToolFailure` of the type `loop`. `results` are those of the first calls, in their order.
 */
export function guardAgainstLoop(
  call: CallConfig,
  frame: CallFrame,
  { calls, results }: { readonly calls: readonly ToolCallPart[]; readonly results: readonly ToolResultPart[] },
): void {
  const names = new Map(results.map(({ name, result }, index) => [digestOf(call, calls[index], result), name]));
  const { seen, times: counts } = frame.repeats;
  if ([...names.keys()].some((id) => !seen.has(id))) counts.clear();
  for (const [id, name] of names) {
    const times = (counts.get(id) ?? 0) + 1;
    seen.add(id);
    counts.set(id, times);
    if (times >= failAt) {
      const error = `\`${call.worker.name}\` is in a loop: \`${name}\` was called ${times} times with the same arguments, and gave the same result`;
      throw toolFailure("loop", error, "call it with another input, or go on without it");
    }
    if (times === hintAt) warn(call, frame, { name, times });
  }
}

function warn(call: CallConfig, frame: CallFrame, { name, times }: { readonly name: string; readonly times: number }): void {
  call.run.emit(call, { type: "warning", message: `\`${name}\` gave the same result for the same arguments ${times} times` });
  const advice = `Use that result, make another call, or give your answer; after ${failAt} times your work ends here.`;
  addUserText(
    call,
    frame,
    `You called \`${name}\` ${times} times with the same arguments, and the result was the same each time. ${advice}`,
  );
}

function digestOf({ run }: CallConfig, part: ToolCallPart | undefined, result: ToolResultPart["result"]): string {
  return digestJson([part?.name, part?.args, part?.invalidArgs ?? null, result], run.redactor.look);
}
