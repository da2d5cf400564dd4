import type { CallKind, StopReason } from "../protocol/call.ts";
import type { CallDetail } from "../protocol/event.ts";
import type { CallInput } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import { errorMessage } from "../util/error-message.ts";
import type { CallEnd, CallPlace, RuntimeConfig } from "./config.ts";

export interface BracketedCall extends CallPlace {
  readonly who: { readonly kind: CallKind; readonly name: string; readonly model?: string; readonly modelSource?: string };
  readonly input: CallInput;
  /** Present where the call is debugged. */
  readonly detail?: CallDetail;
  /** The names of its attachments. */
  readonly attachments: readonly string[];
  readonly signal: AbortSignal;
}

/** Records and emits the start and the end of a call of a worker or of code, whatever it comes to. */
export async function bracketCall(run: RuntimeConfig, call: BracketedCall, work: () => Promise<CallEnd>): Promise<CallEnd> {
  const { callPath, depth, who, input, detail, attachments } = call;
  const { kind, name } = who;
  const started = run.host.clock.monotonic();
  const shown = attachments.length > 0 ? { attachments } : {};
  run.emit(call, { type: "call-start", ...who, ...shown, ...(detail ? { detail } : {}) });
  run.effects.record({ type: "call-start", callPath, depth, ...who, input });
  const end = (how: { readonly stopReason: StopReason; readonly reason?: string }, what: JsonObject) => {
    const usage = run.effects.state.usageOf(callPath);
    run.effects.record({ type: "call-end", callPath, ...how, usage, ...what });
    const milliseconds = run.host.clock.monotonic() - started;
    run.emit(call, { type: "call-end", kind, name, ...how, usage, milliseconds });
  };
  try {
    const ended = await work();
    const { output, ...how } = ended;
    end(how, { output });
    return ended;
  } catch (thrown) {
    end({ stopReason: call.signal.aborted ? "aborted" : "failed" }, { error: { message: errorMessage(thrown) } });
    throw thrown;
  }
}
