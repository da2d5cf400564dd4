import type { Message, ToolCallPart } from "../protocol/message.ts";
import type { ToolError } from "../protocol/tool.ts";
import type { CallConfig, CallFrame } from "./config.ts";

/** Adds a message to a call's conversation. */
export function addMessage(call: CallConfig, frame: CallFrame, message: Message): void {
  frame.messages.push(message);
  publishMessage(call, message);
}

export function publishMessage({ run, callPath }: CallConfig, message: Message): void {
  try {
    run.onMessage?.(callPath, message);
  } catch {
    // A failure of the listener does not end the run.
  }
}

export function addUserText(call: CallConfig, frame: CallFrame, text: string): void {
  addMessage(call, frame, { role: "user", parts: [{ type: "text", text }] });
}

/** Why calls of a response were not made. `type` defaults to `aborted`. */
export interface Unanswered extends Pick<ToolError, "error" | "hint"> {
  readonly calls: readonly ToolCallPart[];
  readonly type?: ToolError["type"];
}

/** Providers reject a conversation in which a call has no result. */
export function addUnanswered(call: CallConfig, frame: CallFrame, { calls, type = "aborted", ...why }: Unanswered): void {
  if (calls.length === 0) return;
  const result = { ok: false, error: { type, ...why } } as const;
  addMessage(call, frame, { role: "tool", parts: calls.map(({ id, name }) => ({ type: "tool-result", id, name, result })) });
}
