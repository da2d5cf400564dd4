import { thrownBy } from "../approval/refusal.ts";
import { Suspended } from "../effects/activity.ts";
import type { CallAddress } from "../protocol/call.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { errorMessage } from "../util/error-message.ts";
import { errorStacks } from "../util/error-stacks.ts";
import type { RuntimeConfig } from "./config.ts";

export interface ReportedCall extends CallAddress {
  readonly tool: string;
  readonly args: JsonValue;
  readonly debug: boolean;
}

/**
 * Emits the start of a tool call, of a model or of code, and returns what emits its end. `fail` is for what ends more than the call: it
 * emits why the call was broken off, and throws on.
 */
export function reportCall(run: RuntimeConfig, call: ReportedCall) {
  const { tool, args, debug } = call;
  const started = run.host.clock.monotonic();
  const emitEnd = (result: ToolResult, more: { readonly stack?: string } = {}) => {
    const milliseconds = run.host.clock.monotonic() - started;
    run.emit(call, { type: "tool-result", tool, result, milliseconds, ...more });
  };
  run.emit(call, { type: "tool-call", tool, args });
  return {
    end: (result: ToolResult): ToolResult => {
      const stack = debug ? errorStacks(thrownBy(result)) : "";
      emitEnd(result, stack === "" ? {} : { stack });
      return result;
    },
    fail: (thrown: unknown): never => {
      const type = thrown instanceof Suspended ? "suspended" : "aborted";
      emitEnd({ ok: false, error: { type, error: errorMessage(thrown) } });
      throw thrown;
    },
  };
}
