import type { ModelResponse } from "../models/model.ts";
import type { AssistantMessage, Message, ToolCallPart } from "../protocol/message.ts";
import { type ToolFailure, toolFailure } from "../toolsets/toolset.ts";
import { errorMessage } from "../util/error-message.ts";
import type { CallConfig, CallEnd, CallFrame, Ending } from "./config.ts";
import { readOutput } from "./read-output.ts";
import { reportServerParts } from "./report-server-parts.ts";
import { planLastTurn, priceOfCall } from "./request-budget.ts";
import { requestModel } from "./request-model.ts";
import { describeLimit, LimitReached } from "./run-error.ts";
import { answerToolCalls } from "./tool-call.ts";
import { outcomeOf, type TurnOutcome } from "./turn-outcome.ts";

/*
 * Terminology. A *call* is one invocation of a worker; this loop runs one. A *turn* is one model response and the results
 * of the tool calls that it asked for. Its *outcome* (`turn-outcome.ts`) decides how the call goes on. The *last turn* is
 * the one that a limit allows last: the model is told to finish with what it has. Of limited tokens and dollars, what it
 * takes is held back from the start.
 */

/** How often an answer that does not fit the output schema is handed back. */
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
  let outcome: TurnOutcome | undefined;
  for (let repairs = 0; ; ) {
    if (frame.turn + 1 >= call.maxTurns) announceEnd(call, frame, { limit: "turns", allowed: call.maxTurns });
    outcome = await takeTurn(call, frame, outcome);
    if (frame.ending) return endLastTurn(call, frame, { ending: frame.ending, outcome });
    switch (outcome.type) {
      case "calls":
        await answerCalls(call, frame, outcome.calls);
        break;
      case "paused":
        break;
      case "answer": {
        const output = await readOutput(call.worker.output, frame.partialOutput);
        if (output.ok) return { output: output.value, stopReason: "done" };
        if (repairs++ >= repairTurns) throw invalidOutput(call, output.problem);
        const text = `Your answer does not fit the output schema: ${output.problem}. Answer again with JSON that fits it, and nothing else.`;
        add(call, frame, { role: "user", parts: [{ type: "text", text }] });
      }
    }
  }
}

interface LastTurn {
  readonly ending: Ending;
  readonly outcome: TurnOutcome;
}

/** A limit that left room for one turn alone is not reported where that turn gave the answer. */
async function endLastTurn(call: CallConfig, frame: CallFrame, { ending, outcome }: LastTurn): Promise<CallEnd> {
  if (outcome.type === "calls") add(call, frame, unanswered(outcome.calls, `${describeLimit(ending)} is reached`));
  if (outcome.type === "calls" || frame.turn > 1) return endAtLimit(call, frame, ending);
  const output = await readOutput(call.worker.output, frame.partialOutput);
  return output.ok ? { output: output.value, stopReason: "done" } : endAtLimit(call, frame, ending);
}

function invalidOutput({ worker }: CallConfig, problem: string): ToolFailure {
  return toolFailure("output_invalid", `\`${worker.name}\` gave an output that does not fit its schema: ${problem}`);
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
  const { message, usage } = response;
  frame.turn = turn;
  add(call, frame, message);
  takeAnswer(frame, message, previous?.type === "paused");
  reportServerParts(call, frame, message);
  call.run.emit(call, { type: "turn-end", turn, usage, text: textOf(message.parts) });
  call.run.emit(call, { type: "usage", usage: call.run.meter.of(call.callPath) });
  return outcomeOf(response);
}

/** A request that the limits do not allow beside what is held back for the last turn becomes the last turn's. */
async function requestTurn(call: CallConfig, frame: CallFrame): Promise<ModelResponse> {
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
    add(call, frame, { role: "tool", parts: await answerToolCalls(call, frame, calls) });
  } catch (thrown) {
    add(call, frame, unanswered(calls, errorMessage(thrown)));
    if (!(thrown instanceof LimitReached) || thrown.limit !== "tool_calls" || call.signal.aborted) throw thrown;
    announceEnd(call, frame, thrown);
  }
}

/** What a model writes before the provider has done its part is told, and is no part of its answer, unless nothing follows. */
function takeAnswer(frame: CallFrame, { parts }: AssistantMessage, continues: boolean): void {
  const last = parts.findLastIndex(({ type }) => type === "server-call" || type === "server-result");
  const after = textOf(parts.slice(last + 1));
  const text = after === "" ? textOf(parts) : after;
  if (continues && (last < 0 || after === "")) frame.partialOutput += text;
  else if (text !== "") frame.partialOutput = text;
}

function textOf(parts: AssistantMessage["parts"]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
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
  call.run.emit(call, { type: "limit", ...ending, message: `${reason} is reached` });
  const output = await readOutput(call.worker.output, frame.partialOutput);
  return { output: output.ok ? output.value : frame.partialOutput, stopReason: "limit", reason };
}

/** A conversation stays one that providers take: every call has a result. */
function unanswered(calls: readonly ToolCallPart[], error: string): Message {
  const result = { ok: false, error: { type: "aborted", error } } as const;
  return { role: "tool", parts: calls.map(({ id, name }) => ({ type: "tool-result", id, name, result })) };
}
