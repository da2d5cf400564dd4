import { isRecord } from "../../protocol/json.ts";
import type { AnswerRepair, Body, EventRepair } from "./answer-repair.ts";
import { describeReported } from "./error-words.ts";

/** OpenAI's chat completions, as the servers that are compatible with them write them. */
export const chatRepair: AnswerRepair = {
  body: (body) => repairChoices(body, "message"),
  events: createEventRepair,
};

function createEventRepair(): EventRepair {
  let finished = false;
  let called = false;
  return {
    event(event) {
      if (event["error"] !== undefined && event["error"] !== null) return repairError(event);
      if (!Array.isArray(event["choices"])) return isRecord(event["usage"]) ? { ...event, choices: [] } : undefined;
      const repaired = repairChoices(event, "delta");
      for (const choice of repaired["choices"] as readonly Body[]) {
        finished ||= typeof choice["finish_reason"] === "string";
        called ||= isRecord(choice["delta"]) && Array.isArray(choice["delta"]["tool_calls"]);
      }
      return repaired;
    },
    // Some servers say by the mark alone that the answer is complete.
    atEnd: () => (finished ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: called ? "tool_calls" : "stop" }] }]),
  };
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
