import type { JsonValue } from "../protocol/json.ts";
import type { AssistantMessage, Message, ToolCallPart } from "../protocol/message.ts";
import { renderIssues, type Schema } from "../schema/schema.ts";
import { toolFailure } from "../toolsets/toolset.ts";
import { errorMessage } from "../util/error-message.ts";
import type { CallConfig, CallEnd, CallFrame } from "./config.ts";
import { reportServerParts } from "./report-server-parts.ts";
import { requestModel } from "./request-model.ts";
import { answerToolCalls } from "./tool-call.ts";

/*
 * Terminology. A *call* is one invocation of a worker; this loop runs one. A *turn* is one model response and the results
 * of the tool calls that it asked for. The loop goes on while there are tool calls, whatever the finish reason says, and
 * where a provider paused in the midst of its own work. The
 * *last turn* is the one that the `turns` limit allows last: the model is told to finish with what it has.
 */

const lastTurnNote =
  "The limit of turns is reached. Give your final answer now, with what you have; no further tool call will run.";

/** How often an answer that does not fit the output schema is handed back. */
const repairTurns = 1;

export async function runAgentLoop(call: CallConfig, frame: CallFrame): Promise<CallEnd> {
  let repairs = 0;
  for (const message of frame.messages) publish(call, message);
  for (;;) {
    const isLast = frame.turn + 1 >= call.maxTurns;
    if (isLast && frame.turn > 0) add(call, frame, { role: "user", parts: [{ type: "text", text: lastTurnNote }] });
    const calls = await takeTurn(call, frame);
    if (isLast && calls.length > 0) add(call, frame, unanswered(calls, "the limit of turns is reached"));
    if (isLast && (calls.length > 0 || frame.turn > 1)) return endAtTurnLimit(call, frame);
    if (calls.length > 0) {
      await answerCalls(call, frame, calls);
      continue;
    }
    if (frame.paused && !isLast) continue;
    const output = await readOutput(call.worker.output, frame.partialOutput);
    if (output.ok) return { output: output.value, stopReason: "done" };
    if (isLast) return endAtTurnLimit(call, frame);
    if (repairs++ >= repairTurns)
      throw toolFailure(
        "output_invalid",
        `\`${call.worker.name}\` gave an output that does not fit its schema: ${output.problem}`,
      );
    add(call, frame, {
      role: "user",
      parts: [
        {
          type: "text",
          text: `Your answer does not fit the output schema: ${output.problem}. Answer again with JSON that fits it, and nothing else.`,
        },
      ],
    });
  }
}

/** One model response; the tool calls that it asks for. */
async function takeTurn(call: CallConfig, frame: CallFrame): Promise<readonly ToolCallPart[]> {
  const turn = frame.turn + 1;
  call.run.emit(call, { type: "turn-start", turn, model: call.model.id });
  const { message, usage, finish } = await requestModel(call, frame);
  frame.turn = turn;
  add(call, frame, message);
  const text = textOf(message);
  if (frame.paused) frame.partialOutput += text;
  else if (text !== "") frame.partialOutput = text;
  frame.paused = finish === "paused";
  reportServerParts(call, frame, message);
  call.run.emit(call, { type: "turn-end", turn, usage, text });
  call.run.emit(call, { type: "usage", usage: call.run.meter.of(call.callPath) });
  return message.parts.filter((part) => part.type === "tool-call");
}

async function answerCalls(call: CallConfig, frame: CallFrame, calls: readonly ToolCallPart[]): Promise<void> {
  try {
    add(call, frame, { role: "tool", parts: await answerToolCalls(call, frame, calls) });
  } catch (thrown) {
    add(call, frame, unanswered(calls, errorMessage(thrown)));
    throw thrown;
  }
}

function textOf(message: AssistantMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
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

async function endAtTurnLimit(call: CallConfig, frame: CallFrame): Promise<CallEnd> {
  const reason = `the limit of ${call.maxTurns} turns`;
  call.run.emit(call, { type: "limit", limit: "turns", allowed: call.maxTurns, message: `${reason} is reached` });
  const output = await readOutput(call.worker.output, frame.partialOutput);
  return { output: output.ok ? output.value : frame.partialOutput, stopReason: "limit", reason };
}

/** A conversation stays one that providers take: every call has a result. */
function unanswered(calls: readonly ToolCallPart[], error: string): Message {
  const result = { ok: false, error: { type: "aborted", error } } as const;
  return { role: "tool", parts: calls.map(({ id, name }) => ({ type: "tool-result", id, name, result })) };
}

/** Without a regular expression: models write long runs of blanks, and a search that backtracks takes minutes there. */
function unfenced(text: string): string {
  if (!text.startsWith("```") || !text.endsWith("```") || text.length < 6) return text;
  const inner = text.slice(3, -3);
  return inner.startsWith("json") ? inner.slice(4) : inner;
}

type ReadOutput = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: string };

/** Text as it is, or JSON (also inside a code fence) that fits the schema. */
async function readOutput(schema: Schema | undefined, text: string): Promise<ReadOutput> {
  if (!schema) return { ok: true, value: text };
  let value: unknown;
  try {
    value = JSON.parse(unfenced(text.trim()));
  } catch {
    return { ok: false, problem: "it is not JSON" };
  }
  const checked = await schema.validate(value);
  return checked.ok ? { ok: true, value: checked.value as JsonValue } : { ok: false, problem: renderIssues(checked.issues) };
}
