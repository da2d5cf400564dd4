import { Suspended } from "../effects/activity.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { ToolInterrupted } from "../toolsets/toolset.ts";
import type { GateRun } from "./gate-types.ts";
import type { PendingCall, PreparedCall } from "./pending-call.ts";

/**
 * Code that calls others is entered in every replay. What it does besides is no effect of its own, so its start is on disk before it.
 */
export async function recordStart(run: GateRun, { request }: PendingCall, { preparation }: PreparedCall): Promise<void> {
  const { callPath, depth, signal } = request.runtime;
  await run.effects.requireStart(callPath, signal);
  signal.throwIfAborted();
  const input = { input: preparation.canonicalArgs, files: [], fragments: [] };
  await run.effects.recordDurably({ type: "call-start", callPath, kind: "tool", name: request.name, depth, input });
}

export function recordEnd(run: GateRun, { request }: PendingCall, result: ToolResult | undefined): void {
  const { callPath, signal } = request.runtime;
  if (!result && signal.reason instanceof Suspended) return;
  const stopReason = result?.ok ? "done" : !result && signal.aborted ? "aborted" : "failed";
  const usage = run.effects.state.usageOf(callPath);
  const shown = result ? { result: result as unknown as JsonObject } : {};
  run.effects.record({ type: "call-end", callPath, stopReason, usage, ...shown });
}

/** In a replay, a stop can meet code a moment earlier than it did: code that came to its end all the same has its recorded result. */
export function resultOfAborted(run: GateRun, { request: { runtime } }: PendingCall): (thrown: unknown) => ToolResult {
  return (thrown) => {
    const result = runtime.signal.aborted ? run.effects.endToReach(runtime.callPath)?.result : undefined;
    if (!result) throw thrown;
    return result as unknown as ToolResult;
  };
}

/** The result of code that ended in an earlier attempt of the run, and is not entered again. */
export function recallResult(run: GateRun, { request }: PendingCall): ToolResult | undefined {
  const ended = run.effects.recallEnd(request.runtime.callPath);
  if (ended?.result) request.onRepeated?.();
  return ended?.result as unknown as ToolResult | undefined;
}

export const resultCodec = {
  encode: (result: ToolResult) => result as unknown as JsonValue,
  decode: (value: JsonValue) => value as unknown as ToolResult,
  encodePartial: (thrown: unknown) => (thrown instanceof ToolInterrupted ? thrown.partial : undefined),
};
