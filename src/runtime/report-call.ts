import { thrownBy } from "../approval/refusal.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { errorMessage } from "../util/error-message.ts";
import { errorStacks } from "../util/error-stacks.ts";
import type { CallPlace, RuntimeConfig } from "./config.ts";

/**
 * Emits the events of a call, whoever makes it: a model's turn, or code through its runtime. A call that is not answered
 * since it ends more than itself has a result, too: why it was broken off.
 */
export async function reportCall(
  run: RuntimeConfig,
  place: CallPlace & { readonly tool: string; readonly args: JsonValue; readonly debug: boolean },
  answer: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const { tool, args } = place;
  const started = run.host.clock.monotonic();
  run.emit(place, { type: "tool-call", tool, args });
  const milliseconds = () => run.host.clock.monotonic() - started;
  try {
    const result = await answer();
    const stack = place.debug ? errorStacks(thrownBy(result)) : "";
    run.emit(place, {
      type: "tool-result",
      tool,
      result,
      milliseconds: milliseconds(),
      ...(stack === "" ? {} : { stack }),
    });
    return result;
  } catch (thrown) {
    const result = { ok: false, error: { type: "aborted", error: errorMessage(thrown) } } as const;
    run.emit(place, { type: "tool-result", tool, result, milliseconds: milliseconds() });
    throw thrown;
  }
}
