import type { GatedToolset } from "../approval/gate-types.ts";
import type { ReachedLimit } from "../effects/effects.ts";
import { spendKey } from "../effects/keys.ts";
import { type CallPath, childCallPath } from "../protocol/call.ts";
import type { ToolCallPart, ToolResult, ToolResultPart } from "../protocol/message.ts";
import type { ToolError } from "../protocol/tool.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { announceLastTurn } from "./bounds/last-turn.ts";
import { guardAgainstLoop } from "./bounds/loop-guard.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { addCreated } from "./connect/created-workers.ts";
import { addMessage, addUnanswered } from "./conversation.ts";
import { type CompleteResult, cutResult, toolsetsOf } from "./history/cut-results.ts";
import { whyNotLoaded } from "./history/search-tools.ts";
import { CallReport } from "./results/report-call.ts";
import { unknownTool } from "./results/unknown-tool.ts";
import { describeLimit } from "./run-error.ts";
import { reachOf, toGatedCall } from "./worker-runtime.ts";

/**
 * Answers the tool calls of one response: side by side, except tools marked sequential, which wait for all calls before
 * them and hold up all after them. The results stand in the order of the calls, whatever finished first. Where one of them
 * ends this call, the others are aborted and waited for. Calls that a limit does not allow are not made, and the next turn is the last.
 * Throws a `ToolFailure` if the model is in a loop.
 */
export async function answerToolCalls(call: CallConfig, frame: CallFrame, calls: readonly ToolCallPart[]): Promise<void> {
  const pending: Promise<CompleteResult>[] = [];
  const results: ToolResultPart[] = [];
  // As of the request: a worker that one of the calls creates is offered from the next turn on.
  const offered = toolsetsOf(call, frame);
  const goOn = call.run.activity.rest(call.callPath);
  try {
    const { allowed, reached } = spendToolCalls(call, frame.toolCalls, calls.length);
    for (const part of calls.slice(0, allowed)) {
      const target = findTarget(call, frame, { part, offered });
      const sequential = target.toolset?.isSequential(part.name) ?? false;
      if (sequential) await Promise.all(pending);
      pending.push(answerToolCall(call, frame, { part, target, offered, ordinal: frame.toolCalls++ }));
      if (sequential) await pending.at(-1);
    }
    const refused = reached ? calls.slice(allowed).map((part) => refusedPart(part, reached)) : [];
    const whole = await Promise.all(pending);
    goOn();
    for (const result of whole) {
      const cut = cutResult(call, frame, result);
      results.push(cut instanceof Promise ? await cut : cut);
    }
    addMessage(call, frame, { parts: refused.length > 0 ? [...results, ...refused] : results, role: "tool" });
    if (reached) announceLastTurn(call, frame, reached);
  } catch (thrown) {
    const turn = call.run.effects.abortBelow(call.callPath, call.signal);
    if (turn) await turn;
    call.abort(thrown);
    await Promise.allSettled(pending);
    addUnanswered(call, frame, { calls, error: errorMessage(thrown) });
    throw thrown;
  } finally {
    goOn();
  }
  guardAgainstLoop(call, frame, { calls, results });
}

interface SpentCalls {
  readonly allowed: number;
  /** The limit that the next call would cross. */
  readonly reached?: ReachedLimit;
}

/** How many of the calls the limits allow. */
function spendToolCalls({ run, callPath, budget }: CallConfig, first: number, wanted: number): SpentCalls {
  for (let allowed = 0; allowed < wanted; allowed++) {
    const key = { callPath, key: spendKey(first + allowed) };
    const reached = run.effects.decideOnce("limit", key, { decide: () => budget.spendToolCall() });
    if (reached) return { allowed, reached };
  }
  return { allowed: wanted };
}

function refusedPart({ id, name }: ToolCallPart, reached: ReachedLimit): ToolResultPart {
  const error = `${describeLimit(reached)} is reached; this call was not made`;
  return { type: "tool-result", id, name, result: { ok: false, error: { type: "limit", error } } };
}

/** The target of a call, or the reason why it has none. */
type Target =
  | { readonly toolset: GatedToolset; readonly error?: undefined }
  | { readonly toolset?: undefined; readonly error: ToolError };

interface Offered {
  readonly part: ToolCallPart;
  /** As of the request. */
  readonly offered: readonly GatedToolset[];
}

function findTarget(call: CallConfig, frame: CallFrame, { part: { name, invalidArgs }, offered: toolsets }: Offered): Target {
  const toolset = toolsets.find((candidate) => candidate.has(name));
  const names = () => toolsets.flatMap(({ definitions }) => definitions.map((definition) => definition.name));
  if (!toolset) return { error: unknownTool(name, names()).toolError };
  const notLoaded = whyNotLoaded(call, frame, name);
  if (notLoaded) return { error: notLoaded };
  if (invalidArgs === undefined) return { toolset };
  const error = "the arguments are not valid JSON, or hold a key twice";
  return { error: { type: "invalid_arguments", error, hint: "call it again with one JSON object" } };
}

interface Asked {
  readonly part: ToolCallPart;
  readonly target: Target;
  readonly ordinal: number;
  /** As of the request. */
  readonly offered: readonly GatedToolset[];
}

/** Makes a call up to where something has to be waited for. Rejects as the gate does. */
function answerToolCall(call: CallConfig, frame: CallFrame, { part, target, ordinal, offered }: Asked): Promise<CompleteResult> {
  const { run, worker, depth, model, scopes, attachments, budget, signal } = call;
  const { name, args } = part;
  const callPath = childCallPath(call.callPath, ordinal, name);
  const report = new CallReport(run, { callPath, depth, tool: name, args, debug: run.debug || worker.debug });
  const { toolset, error } = target;
  if (!toolset) return Promise.resolve(complete(part, callPath, report.end({ ok: false, error })));
  const reach = reachOf({ toolset, reach: toolset.callsOf(name) }, offered);
  const created = addCreated.bind(undefined, call, frame, ordinal);
  const gated = toGatedCall(
    { run, callPath, depth, worker, model, scopes, attachments, budget, signal, ...reach, addCreated: created },
    { name, args },
  );
  const leave = run.activity.begin(callPath);
  return endCall(toolset.call(gated), { part, callPath, report, leave });
}

interface CallUnderWay {
  readonly part: ToolCallPart;
  readonly callPath: CallPath;
  readonly report: CallReport;
  readonly leave: () => void;
}

async function endCall(result: Promise<ToolResult>, under: CallUnderWay): Promise<CompleteResult> {
  try {
    return complete(under.part, under.callPath, under.report.end(await result));
  } catch (thrown) {
    return under.report.fail(thrown);
  } finally {
    under.leave();
  }
}

/** In the order of the form that is digested. */
function complete({ id, name }: ToolCallPart, callPath: CallPath, result: ToolResult): CompleteResult {
  return { part: { id, name, result, type: "tool-result" }, callPath };
}
