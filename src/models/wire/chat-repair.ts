import { isRecord, recordsIn } from "../../protocol/json.ts";
import { checkCalls } from "./bounds.ts";
import { describeReported } from "./error-words.ts";
import { count, list, type Members, oneOf, or, parts, record, text, unread } from "./fit.ts";
import type { AddedText } from "./join-events.ts";
import type { AnswerRepair, Body, EventRepair } from "./repair.ts";

const cachedOrNot = record({ cached_tokens: count, cache_write_tokens: count, audio_tokens: count });
const usage = record({
  ...{ prompt_tokens: or(count, 0), completion_tokens: or(count, 0), total_tokens: or(count, 0) },
  ...{ prompt_tokens_details: cachedOrNot, completion_tokens_details: record({ reasoning_tokens: count, audio_tokens: count }) },
  reasoning_tokens: count,
  citation_tokens: count,
  num_search_queries: count,
  search_context_size: oneOf("low", "medium", "high"),
  cost: fitCost,
});
const noUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
const sizes = { height: or(count, 0), width: or(count, 0) };

/** Members beside the choices. Some of the libraries that read this format require what others do not know. */
const about: Members = {
  ...{ id: or(text, "answer"), created: or(count, 0), model: or(text, ""), system_fingerprint: text, service_tier: text },
  citations: list(text),
  images: list(record({ image_url: text, origin_url: or(text, ""), ...sizes }, ["image_url"])),
  x_groq: record({ usage }),
};
/** A server that sends no reason where the answer goes on sends an empty one. */
const finish = (reason: unknown) => reason || null;
const choice: Members = { index: count, logprobs: unread, finish_reason: finish };
const isKind = or(oneOf("function"), "function");
const message = record({
  role: or(oneOf("assistant"), "assistant"),
  tool_calls: parts(record({ id: or(text, ""), type: isKind })),
});
/** A piece of a call. The first one has a name. */
const piece = (value: unknown) => {
  if (!isRecord(value) || !["id", "index", "function"].some((name) => (value[name] ?? undefined) !== undefined)) return undefined;
  const isNamed = isRecord(value["function"]) && value["function"]["name"];
  return record({
    id: text,
    index: count,
    type: (kind) => (isNamed || (kind ?? undefined) !== undefined ? "function" : undefined),
  })(value);
};
const delta = record({ role: oneOf("assistant"), tool_calls: parts(piece) });

const body = record({
  ...about,
  object: or(oneOf("chat.completion"), "chat.completion"),
  choices: parts(record({ ...choice, index: or(count, 0), message })),
  usage: or(usage, noUsage),
});
const event = record({ ...about, object: text, choices: parts(record({ ...choice, delta: or(delta, {}) })), usage });

/** A sum of dollars, or a record of them. */
function fitCost(cost: unknown): unknown {
  if (!isRecord(cost)) return count(cost);
  for (const name of Object.keys(cost)) if (typeof cost[name] !== "number") delete cost[name];
  return cost;
}

/** Repairs OpenAI's chat completions, as compatible servers write them. */
export const chatRepair: AnswerRepair = {
  body(given) {
    const error = findError(given);
    if (error !== undefined) {
      // Without choices, the library takes the answer for the error that it reports.
      given["error"] = error;
      delete given["choices"];
      return;
    }
    body(given);
    // The library reads the first one, and checks all.
    given["choices"] = recordsIn(given["choices"]).filter((one, at) => at === 0 || isRecord(one["message"]));
    repairChoices(given, "message");
    for (const one of recordsIn(given["choices"])) if (isRefused(one["message"])) markRefused(one);
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
    event(given) {
      const error = findError(given);
      // For the library, a member of this name is an error, whatever it holds; an error needs a message.
      delete given["error"];
      if (error !== undefined) {
        const message = describeReported({ ...given, error }) ?? "an error";
        given["error"] = isRecord(error) ? { ...error, message: asText(error["message"]) ?? message } : { message };
        return true;
      }
      if (!Array.isArray(given["choices"])) {
        if (!isRecord(given["usage"])) return false;
        given["choices"] = [];
      }
      event(given);
      repairChoices(given, "delta");
      const choices = recordsIn(given["choices"]).filter((choice) => {
        index ??= choice["index"] ?? 0;
        return (choice["index"] ?? index) === index;
      });
      // Some of the libraries look at the first choice of each event.
      given["choices"] = choices.length > 0 ? choices : [{ index: index ?? 0, delta: {} }];
      for (const choice of choices) {
        choice["index"] = index;
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
function findError(answer: Body): unknown {
  const errors = [answer, ...recordsIn(answer["choices"])].map((holder) => holder["error"]);
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

function repairChoices(answer: Body, key: "message" | "delta"): void {
  for (const { [key]: said } of recordsIn(answer["choices"])) if (isRecord(said)) repairMessage(said, key);
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
