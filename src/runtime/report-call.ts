import { thrownBy } from "../approval/refusal.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { errorStacks } from "../util/error-stacks.ts";
import type { CallPlace, RuntimeConfig } from "./config.ts";

/** Tells of a call before and after it, whoever makes it: a model's turn, or code through its runtime. */
export async function reportCall(
  run: RuntimeConfig,
  place: CallPlace & { readonly tool: string; readonly args: JsonValue; readonly debug: boolean },
  answer: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const { tool, args } = place;
  const started = run.clock.monotonic();
  run.emit(place, { type: "tool-call", tool, args });
  const result = await answer();
  const stack = place.debug ? errorStacks(thrownBy(result)) : "";
  const milliseconds = run.clock.monotonic() - started;
  run.emit(place, { type: "tool-result", tool, result, milliseconds, ...(stack === "" ? {} : { stack }) });
  return result;
}
