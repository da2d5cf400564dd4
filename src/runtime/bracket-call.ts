import { Suspended } from "../effects/activity.ts";
import type { CallAddress, CallKind, StopReason } from "../protocol/call.ts";
import type { CallDetail } from "../protocol/event.ts";
import type { CallInput } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { ToolFailure } from "../toolsets/toolset.ts";
import { errorMessage } from "../util/text/error-message.ts";
import type { CallEnd, RuntimeConfig } from "./config.ts";

export interface BracketedCall extends CallAddress {
  readonly callee: { readonly kind: CallKind; readonly name: string; readonly model?: string; readonly modelSource?: string };
  readonly input: CallInput;
  /** Present if the call is debugged. */
  readonly detail: CallDetail | undefined;
  readonly signal: AbortSignal;
}

/**
 * Records and emits the start of a call of a worker or of code, and returns what does so for its end. `end` returns what it is given.
 */
export function bracketCall(run: RuntimeConfig, call: BracketedCall) {
  const { callPath, depth, callee, input, detail, signal } = call;
  const { kind, name } = callee;
  const started = run.host.clock.monotonic();
  const attachments = input.files.map((file) => file.name);
  const shown = attachments.length > 0 ? { attachments } : {};
  run.emit(call, { type: "call-start", ...callee, ...shown, ...(detail ? { detail } : {}) });
  run.effects.record({ type: "call-start", callPath, depth, ...callee, input });
  const close = (how: { readonly stopReason: StopReason; readonly reason?: string }, what: JsonObject) => {
    const usage = run.effects.state.usageOf(callPath);
    // A suspended call has not ended: it goes on where it was.
    if (how.stopReason !== "suspended") run.effects.record({ type: "call-end", callPath, ...how, usage, ...what });
    const milliseconds = run.host.clock.monotonic() - started;
    run.emit(call, { type: "call-end", kind, name, ...how, usage, milliseconds });
  };
  return {
    end: (ended: CallEnd): CallEnd => {
      const { output, ...how } = ended;
      close(how, { output });
      return ended;
    },
    /** `failure`: what the caller gets, and goes on with. */
    fail: (thrown: unknown, failure?: ToolFailure): void => {
      const got = failure && !signal.aborted ? { failure: failure.toolError as unknown as JsonObject } : {};
      const message = errorMessage(signal.aborted ? signal.reason : thrown);
      const ofAbort = signal.reason instanceof Suspended ? "suspended" : "aborted";
      close({ stopReason: signal.aborted ? ofAbort : "failed" }, { error: { message, ...got } });
    },
  };
}
