import { Suspended } from "../effects/activity.ts";
import { toStart } from "../effects/effects.ts";
import type { FactKey } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { ToolResult } from "../protocol/message.ts";
import { hasFiles } from "../toolsets/results/result-files.ts";
import { ToolInterrupted } from "../toolsets/toolset.ts";
import { toJsonValue } from "../util/json/to-json-value.ts";
import type { StageReport } from "./asking/question-queue.ts";
import { repeatSettlement } from "./asking/settle-begun.ts";
import type { GateRun } from "./gate-types.ts";
import { type PendingCall, type PreparedCall, prepareCall } from "./pending-call.ts";

interface CodeCall extends PendingCall {
  readonly key: FactKey;
  readonly stage: StageReport;
}

interface GrantedCode {
  readonly granted: PreparedCall;
  /** Enters the code. Called once. */
  readonly enter: (whole: PreparedCall) => Promise<ToolResult>;
}

/**
 * Executes code that calls others, and records its start and end. It is entered in every replay: what it does besides its calls is no
 * effect of its own, so its start is on disk before it.
 */
export async function executeCode(run: GateRun, call: CodeCall, { granted, enter }: GrantedCode): Promise<ToolResult> {
  const { callPath, signal } = call.request.runtime;
  // No payload is recorded of a call that was granted in an earlier attempt.
  const isBare = run.effects.isReplayed(callPath) && granted.isRestored && call.binding.toolset.prepare !== undefined;
  await recordStart(run, call, granted);
  let leave: (() => void) | undefined;
  let result: ToolResult | undefined;
  let isAsked = false;
  try {
    const whole = isBare ? await prepareCall(call, granted.checked, run.redactor) : granted;
    leave = run.activity.enterCode(callPath);
    const made = enter(whole).catch(resultOfAborted(run, call));
    made.catch(() => undefined);
    isAsked = true;
    const taken = await repeatSettlement(run, call);
    isAsked = false;
    const got = taken ?? (await made);
    await run.effects.finish(callPath, signal);
    result = got;
    return result;
  } finally {
    leave?.();
    // A question whether the call is repeated came up before it was entered again: it did not end.
    if (!isAsked) recordEnd(run, call, result);
  }
}

async function recordStart(run: GateRun, { request }: PendingCall, { preparation }: PreparedCall): Promise<void> {
  const { callPath, depth, signal } = request.runtime;
  await run.effects.requireLive(toStart(callPath, signal));
  signal.throwIfAborted();
  const input = { input: preparation.canonicalArgs, files: [], fragments: [] };
  run.effects.record({ type: "call-start", callPath, kind: "tool", name: request.name, depth, input });
  await run.effects.onDisk();
}

function recordEnd(run: GateRun, { request }: PendingCall, result: ToolResult | undefined): void {
  const { callPath, signal } = request.runtime;
  if (!result && signal.reason instanceof Suspended) return;
  const stopReason = result?.ok ? "done" : !result && signal.aborted ? "aborted" : "failed";
  const usage = run.effects.state.usageOf(callPath);
  const shown = result ? { result: result as unknown as JsonObject } : {};
  run.effects.record({ type: "call-end", callPath, stopReason, usage, ...shown });
}

/** In a replay, a stop can meet code a moment earlier than it did: code that came to its end all the same has its recorded result. */
function resultOfAborted(run: GateRun, { request: { runtime } }: PendingCall): (thrown: unknown) => Promise<ToolResult> {
  return async (thrown) => {
    const { signal, callPath } = runtime;
    const ended = signal.aborted ? await run.effects.finish(callPath, signal)?.catch(() => undefined) : undefined;
    if (!ended?.result) throw thrown;
    return ended.result as unknown as ToolResult;
  };
}

/** The result of code that ended in an earlier attempt of the run, and is not entered again. */
export function recallResult(run: GateRun, { request }: PendingCall): ToolResult | undefined {
  const ended = run.effects.recall("call-end", { callPath: request.runtime.callPath });
  if (ended?.result) request.onRepeated?.();
  return ended?.result as unknown as ToolResult | undefined;
}

/** Returns the result of a tool that returned `made`. */
export function toResult(made: unknown): ToolResult {
  if (!hasFiles(made)) return { ok: true, value: toJsonValue(made) as JsonValue };
  return { ok: true, value: toJsonValue(made.value) as JsonValue, files: made.files };
}

export const resultCodec = {
  encode: (result: ToolResult) => result as unknown as JsonValue,
  decode: (value: JsonValue) => value as unknown as ToolResult,
  encodePartial: (thrown: unknown) => (thrown instanceof ToolInterrupted ? thrown.partial : undefined),
};
