import type { JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import type { CallPlace, RuntimeConfig } from "./config.ts";

/** Tells of a call before and after it, whoever makes it: a model's turn, or code through its runtime. */
export async function reportCall(
  run: RuntimeConfig,
  place: CallPlace & { readonly tool: string; readonly args: JsonValue },
  answer: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const { tool, args } = place;
  const started = run.clock.monotonic();
  run.emit(place, { type: "tool-call", tool, args });
  const result = await answer();
  run.emit(place, { type: "tool-result", tool, result, milliseconds: run.clock.monotonic() - started });
  return result;
}
