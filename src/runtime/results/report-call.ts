import { thrownBy } from "../../approval/refusal.ts";
import { Suspended } from "../../effects/activity.ts";
import type { CallAddress } from "../../protocol/call.ts";
import type { JsonValue } from "../../protocol/json.ts";
import { type ToolResult, withoutFiles } from "../../protocol/message.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { errorStacks } from "../../util/text/error-stacks.ts";
import type { RuntimeConfig } from "../config.ts";

export interface ReportedCall extends CallAddress {
  readonly tool: string;
  readonly args: JsonValue;
  readonly debug: boolean;
}

/** Emits the start of a tool call, of a model or of code, and then its end. */
export class CallReport {
  readonly #run: RuntimeConfig;
  readonly #call: ReportedCall;
  readonly #started: number;

  constructor(run: RuntimeConfig, call: ReportedCall) {
    this.#run = run;
    this.#call = call;
    this.#started = run.host.clock.monotonic();
    run.emit(call, { type: "tool-call", tool: call.tool, args: call.args });
  }

  end(result: ToolResult): ToolResult {
    const stack = this.#call.debug ? errorStacks(thrownBy(result)) : "";
    this.#emitEnd(result, stack === "" ? undefined : stack);
    return result;
  }

  /** For what ends more than the call: emits why the call was broken off, and throws on. */
  fail(thrown: unknown): never {
    const type = thrown instanceof Suspended ? "suspended" : "aborted";
    this.#emitEnd({ ok: false, error: { type, error: errorMessage(thrown) } });
    throw thrown;
  }

  #emitEnd(result: ToolResult, stack?: string): void {
    const { tool } = this.#call;
    const milliseconds = this.#run.host.clock.monotonic() - this.#started;
    this.#run.emit(this.#call, {
      type: "tool-result",
      tool,
      result: withoutFiles(result),
      milliseconds,
      ...(stack === undefined ? {} : { stack }),
    });
  }
}
