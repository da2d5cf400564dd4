import { expect, test } from "vitest";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { toModelResponse } from "./library-answer.ts";

const usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 3, text: undefined, reasoning: 2 },
};
const finishReason = { unified: "stop", raw: "stop" } as const;

test("blank arguments are none, a key twice is malformed, what the provider did itself is no call of ours", () => {
  const call = { type: "tool-call", toolCallId: "x", toolName: "t" } as const;
  const content = [
    { ...call, input: "" },
    { ...call, input: '{"a":{"b":1},"c":"\\"b\\":"}' },
    { ...call, input: '{"a":{"b":1,"b":2}}' },
    { ...call, toolCallId: "own", input: "{}", providerExecuted: true },
    { type: "text", text: "" } as const,
    { type: "reasoning", text: "" } as const,
    { type: "reasoning", text: "", providerMetadata: { p: { signature: "s", nothing: undefined } } } as never,
  ];
  const { message } = toModelResponse({ content, finishReason, usage, warnings: [] });
  expect(message.parts).toEqual([
    { type: "tool-call", id: "x", name: "t", args: {} },
    { type: "tool-call", id: "x", name: "t", args: { a: { b: 1 }, c: '"b":' } },
    { type: "tool-call", id: "x", name: "t", args: null, invalidArgs: '{"a":{"b":1,"b":2}}' },
    { type: "server-call", id: "own", name: "t", args: {} },
    { type: "reasoning", text: "", providerData: { p: { signature: "s" } } },
  ]);
  const called = message.parts.filter(({ type }) => type === "tool-call" || type === "server-call");
  expect(JSON.stringify(called)).toBe(canonicalJson(called));
});

test("usage that is not reported stays unknown", () => {
  const response = toModelResponse({ content: [], finishReason, usage, warnings: [] });
  expect(response.usage).toEqual({ requests: 1, outputTokens: 3, reasoningTokens: 2 });
});
