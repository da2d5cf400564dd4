import type { GatedToolset } from "../approval/gate-types.ts";
import { PolicyStop, UncertainCall } from "../approval/gate-types.ts";
import { toStart } from "../effects/effects.ts";
import type { WorkerCode } from "../program/program.ts";
import { codeCallPath } from "../protocol/call.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { ToolErrorType } from "../protocol/tool.ts";
import { renderIssues } from "../schema/schema.ts";
import { toolName } from "../toolsets/tool-name.ts";
import { ToolFailure, toolFailure } from "../toolsets/toolset.ts";
import { isUnsure } from "../toolsets/workers/unsure.ts";
import { abortable } from "../util/async/abortable.ts";
import { toJsonValue } from "../util/json/to-json-value.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { isChecked } from "./bounds/run-checks.ts";
import { bracketCall } from "./bracket-call.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { LimitReached, RunError } from "./run-error.ts";
import { createRuntime, type EndedCall } from "./worker-runtime.ts";

/** The end of code: its answer, or the reason why the prompt answers. `hint` goes to the model beside the prompt. */
export type CodeEnd =
  | {
      readonly type: "answer";
      readonly output: JsonValue;
      /** The request that a conversation goes on with. Set for the entry alone. */
      readonly asked?: readonly Message[];
      /** The id of the worker whose prompt is asked, too, when the work of the run is done. */
      readonly check?: string;
    }
  | { readonly type: "unsure"; readonly reason: string; readonly hint?: string };

/**
 * Lets the code of a worker answer, as a call of its own at `CALL/code`: it reaches what the worker reaches, through the gate, and is entered
 * again in a replay and in a run that goes on before it ended. Rejects with what ends the worker's call, or more: a denial, an abort, a
 * limit, and a failure after a call that may have had a side effect.
 */
export async function answerByCode(call: CallConfig, frame: CallFrame, code: WorkerCode): Promise<CodeEnd> {
  const { run, signal, worker } = call;
  const callPath = codeCallPath(call.callPath);
  const recorded = run.effects.recall("call-end", { callPath });
  if (recorded) {
    call.budget.countToolCalls(run.effects.state.toolCallsOf(callPath));
    return repeatEnd(recorded.output, recorded.error);
  }
  await run.effects.requireLive(toStart(callPath, signal));
  signal.throwIfAborted();
  const callee = { kind: "code" as const, name: code.name };
  const input = { input: frame.input, files: [], fragments: [] };
  const detail = run.debug || worker.debug ? { input: frame.input } : undefined;
  const bracket = bracketCall(run, { callPath, depth: call.depth, signal, callee, input, detail });
  const ended: EndedCall[] = [];
  const leave = run.activity.begin(callPath);
  const goOn = run.activity.rest(call.callPath);
  try {
    const context = { ...call, callPath, reach: undefined, onEnd: (one: EndedCall) => ended.push(one) };
    const runtime = createRuntime(context);
    const executed = abortable((async () => code.execute(frame.input, runtime))(), signal);
    const value = await executed.finally(run.activity.enterCode(callPath));
    await run.effects.finish(callPath, signal);
    const end = await readEnd(
      call,
      value,
      ended.filter((one) => mayHaveChanged(call, one)),
    );
    const asked = end.type === "answer" && call.depth === 0 ? { asked: frame.messages.slice(frame.earlier) } : {};
    const isDoubled = end.type === "answer" && code.check !== undefined && isChecked(run, call.callPath, code.check);
    const check = isDoubled && frame.earlier === 0 ? { check: worker.id } : {};
    bracket.end({ output: { ...end, ...asked, ...check } as unknown as JsonValue, stopReason: "done" });
    return end;
  } catch (thrown) {
    const turn = run.effects.finish(callPath, signal);
    if (turn) await turn.catch(() => undefined);
    bracket.fail(thrown);
    if (signal.aborted) throw signal.reason;
    const reason = reasonToHandOver(thrown);
    if (reason === undefined) throw thrown;
    const changed = ended.filter((one) => mayHaveChanged(call, one));
    if (code.onFailure === "fail" || changed.length > 0) throw failureOf(call, reason, changed);
    return { type: "unsure", reason: `it failed: ${reason}` };
  } finally {
    goOn();
    leave();
  }
}

/** The end of code that ended in an earlier attempt of the run. */
function repeatEnd(output: JsonValue | undefined, error: JsonObject | undefined): CodeEnd {
  if (isRecord(output) && (output["type"] === "answer" || output["type"] === "unsure")) return output as unknown as CodeEnd;
  return { type: "unsure", reason: `it failed: ${String(error?.["message"] ?? "")}` };
}

/** Throws if the value is no output of the worker. */
async function readEnd({ worker }: CallConfig, value: unknown, changed: readonly EndedCall[]): Promise<CodeEnd> {
  if (isUnsure(value)) {
    const { reason, hint } = value;
    const texts = [...(hint === undefined ? [] : [hint]), ...(changed.length > 0 ? [describeCalls(changed)] : [])];
    return { type: "unsure", reason, ...(texts.length > 0 ? { hint: texts.join("\n\n") } : {}) };
  }
  const output = toJsonValue(value) as JsonValue;
  if (!worker.output) {
    if (typeof output === "string") return { type: "answer", output };
    throw new TypeError("it gave no text, and the worker has no output schema");
  }
  const checked = await worker.output.validate(output);
  if (checked.ok) return { type: "answer", output: toJsonValue(checked.value) as JsonValue };
  throw new TypeError(`its output does not fit: ${renderIssues(checked.issues)}`);
}

/** Names the effects that are done already to the prompt that goes on. */
function describeCalls(calls: readonly EndedCall[]): string {
  const lines = calls.map(({ name, input, result }) => JSON.stringify({ call: name, input, result }));
  return `These calls were made already, and may have changed something:\n${lines.join("\n")}`;
}

/** Errors of calls that nothing was done for. */
const undone: readonly ToolErrorType[] = ["denied", "blocked", "invalid_arguments", "unknown_tool", "limit"];

function mayHaveChanged({ worker, toolsets }: CallConfig, { name, result }: EndedCall): boolean {
  if (!result.ok && undone.includes(result.error.type)) return false;
  const reference = toolsets.find((toolset: GatedToolset) => toolset.has(name))?.reference;
  const binding = worker.toolsets.find((one) => one.reference === reference);
  const tool = binding?.tools.find((one) => toolName(binding.prefix, one.name) === name);
  return binding?.worker !== undefined || tool?.sideEffect !== false;
}

/** Undefined for what ends more than the code: a denial, a limit, an end of the run. */
function reasonToHandOver(thrown: unknown): string | undefined {
  if (thrown instanceof LimitReached || thrown instanceof RunError) return undefined;
  if (thrown instanceof PolicyStop || thrown instanceof UncertainCall) return undefined;
  if (thrown instanceof ToolFailure && ["denied", "blocked", "limit"].includes(thrown.toolError.type)) return undefined;
  return errorMessage(thrown);
}

function failureOf({ worker }: CallConfig, reason: string, changed: readonly EndedCall[]): ToolFailure {
  const after =
    changed.length > 0 ? ` after ${changed.map(({ name }) => name).join(", ")}, which may have changed something` : "";
  const hint = changed.length > 0 ? "look at what was done before you call it again" : "call it again with other input";
  return toolFailure("tool_failed", `the code of \`${worker.name}\` failed${after}: ${reason}`, hint);
}
