import type { EventPart } from "../protocol/event.ts";
import { type Message, type ToolCallPart, withoutFiles } from "../protocol/message.ts";
import type { ToolError } from "../protocol/tool.ts";
import type { CallConfig, CallFrame } from "./config.ts";

/** Adds a message to a call's conversation. */
export function addMessage(call: CallConfig, frame: CallFrame, message: Message): void {
  frame.messages.push(message);
  publishMessage(call, message);
}

/** Emits a message, and gives it whole to the caller of the run. */
export function publishMessage(call: CallConfig, message: Message): void {
  const { run, callPath } = call;
  if (run.onEvent) run.emit(call, { type: "message", role: message.role, parts: message.parts.map(toEventPart) });
  try {
    run.onMessage?.(callPath, message);
  } catch {
    // A failure of the listener does not end the run.
  }
}

function toEventPart(part: Message["parts"][number]): EventPart {
  if (part.type === "file") {
    const { data: _, ...file } = part;
    return file;
  }
  if (part.type === "tool-result") return { ...part, result: withoutFiles(part.result) };
  if (!("providerData" in part)) return part;
  const { providerData: _, ...shown } = part;
  return shown;
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
