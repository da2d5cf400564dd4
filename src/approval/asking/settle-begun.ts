import { againKey, questionKey, toolKey } from "../../effects/keys.ts";
import type { FactKey, FactOf } from "../../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { ToolResult } from "../../protocol/message.ts";
import type { Reconciliation } from "../../toolsets/toolset.ts";
import { type GateRun, UncertainCall } from "../gate-types.ts";
import { describeCall, type PendingCall, restoreCall } from "../pending-call.ts";
import { decide } from "./decide.ts";
import type { StageReport } from "./question-queue.ts";
import { recordDecision } from "./record-decision.ts";

/*
 * A call that began in an earlier attempt of the run, and whose end is not recorded, may have had its effect. It is never repeated
 * silently: its tool looks, or else a person decides.
 */

interface BegunCall extends PendingCall {
  readonly stage: StageReport;
}

/** Returns the call's result where it is taken as done; undefined if it is made (again), or has not begun before. */
export function settleBegun(run: GateRun, call: BegunCall): Promise<ToolResult | undefined> | undefined {
  const { tool, request } = call;
  const { keyPrefix = "", runtime } = request;
  const verdict = run.effects.begun({ callPath: runtime.callPath, key: keyPrefix });
  return verdict && !(tool.calls && tool.replayable) ? settleCall(run, call, verdict) : undefined;
}

async function settleCall(run: GateRun, call: BegunCall, verdict: FactOf<"verdict">): Promise<ToolResult | undefined> {
  const { tool, request } = call;
  const { keyPrefix = "", runtime } = request;
  const { callPath } = runtime;
  const found = await reconcile(call, verdict);
  if (found === "not-done") return undefined;
  const done = typeof found === "object" ? found.done : found === "done" ? "done" : undefined;
  const value = done === undefined ? await askForRepetition(run, call, verdict) : done;
  if (value === undefined) return undefined;
  const result: ToolResult = { ok: true, value };
  const outcome = { type: "value" as const, value: result as unknown as JsonValue };
  if (tool.calls) {
    const usage = run.effects.state.usageOf(callPath);
    run.effects.record({ type: "call-end", callPath, stopReason: "done", usage, result: result as unknown as JsonObject });
  } else run.effects.record({ type: "result", callPath, key: toolKey(keyPrefix), kind: "tool", outcome });
  await call.binding.settled?.(verdict.args, runtime);
  return result;
}

/** A failure to look leaves it open. */
async function reconcile({ tool, request }: PendingCall, verdict: FactOf<"verdict">): Promise<Reconciliation> {
  const { scopes, signal } = request.runtime;
  const { args: canonicalArgs, facts, recorded } = verdict;
  try {
    const looked = { canonicalArgs, facts, ...(recorded ? { recorded } : {}) };
    return (await tool.reconcile?.(looked, { scopes, signal })) ?? "unknown";
  } catch {
    signal.throwIfAborted();
    return "unknown";
  }
}

const why =
  "it may have run already: the run ended while it was under way. Approve to run it again; deny to take it as done, with your note as its result";

/**
 * Brings up again what was asked about a call that may have run, for a replay. Returns what a person said came of it; undefined if the
 * call was made again, or nothing was asked.
 */
export async function repeatSettlement(
  run: GateRun,
  call: BegunCall & { readonly key: FactKey },
): Promise<ToolResult | undefined> {
  const { keyPrefix = "" } = call.request;
  const { callPath } = call.key;
  if (run.effects.begun({ callPath, key: keyPrefix })) return undefined;
  const key = againKey(keyPrefix);
  const verdict = run.effects.recall("verdict", call.key);
  const wasAsked =
    run.effects.recall("intent", { callPath, key: questionKey(key) }) ?? run.effects.recall("decision", { callPath, key });
  const value = verdict && wasAsked ? await askForRepetition(run, call, verdict) : undefined;
  return value === undefined ? undefined : { ok: true, value };
}

/** Undefined: run it again. No mode answers this question, and no earlier approval. */
async function askForRepetition(run: GateRun, call: BegunCall, verdict: FactOf<"verdict">): Promise<JsonValue | undefined> {
  const { name: tool, keyPrefix = "", runtime, caller } = call.request;
  const { callPath, signal } = runtime;
  const { args, digest } = verdict;
  const { approver: _, settle, ...rest } = run.policy;
  const key: FactKey = { callPath, key: againKey(keyPrefix) };
  const { shown } = run.redactor.hideKnown({
    ...{ runId: run.runId, callPath, worker: caller.name, tool, args, why },
    description: describe(call, verdict),
  });
  const { decision, source } = await decide(
    {
      ...key,
      digest,
      question: { ...shown, canRemember: false },
      call: { worker: caller.name, reference: call.binding.reference, tool, args, why, content: { now: digest } },
    },
    {
      ...{ effects: run.effects, redactor: run.redactor, questions: run.questions, signal, earlier: [], stage: call.stage },
      activity: run.activity,
      policy: { ...rest, ...(settle && { approver: settle }), mode: "prompt", onUnanswered: "hold" },
      memory: { list: () => [], rules: () => [], revoke: () => false },
      checkArgs: async () => "the arguments of a call that may have run cannot be changed",
      onAsk: (request) => run.emit(runtime, { type: "approval-request", request }),
      onDecided: (settled) =>
        recordDecision(run, call, {
          ...{ ...key, tool, decision: settled.decision, source: settled.source },
          endsRun: settled.decision.type === "stop",
        }),
    },
  );
  signal.throwIfAborted();
  if (source !== "person") throw uncertain(run, call, verdict);
  return decision.type === "approve" ? undefined : (decision.note ?? "done");
}

function describe(call: PendingCall, verdict: FactOf<"verdict">): string {
  return describeCall(call, restoreCall(call, { args: verdict.args, transformed: false }, verdict));
}

function uncertain(run: GateRun, call: PendingCall, verdict: FactOf<"verdict">): UncertainCall {
  const { callPath } = call.request.runtime;
  const { shown } = run.redactor.hideKnown(describe(call, verdict));
  const error = `\`${shown}\` (${callPath}) may have run already, and nobody can be asked whether to run it again`;
  return new UncertainCall(callPath, error);
}
