import { expect, test } from "vitest";
import type { Message, ToolCallPart } from "../../protocol/message.ts";
import type { ModelResponse } from "../model.ts";
import { withSafeCalls } from "./safe-calls.ts";

const usage = { requests: 1, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };

function answer(...calls: readonly (readonly [id: string, name: string])[]): ModelResponse {
  const parts = calls.map(([id, name]): ToolCallPart => ({ type: "tool-call", id, name, args: {} }));
  return { message: { role: "assistant", parts }, usage, finish: "tool-calls" };
}

function callsOf({ message }: ModelResponse): string[] {
  return message.parts.flatMap((part) => (part.type === "tool-call" ? [`${part.id} ${part.name}`] : []));
}

test("ids that are empty, or that another call has, are replaced", () => {
  const earlier: Message[] = [answer(["a", "t"], ["b_2", "t"]).message];
  const response = withSafeCalls(answer(["a", "t"], ["b", "t"], ["b", "t"], ["", "t"], [" ", "t"]), earlier);
  expect(callsOf(response)).toEqual(["a_2 t", "b t", "b_3 t", "call t", "call_2 t"]);
});

test("names that every object has are replaced", () => {
  const response = withSafeCalls(answer(["a", "__proto__"], ["b", "constructor"], ["c", "read_file"]), []);
  expect(callsOf(response)).toEqual(["a unknown___proto__", "b unknown_constructor", "c read_file"]);
});

test("an answer that needs nothing stays the same object", () => {
  const response = answer(["a", "t"]);
  expect(withSafeCalls(response, [answer(["b", "t"]).message])).toBe(response);
});
