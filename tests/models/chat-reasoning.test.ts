import { expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import type { AssistantMessage } from "../../src/protocol/message.ts";
import { answerCalls, generate, readFile, request, user } from "./fixtures.ts";
import { sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";

const call = { id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a"}' } };

interface Answer {
  readonly whole: object;
  readonly pieces: readonly object[];
}

/** What a second request sends back of an answer that thought and then called a tool, without and with streaming. */
async function sentBack({ whole, pieces }: Answer): Promise<unknown[]> {
  const sent: unknown[] = [];
  for (const streaming of [false, true]) {
    await using server = await startServer((response) => {
      const facts = { id: "c", created: 1, model: "m" };
      const message = { role: "assistant", content: null, tool_calls: [call], ...whole };
      if (!streaming) return sendJson(response, { ...facts, choices: [{ index: 0, finish_reason: "tool_calls", message }] });
      const deltas = [...pieces, { tool_calls: [{ index: 0, ...call }] }];
      const chunks = deltas.map((delta) => ({ ...facts, choices: [{ index: 0, delta, finish_reason: null }] }));
      const end = { ...facts, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };
      sendEvents(response, [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), `data: ${JSON.stringify(end)}\n\n`]);
    });
    const variables = { OPENROUTER_BASE_URL: `${server.url}/v1`, OPENROUTER_BASE_URL_KEY: "x" };
    const model = await createModelResolver(testEnvironment(variables))("openrouter:google/gemini-3");
    const first = request([user("Hi")], { tools: [readFile] });
    const { response } = await generate(model, first, streaming);
    // As a journal gives it back.
    const message = JSON.parse(JSON.stringify(response.message)) as AssistantMessage;
    await generate(model, { ...first, messages: [...first.messages, message, answerCalls(message)] }, streaming);
    const { role: _, tool_calls: calls, ...members } = server.requests[1]?.body.messages[1] ?? {};
    expect(calls).toEqual([call]);
    sent.push(members);
  }
  return sent;
}

function both(expected: object): object[] {
  return [expected, expected];
}

test.each(["reasoning", "reasoning_content"])("goes back as %s, as it came", async (name) => {
  const sent = await sentBack({ whole: { [name]: "I ask." }, pieces: [{ [name]: "I " }, { [name]: "ask." }] });
  expect(sent).toEqual(both({ content: null, [name]: "I ask." }));
});

test("details go back with their signatures, pieces of a stream put together", async () => {
  const text = { type: "reasoning.text", index: 0, format: "anthropic-claude-v1" };
  const encrypted = { type: "reasoning.encrypted", data: "EjQK", id: "call_1", format: "google-gemini-v1", index: 1 };
  const whole = { reasoning: "I ask.", reasoning_details: [{ ...text, text: "I ask.", signature: "c2ln" }, encrypted] };
  const pieces = [
    { reasoning: "I ", reasoning_details: [{ ...text, text: "I " }] },
    { reasoning: "ask.", reasoning_details: [{ ...text, text: "ask.", signature: null }] },
    { reasoning_details: [{ ...text, signature: "c2ln" }] },
    { reasoning_details: [encrypted] },
  ];
  expect(await sentBack({ whole, pieces })).toEqual(both({ content: null, ...whole }));
});

test("encrypted details go back without any text of the reasoning", async () => {
  const details = { reasoning_details: [{ type: "reasoning.encrypted", data: "EjQK", id: "call_1", index: 0 }] };
  expect(await sentBack({ whole: details, pieces: [details] })).toEqual(both({ content: null, ...details }));
});

test("blocks of the content go back as blocks", async () => {
  const thinking = { type: "thinking", thinking: [{ type: "text", text: "I ask." }] };
  const whole = { content: [thinking, { type: "text", text: "Well." }] };
  const pieces = [{ content: [thinking] }, { content: "Well." }];
  expect(await sentBack({ whole, pieces })).toEqual(both(whole));
});

test("an answer without reasoning goes back without it", async () => {
  expect(await sentBack({ whole: { content: "Well." }, pieces: [{ content: "Well." }] })).toEqual(both({ content: "Well." }));
});
