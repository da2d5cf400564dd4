import { isRecord, recordsIn } from "../../protocol/json.ts";
import { checkCalls } from "./bounds.ts";
import { describeReported } from "./error-words.ts";
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
};

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
    // Some servers report a complete answer by the mark alone.
    atEnd: () => (finished ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: called ? "tool_calls" : "stop" }] }]),
  };
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
