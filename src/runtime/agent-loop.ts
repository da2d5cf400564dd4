import type { ReachedLimit } from "../effects/effects.ts";
import { modelKey } from "../effects/keys.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { AssistantMessage } from "../protocol/message.ts";
import { toolFailure } from "../toolsets/toolset.ts";
import { announceLastTurn } from "./bounds/last-turn.ts";
import type { CallConfig, CallEnd, CallFrame } from "./config.ts";
import { addMessage, addUnanswered, addUserText, publishMessage } from "./conversation.ts";
import type { BoundedResponse } from "./model-effect.ts";
import { requestModel } from "./request-model.ts";
import { readOutput } from "./results/read-output.ts";
import { reportServerParts } from "./results/report-server-parts.ts";
import { describeLimit } from "./run-error.ts";
import { answerToolCalls } from "./tool-call.ts";
import { outcomeOf, type TurnOutcome, textOf } from "./turn-outcome.ts";

/*
 * Terminology. A *call* is one invocation of a worker; this loop runs one. A *turn* is one model response and the results of the tool
 * calls that it asks for. Its *outcome* (`turn-outcome.ts`) decides how the call goes on. The *last turn* is the one that a limit allows
 * last: the model is told to finish with what it has. What it takes of limited tokens and dollars is set aside from the start.
 */

/** How often an answer that is empty, or does not fit the output schema, is asked for again. */
const repairTurns = 1;

/** Takes turns until an outcome ends the call. */
export async function runTurns(call: CallConfig, frame: CallFrame): Promise<CallEnd> {
  for (const message of frame.messages.slice(frame.earlier)) publishMessage(call, message);
  let previous: TurnOutcome | undefined;
  for (let repairs = 0; ; ) {
    if (frame.turn + 1 >= call.maxTurns && !wasTaken(call, frame))
      announceLastTurn(call, frame, { limit: "turns", allowed: call.maxTurns });
    call.run.emit(call, { type: "turn-start", turn: frame.turn + 1, model: call.model.id });
    const response = await requestModel(call, frame);
    const outcome = takeResponse(call, frame, { response, previous });
    if (outcome.type === "refused") throw toolFailure("refused", `\`${call.worker.name}\`: ${call.model.id} ${outcome.reason}`);
    if (frame.lastTurn) return endLastTurn(call, frame, { reached: frame.lastTurn, outcome });
    switch (outcome.type) {
      case "calls":
        await answerToolCalls(call, frame, outcome.calls);
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
        if (repairs++ >= repairTurns) throw toolFailure("output_invalid", `\`${call.worker.name}\` gave ${output.problem}`);
        addUserText(call, frame, output.repair);
      }
    }
    previous = outcome;
  }
}

/** Returns whether an earlier attempt of the run took the next turn, under a larger limit: what it did has happened. */
function wasTaken({ run, callPath }: CallConfig, { turn }: CallFrame): boolean {
  return run.effects.recall("result", { callPath, key: modelKey(turn + 1, 1, false) }) !== undefined;
}

interface Turn {
  readonly response: BoundedResponse;
  readonly previous: TurnOutcome | undefined;
}

/** Adds a response to the conversation and emits it. Returns what it comes to. */
function takeResponse(call: CallConfig, frame: CallFrame, { response, previous }: Turn): TurnOutcome {
  const { message, usage, finish, finishReason } = response;
  const turn = ++frame.turn;
  const outcome = outcomeOf(response, takeAnswer(frame, message, previous?.type === "paused"));
  // Providers refuse a conversation with a message that says nothing.
  if (outcome.type !== "empty" || message.parts.some(({ type }) => type !== "text" && type !== "reasoning"))
    addMessage(call, frame, message);
  reportServerParts(call, frame, message);
  const how = { finish, ...(finishReason === undefined ? {} : { finishReason }) };
  call.run.emit(call, { type: "turn-end", turn, usage, text: textOf(message.parts), ...how });
  call.run.emit(call, { type: "usage", usage: call.run.effects.state.usageOf(call.callPath) });
  return outcome;
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
  readonly reached: ReachedLimit;
  readonly outcome: TurnOutcome;
}

/** A limit that left room for one turn alone is not reported where that turn gave the answer. */
async function endLastTurn(call: CallConfig, frame: CallFrame, { reached, outcome }: LastTurn): Promise<CallEnd> {
  if (outcome.type === "cut" && frame.turn === 1) return endCut(call, frame, outcome);
  const error = `${describeLimit(reached)} is reached`;
  if (outcome.type === "calls" || outcome.type === "cut") addUnanswered(call, frame, { calls: outcome.calls, error });
  if (outcome.type === "answer" && frame.turn === 1) {
    const output = await readOutput(call.worker.output, frame.partialOutput);
    if (output.ok) return { output: output.value, stopReason: "done" };
  }
  return endAtLimit(call, frame, reached);
}

type Cut = Extract<TurnOutcome, { type: "cut" }>;

/** An answer that used up its share of a limit ends the call like that limit; any other was cut by a bound on answers. */
async function endCut(call: CallConfig, frame: CallFrame, { bound, calls, reason }: Cut): Promise<CallEnd> {
  addUnanswered(call, frame, { calls, error: reason, type: "cut" });
  if (bound.type === "limit") return endAtLimit(call, frame, bound);
  return { output: await partialOutput(call, frame), stopReason: "cut", reason };
}

/** Gives the model a turn to make its calls again, in shorter answers; the last turn where a limit cut this one. */
function refuseCutCalls(call: CallConfig, frame: CallFrame, { bound, calls, reason, hint }: Cut): void {
  call.run.emit(call, { type: "warning", message: `none of the calls of an answer that was cut off ran: ${reason}` });
  const error = `your answer was cut off, so this call may be incomplete and did not run: ${reason}`;
  addUnanswered(call, frame, { calls, error, type: "cut", hint });
  if (bound.type === "limit") announceLastTurn(call, frame, bound);
}

async function endAtLimit(call: CallConfig, frame: CallFrame, { limit, allowed }: ReachedLimit): Promise<CallEnd> {
  const reason = describeLimit({ limit, allowed });
  call.run.emit(call, { type: "limit", limit, allowed, message: `${reason} is reached` });
  return { output: await partialOutput(call, frame), stopReason: "limit", reason };
}

/** Returns the partial output: a value if it fits the output schema, text otherwise. */
async function partialOutput(call: CallConfig, frame: CallFrame): Promise<JsonValue> {
  const output = await readOutput(call.worker.output, frame.partialOutput);
  return output.ok ? output.value : frame.partialOutput;
}
