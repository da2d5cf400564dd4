import { isRecord } from "../../protocol/json.ts";
import type { AnswerRepair, Body, EventRepair } from "./answer-repair.ts";
import { checkCalls } from "./bounds.ts";
import { describeReported } from "./error-words.ts";

/** OpenAI's chat completions, as the servers that are compatible with them write them. */
export const chatRepair: AnswerRepair = {
  body(body) {
    const error = findError(body);
    // Without choices, the answer is the error that it reports.
    if (error !== undefined) return { ...(body["usage"] === undefined ? {} : { usage: body["usage"] }), error };
    const repaired = repairChoices(body, "message");
    const [choice] = Array.isArray(repaired["choices"]) ? (repaired["choices"] as readonly Body[]) : [];
    return choice && isRefused(choice["message"]) ? { ...repaired, choices: [withRefusal(choice)] } : repaired;
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
      if (error !== undefined) return repairError({ ...event, error });
      if (!Array.isArray(event["choices"])) return isRecord(event["usage"]) ? { ...event, choices: [] } : undefined;
      const repaired = repairChoices(event, "delta");
      const all = repaired["choices"] as readonly Body[];
      const own = all.filter((choice) => {
        index ??= choice["index"] ?? 0;
        return (choice["index"] ?? index) === index;
      });
      for (const choice of own) {
        finished ||= typeof choice["finish_reason"] === "string";
        called ||= addCalls(choice["delta"], calls);
        refused ||= isRefused(choice["delta"]);
      }
      checkCalls(calls.size);
      const choices = refused ? own.map(withRefusal) : own;
      const isSame = choices.length === all.length && choices.every((choice, at) => choice === all[at]);
      // For the library, a member of this name is an error, whatever it holds.
      if ("error" in repaired) return { ...withoutError(repaired), choices };
      return isSame ? repaired : { ...repaired, choices };
    },
    // Some servers say by the mark alone that the answer is complete.
    atEnd: () => (finished ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: called ? "tool_calls" : "stop" }] }]),
  };
}

/** What a server reports beside an answer or in it: gateways give what they have got so far together with the error. */
function findError(body: Body): unknown {
  const choices = Array.isArray(body["choices"]) ? body["choices"] : [];
  const errors = [body, ...choices].map((holder: unknown) => (isRecord(holder) ? holder["error"] : undefined));
  return errors.find((error) => error !== undefined && error !== null && error !== "" && error !== false);
}

/** A piece that says neither which call it belongs to nor its name belongs to one that is there. */
function addCalls(delta: unknown, known: Set<unknown>): boolean {
  const calls = isRecord(delta) ? delta["tool_calls"] : undefined;
  if (!Array.isArray(calls)) return false;
  for (const call of calls.filter(isRecord)) {
    const isNamed = isRecord(call["function"]) && call["function"]["name"];
    if (isNamed || call["index"] !== undefined) known.add(call["index"] ?? call["id"] ?? call);
  }
  return true;
}

function isRefused(message: unknown): boolean {
  return isRecord(message) && typeof message["refusal"] === "string" && message["refusal"] !== "";
}

function withoutError({ error: _, ...event }: Body): Body {
  return event;
}

/** The library knows a refusal by `stop` alone. */
function withRefusal(choice: Body): Body {
  const { finish_reason: finish, delta } = choice;
  if (finish === "stop" || (delta !== undefined && typeof finish !== "string")) return choice;
  return { ...choice, finish_reason: "content_filter" };
}

/** The library takes an error with a message only. */
function repairError(event: Body): Body {
  const { error } = event;
  if (isRecord(error) && typeof error["message"] === "string") return event;
  return { ...event, error: { ...(isRecord(error) ? error : {}), message: describeReported(event) ?? "an error" } };
}

function repairChoices(body: Body, key: "message" | "delta"): Body {
  const { choices } = body;
  if (!Array.isArray(choices)) return body;
  const repaired = choices.filter(isRecord).map((choice) => {
    const message = choice[key];
    const better = isRecord(message) ? repairMessage(message, key) : message;
    return better === message ? choice : { ...choice, [key]: better };
  });
  return repaired.length === choices.length && repaired.every((choice, index) => choice === choices[index])
    ? body
    : { ...body, choices: repaired };
}

function repairMessage(message: Body, key: "message" | "delta"): Body {
  const changes: Record<string, unknown> = {};
  const { role, tool_calls: calls } = message;
  if (role !== undefined && role !== null && role !== "assistant" && role !== "") changes["role"] = "assistant";
  for (const name of ["reasoning", "reasoning_content"]) {
    if (typeof (message[name] ?? "") !== "string") changes[name] = null;
  }
  if (Array.isArray(calls)) {
    const repaired = calls.flatMap((call: unknown) => (isRecord(call) ? [repairCall(call, key)] : []));
    if (repaired.length !== calls.length || repaired.some((call, index) => call !== calls[index])) {
      changes["tool_calls"] = repaired;
    }
  }
  return Object.keys(changes).length === 0 ? message : { ...message, ...changes };
}

/** In a stream a call comes in pieces, of which most have no name and no id. */
function repairCall(call: Body, key: "message" | "delta"): Body {
  const given = isRecord(call["function"]) ? call["function"] : {};
  const changes: Record<string, unknown> = {};
  const isWhole = key === "message";
  if (isWhole && (typeof given["name"] !== "string" || given["name"] === "")) changes["name"] = "unnamed";
  const { arguments: args } = given;
  if (typeof args !== "string" && (isWhole || (args !== undefined && args !== null))) {
    changes["arguments"] = JSON.stringify(args ?? {});
  }
  return given === call["function"] && Object.keys(changes).length === 0 ? call : { ...call, function: { ...given, ...changes } };
}
