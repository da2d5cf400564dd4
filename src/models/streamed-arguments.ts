import type { LanguageModelV4Content } from "@ai-sdk/provider";
import { isRecord } from "../protocol/json.ts";
import { AnswerRefusal } from "./wire/bounds.ts";

/**
 * Counts the characters of arguments in a stream of chat completions. The library drops pieces that it cannot assign to a
 * call, and the call would run with what is left.
 */
export class StreamedArguments {
  #characters = 0;

  add(event: unknown): void {
    const [choice] = isRecord(event) && Array.isArray(event["choices"]) ? event["choices"] : [];
    const delta = isRecord(choice) ? choice["delta"] : undefined;
    const calls = isRecord(delta) && Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
    for (const call of calls) {
      const given = isRecord(call) && isRecord(call["function"]) ? call["function"]["arguments"] : undefined;
      if (typeof given === "string") this.#characters += given.length;
    }
  }

  /** Throws an `AnswerRefusal` where a piece is missing. */
  checkAllIn(content: readonly LanguageModelV4Content[]): void {
    const kept = content.reduce((sum, part) => sum + (part.type === "tool-call" ? part.input.length : 0), 0);
    if (kept >= this.#characters) return;
    throw new AnswerRefusal("bad_response", "a piece of the arguments belongs to none of the calls");
  }
}
