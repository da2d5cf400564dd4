import { isRecord, recordsIn } from "../../protocol/json.ts";
import { checkCalls } from "./bounds.ts";
import { describeReported } from "./error-words.ts";
import type { AddedText } from "./join-events.ts";
import type { AnswerRepair, Body, EventRepair } from "./repair.ts";

/** Repairs OpenAI's chat completions, as compatible servers write them. */
export const chatRepair: AnswerRepair = {
  body(body) {
    const error = findError(body);
    if (error !== undefined) {
      // Without choices, the library takes the answer for the error that it reports.
      body["error"] = error;
      delete body["choices"];
    } else repairChoices(body, "message");
    for (const choice of recordsIn(body["choices"])) if (isRefused(choice["message"])) markRefused(choice);
  },
  events: createEventRepair,
  asEvents({ choices, ...body }) {
    const deltas = recordsIn(choices).map(({ message, ...choice }) => ({ ...choice, delta: toDelta(message) }));
    return [{ ...body, choices: deltas }];
  },
};

/** A whole message says in the order of its calls what the pieces of a stream say with an index. */
function toDelta(message: unknown): Body {
  if (!isRecord(message)) return {};
  if (!Array.isArray(message["tool_calls"])) return message;
  return { ...message, tool_calls: recordsIn(message["tool_calls"]).map((call, index) => ({ ...call, index })) };
}

function createEventRepair(): EventRepair {
  let finished = false;
  let called = false;
  let refused = false;
  let index: unknown;
  const calls = new Set<unknown>();
  return {
    event(event) {
      const error = findError(event);
      // For the library, a member of this name is an error, whatever it holds; an error needs a message.
      delete event["error"];
      if (error !== undefined) {
        const message = describeReported({ ...event, error }) ?? "an error";
        event["error"] = isRecord(error) ? { ...error, message: asText(error["message"]) ?? message } : { message };
        return true;
      }
      if (!Array.isArray(event["choices"])) {
        event["choices"] = [];
        return isRecord(event["usage"]);
      }
      repairChoices(event, "delta");
      const choices = recordsIn(event["choices"]).filter((choice) => {
        index ??= choice["index"] ?? 0;
        return (choice["index"] ?? index) === index;
      });
      event["choices"] = choices;
      for (const choice of choices) {
        finished ||= typeof choice["finish_reason"] === "string";
        called = addCalls(choice["delta"], calls) || called;
        refused ||= isRefused(choice["delta"]);
        if (refused) markRefused(choice);
      }
      checkCalls(calls.size);
      return true;
    },
    textOf,
    // Some servers report a complete answer by the mark alone.
    atEnd: () => (finished ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: called ? "tool_calls" : "stop" }] }]),
  };
}

/** A text of the answer, of its reasoning, or of the arguments of a call that has begun. */
function textOf({ choices, usage, error }: Body): AddedText | undefined {
  const [choice, another] = recordsIn(choices);
  const delta = choice?.["delta"];
  if (!isRecord(delta) || another || usage || error || choice?.["finish_reason"]) return undefined;
  const [member, more] = saidBy(delta).filter((name) => name !== "role");
  if (member === undefined || more !== undefined) return undefined;
  if (member === "content" || member === "reasoning" || member === "reasoning_content")
    return typeof delta[member] === "string" ? { holder: delta, member, part: choice?.["index"] } : undefined;
  const [call, next] = member === "tool_calls" ? recordsIn(delta[member]) : [];
  const given = call?.["function"];
  if (!call || !isRecord(given) || next || typeof call["index"] !== "number") return undefined;
  const isPiece =
    saidBy(call).every((name) => ["index", "type", "function"].includes(name)) && saidBy(given).join() === "arguments";
  return isPiece ? { holder: given, member: "arguments", part: call["index"] } : undefined;
}

/** The members of a record that hold something. */
function saidBy(record: Body): readonly string[] {
  return Object.keys(record).filter((name) => {
    const value = record[name];
    return (value ?? "") !== "" && !(Array.isArray(value) && value.length === 0);
  });
}

/** Returns the error of an answer: gateways send the text so far together with the error. */
function findError(body: Body): unknown {
  const errors = [body, ...recordsIn(body["choices"])].map((holder) => holder["error"]);
  return errors.find((error) => error !== undefined && error !== null && error !== "" && error !== false);
}

/** Collects the calls that a delta begins. A piece with neither an index nor a name belongs to an earlier call. */
function addCalls(delta: unknown, known: Set<unknown>): boolean {
  if (!isRecord(delta) || !Array.isArray(delta["tool_calls"])) return false;
  for (const call of recordsIn(delta["tool_calls"])) {
    const isNamed = isRecord(call["function"]) && call["function"]["name"];
    if (isNamed || call["index"] !== undefined) known.add(call["index"] ?? call["id"] ?? call);
  }
  return true;
}

function isRefused(message: unknown): boolean {
  return isRecord(message) && typeof message["refusal"] === "string" && message["refusal"] !== "";
}

/** The library reads a refusal with `stop` alone. */
function markRefused(choice: Body): void {
  const { finish_reason: finish, delta } = choice;
  if (finish !== "stop" && (delta === undefined || typeof finish === "string")) choice["finish_reason"] = "content_filter";
}

function repairChoices(body: Body, key: "message" | "delta"): void {
  if (!Array.isArray(body["choices"])) return;
  body["choices"] = recordsIn(body["choices"]);
  for (const { [key]: message } of recordsIn(body["choices"])) if (isRecord(message)) repairMessage(message, key);
}

function repairMessage(message: Body, key: "message" | "delta"): void {
  if (message["role"]) message["role"] = "assistant";
  for (const name of ["reasoning", "reasoning_content"]) {
    if (name in message) message[name] = asText(message[name]) ?? null;
  }
  if (!Array.isArray(message["tool_calls"])) return;
  const calls = recordsIn(message["tool_calls"]);
  message["tool_calls"] = calls;
  for (const call of calls)
    call["function"] = repairFunction(isRecord(call["function"]) ? call["function"] : {}, key === "message");
}

/** In a stream a call comes in pieces, most of which have no name and no id. */
function repairFunction(given: Body, isWhole: boolean): Body {
  const { name, arguments: args } = given;
  if (isWhole && !asText(name)) given["name"] = "unnamed";
  if (asText(args) === undefined && (isWhole || (args ?? null) !== null)) given["arguments"] = JSON.stringify(args ?? {});
  return given;
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
