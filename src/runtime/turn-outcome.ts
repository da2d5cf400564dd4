import type { ModelResponse } from "../models/model.ts";
import type { AssistantMessage, ToolCallPart } from "../protocol/message.ts";

/** What a turn came to: it decides how the call goes on. */
export type TurnOutcome =
  | { readonly type: "answer" }
  /** Tools are asked for; they run whatever the finish reason says. */
  | { readonly type: "calls"; readonly calls: readonly ToolCallPart[] }
  /** The provider wants the answer back as it is, to continue it. */
  | { readonly type: "paused" };

export function outcomeOf({ message, finish }: ModelResponse): TurnOutcome {
  const calls = toolCallsOf(message);
  if (calls.length > 0) return { type: "calls", calls };
  return { type: finish === "paused" ? "paused" : "answer" };
}

function toolCallsOf({ parts }: AssistantMessage): readonly ToolCallPart[] {
  return parts.filter((part) => part.type === "tool-call");
}
