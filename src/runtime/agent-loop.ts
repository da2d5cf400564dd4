import type { JsonValue } from "../protocol/json.ts";
import type { AssistantMessage, Message, ToolCallPart } from "../protocol/message.ts";
import type { ToolError } from "../protocol/tool.ts";
import { type ToolFailure, toolFailure } from "../toolsets/toolset.ts";
import { errorMessage } from "../util/error-message.ts";
import type { CallConfig, CallEnd, CallFrame, Ending } from "./config.ts";
import type { BoundedResponse } from "./model-effect.ts";
import { readOutput } from "./read-output.ts";
import { reportServerParts } from "./report-server-parts.ts";
import { planLastTurn, priceOfCall } from "./request-budget.ts";
import { requestModel } from "./request-model.ts";
import { describeLimit, LimitReached } from "./run-error.ts";
import { answerToolCalls } from "./tool-call.ts";
import { outcomeOf, type TurnOutcome, textOf } from "./turn-outcome.ts";

/*
 * Terminology. A *call* is one invocation of a worker; this loop runs one. A *turn* is one model response and the results
 * of the tool calls that it asked for. Its *outcome* (`turn-outcome.ts`) decides how the call goes on. The *last turn* is
 * the one that a limit allows last: the model is told to finish with what it has. Of limited tokens and dollars, what it
 * takes is held back from the start.
 */

/** How often an answer that is empty, or does not fit the output schema, is asked for again. */
const repairTurns = 1;

export async function runAgentLoop(call: CallConfig, frame: CallFrame): Promise<CallEnd> {
  for (const message of frame.messages) publish(call, message);
  try {
    return await takeTurns(call, frame);
  } finally {
    frame.letGo();
  }
}

async function takeTurns(call: CallConfig, frame: CallFrame): Promise<CallEnd> {
  let previous: TurnOutcome | undefined;
  for (let repairs = 0; ; ) {
    if (frame.turn + 1 >= call.maxTurns) announceEnd(call, frame, { limit: "turns", allowed: call.maxTurns });
    const outcome = await takeTurn(call, frame, previous);
    if (outcome.type === "refused") throw toolFailure("refused", `\`${call.worker.name}\`: ${call.model.id} ${outcome.reason}`);
    if (frame.ending) return endLastTurn(call, frame, { ending: frame.ending, outcome });
    switch (outcome.type) {
      case "calls":
        await answerCalls(call, frame, outcome.calls);
        break;
      case "paused":
        break;
      case "cut": {
        if (outcome.calls.length === 0 || previous?.type === "cut") return endCut(call, frame, outcome);
        refuseCutCalls(call, frame, outcome);
        break;
      }
      case "empty":
      case "answer": {
        const output = await readAnswer(call, frame, outcome);
        if (output.ok) return { output: output.value, stopReason: "done" };
        if (repairs++ >= repairTurns) throw invalidOutput(call, output);
        add(call, frame, { role: "user", parts: [{ type: "text", text: output.repair }] });
      }
    }
    previous = outcome;
  }
}

type Answer =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly problem: string; readonly repair: string };

async function readAnswer(call: CallConfig, frame: CallFrame, { type }: TurnOutcome): Promise<Answer> {
  const form = call.worker.output ? " with JSON that fits the output schema, and nothing else" : "";
  if (type === "empty") {
    call.run.emit(call, { type: "warning", message: `${call.model.id} gave an empty answer` });
    return { ok: false, problem: "an empty answer, also when asked again", repair: `Your answer is empty. Answer now${form}.` };
  }
  const output = await readOutput(call.worker.output, frame.partialOutput);
  if (output.ok) return output;
  const repair = `Your answer does not fit the output schema: ${output.problem}. Answer again with JSON that fits it, and nothing else.`;
  return { ok: false, problem: `an output that does not fit its schema: ${output.problem}`, repair };
}

interface LastTurn {
  readonly ending: Ending;
  readonly outcome: TurnOutcome;
}

/** A limit that left room for one turn alone is not reported where that turn gave the answer. */
async function endLastTurn(call: CallConfig, frame: CallFrame, { ending, outcome }: LastTurn): Promise<CallEnd> {
  if (outcome.type === "cut" && frame.turn === 1) return endCut(call, frame, outcome);
  const reached = `${describeLimit(ending)} is reached`;
  if (outcome.type === "calls" || outcome.type === "cut") addUnanswered(call, frame, { calls: outcome.calls, error: reached });
  if (outcome.type === "answer" && frame.turn === 1) {
    const output = await readOutput(call.worker.output, frame.partialOutput);
    if (output.ok) return { output: output.value, stopReason: "done" };
  }
  return endAtLimit(call, frame, ending);
}

/** An answer that used up its share of a limit ends the call like that limit; any other was cut by a bound on answers. */
async function endCut(call: CallConfig, frame: CallFrame, { bound, calls, reason }: Cut): Promise<CallEnd> {
  addUnanswered(call, frame, { calls, error: reason, type: "cut" });
  if (bound.type === "limit") return endAtLimit(call, frame, bound);
  return { output: await partialOutput(call, frame), stopReason: "cut", reason };
}

type Cut = Extract<TurnOutcome, { type: "cut" }>;

/** Gives the model a turn to make its calls again, in shorter answers; the last turn where a limit cut this one. */
function refuseCutCalls(call: CallConfig, frame: CallFrame, { bound, calls, reason }: Cut): void {
  call.run.emit(call, { type: "warning", message: `none of the calls of an answer that was cut off ran: ${reason}` });
  const error = `your answer was cut off, so this call may be incomplete and did not run: ${reason}`;
  addUnanswered(call, frame, { calls, error, type: "cut", hint: "answer in smaller steps" });
  if (bound.type === "limit") announceEnd(call, frame, bound);
}

function invalidOutput({ worker }: CallConfig, { problem }: { readonly problem: string }): ToolFailure {
  return toolFailure("output_invalid", `\`${worker.name}\` gave ${problem}`);
}

/** From here on there is one turn left, and it may take what was held back for it. */
function announceEnd(call: CallConfig, frame: CallFrame, { limit, allowed }: Ending): void {
  if (frame.ending) return;
  frame.ending = { limit, allowed };
  frame.letGo();
  if (frame.turn === 0) return;
  const reached = describeLimit(frame.ending);
  const text = `${reached.charAt(0).toUpperCase()}${reached.slice(1)} is reached. Give your final answer now, with what you have; no further tool call will run.`;
  add(call, frame, { role: "user", parts: [{ type: "text", text }] });
}

/** One model response. `previous`: what the turn before it came to. */
async function takeTurn(call: CallConfig, frame: CallFrame, previous: TurnOutcome | undefined): Promise<TurnOutcome> {
  const turn = frame.turn + 1;
  call.run.emit(call, { type: "turn-start", turn, model: call.model.id });
  const response = await requestTurn(call, frame);
  const { message, usage, finish, finishReason } = response;
  frame.turn = turn;
  const answer = takeAnswer(frame, message, previous?.type === "paused");
  const outcome = outcomeOf(response, answer);
  // Providers refuse a conversation with a message that says nothing.
  if (outcome.type !== "empty" || message.parts.some(({ type }) => type !== "text" && type !== "reasoning"))
    add(call, frame, message);
  reportServerParts(call, frame, message);
  const how = { finish, ...(finishReason === undefined ? {} : { finishReason }) };
  call.run.emit(call, { type: "turn-end", turn, usage, text: textOf(message.parts), ...how });
  call.run.emit(call, { type: "usage", usage: call.run.effects.state.usageOf(call.callPath) });
  return outcome;
}

/** A request that the limits do not allow beside what is held back for the last turn becomes the last turn's. */
async function requestTurn(call: CallConfig, frame: CallFrame): Promise<BoundedResponse> {
  try {
    await holdLastTurn(call, frame);
    return await requestModel(call, frame);
  } catch (thrown) {
    if (!(thrown instanceof LimitReached) || frame.ending || call.signal.aborted) throw thrown;
    announceEnd(call, frame, thrown);
    return requestModel(call, frame);
  }
}

async function holdLastTurn(call: CallConfig, frame: CallFrame): Promise<void> {
  frame.letGo();
  if (frame.ending) return;
  const amount = planLastTurn(call, frame, await priceOfCall(call));
  if (amount) frame.letGo = call.account.hold(amount);
}

async function answerCalls(call: CallConfig, frame: CallFrame, calls: readonly ToolCallPart[]): Promise<void> {
  try {
    const { parts, reached } = await answerToolCalls(call, frame, calls);
    add(call, frame, { role: "tool", parts });
    if (reached) announceEnd(call, frame, reached);
  } catch (thrown) {
    addUnanswered(call, frame, { calls, error: errorMessage(thrown) });
    throw thrown;
  }
}

/**
 * Keeps the answer's text as what there is to give, and returns it; what was kept stays where there is none. Text before the
 * provider's own part of the work is no part of the answer, unless nothing follows it.
 */
function takeAnswer(frame: CallFrame, { parts }: AssistantMessage, continues: boolean): string {
  const last = parts.findLastIndex(({ type }) => type === "server-call" || type === "server-result");
  const after = textOf(parts.slice(last + 1));
  const text = after === "" ? textOf(parts) : after;
  const answer = continues && (last < 0 || after === "") ? frame.partialOutput + text : text;
  if (answer !== "") frame.partialOutput = answer;
  return answer;
}

function add(call: CallConfig, frame: CallFrame, message: Message): void {
  frame.messages.push(message);
  publish(call, message);
}

function publish({ run, callPath }: CallConfig, message: Message): void {
  try {
    run.onMessage?.(callPath, message);
  } catch {
    // A listener's failure is its own; the run goes on.
  }
}

async function endAtLimit(call: CallConfig, frame: CallFrame, ending: Ending): Promise<CallEnd> {
  const reason = describeLimit(ending);
  const { limit, allowed } = ending;
  call.run.emit(call, { type: "limit", limit, allowed, message: `${reason} is reached` });
  return { output: await partialOutput(call, frame), stopReason: "limit", reason };
}

/** What there is to give: a value where it fits the output schema all the same, text otherwise. */
async function partialOutput(call: CallConfig, frame: CallFrame): Promise<JsonValue> {
  const output = await readOutput(call.worker.output, frame.partialOutput);
  return output.ok ? output.value : frame.partialOutput;
}

interface Unanswered extends Pick<ToolError, "error" | "hint"> {
  readonly calls: readonly ToolCallPart[];
  readonly type?: ToolError["type"];
}

/** A conversation stays one that providers take: every call has a result. */
function addUnanswered(call: CallConfig, frame: CallFrame, { calls, type = "aborted", ...told }: Unanswered): void {
  if (calls.length === 0) return;
  const result = { ok: false, error: { type, ...told } } as const;
  add(call, frame, { role: "tool", parts: calls.map(({ id, name }) => ({ type: "tool-result", id, name, result })) });
}
