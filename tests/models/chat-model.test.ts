import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from "@ai-sdk/provider";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openaiCompatibleProvider } from "../../src/models/openai-compatible.ts";
import { toPrompt } from "../../src/models/to-prompt.ts";
import { openChatModel } from "../../src/models/wire/chat-model.ts";
import { chatRepair } from "../../src/models/wire/chat-repair.ts";
import { createWire } from "../../src/models/wire/create-wire-fetch.ts";
import type { JsonValue } from "../../src/protocol/json.ts";
import type { AssistantMessage, Message, ToolMessage, UserMessage } from "../../src/protocol/message.ts";
import { testEnvironment } from "./local-server.ts";

const create = (fetch: typeof globalThis.fetch) =>
  createOpenAICompatible({ name: "openaiCompatible", baseURL: "http://test/v1", apiKey: "k", includeUsage: true, fetch })("m");

const open = (fetch: typeof globalThis.fetch) =>
  openChatModel(
    { name: "m", baseURL: "http://test/v1", apiKey: "k", ...createWire(fetch, chatRepair) },
    { provider: "openaiCompatible", includeUsage: true },
  );

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A `fetch` that notes what is sent, and answers. */
function recorder(answer: () => Response): { readonly sent: Sent[]; readonly fetch: typeof globalThis.fetch } {
  const sent: Sent[] = [];
  return {
    sent,
    fetch: async (url, init = {}) => {
      sent.push({ url: String(url), init });
      return answer();
    },
  };
}

const done = { choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }] };
const whole = (body: object = done) => Response.json(body);
const stream = () => new Response("data: [DONE]\n\n", { headers: { "content-type": "text/event-stream" } });

const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom('"messages":[]', "\ud800", "\u2028", "\\", "__proto__"));
const json = fc.jsonValue({ depthSize: "small", noUnicodeString: false }) as fc.Arbitrary<JsonValue>;
const id = fc.string({ minLength: 1, maxLength: 4 });
const reasoning = fc.constantFrom(
  undefined,
  { chatReasoning: { name: "reasoning" } },
  { chatReasoning: { details: [{ 2: "b", 1: "a" }] } },
);
const file = { type: "file", name: "a.png", mediaType: "image/png", data: "iVBORw0KGgo=", sha256: "0", bytes: 8 } as const;

const user: fc.Arbitrary<UserMessage> = fc
  .array(
    fc.oneof(
      text.map((one) => ({ type: "text", text: one }) as const),
      fc.constant(file),
    ),
    { maxLength: 3 },
  )
  .map((parts) => ({ role: "user", parts }));
const assistant = fc
  .array(
    fc.oneof(
      text.map((one) => ({ type: "text", text: one }) as const),
      fc.record({ type: fc.constant("tool-call"), id, name: id, args: json }),
      fc
        .record({ text, providerData: reasoning })
        .map(({ text: said, providerData }) => ({ type: "reasoning", text: said, ...(providerData ? { providerData } : {}) })),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => ({ role: "assistant", parts }) as AssistantMessage);
const tool = fc
  .array(fc.record({ type: fc.constant("tool-result"), id, name: id, result: json.map((value) => ({ ok: true, value })) }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => ({ role: "tool", parts }) as ToolMessage);
const conversation = fc.array(fc.oneof(user, assistant, tool), { minLength: 1, maxLength: 8 });

/** Settings that the library writes before and after the messages. */
const settings: fc.Arbitrary<Omit<LanguageModelV4CallOptions, "prompt">> = fc.constantFrom(
  {},
  {
    temperature: 0.5,
    maxOutputTokens: 10,
    providerOptions: { openaiCompatible: { user: "u", messages: 1, 7: "seven", extra: { messages: [] } } },
  },
  { responseFormat: { type: "json", schema: { type: "object", default: { messages: [] } } } },
  { tools: [{ type: "function", name: "t", description: "d", inputSchema: { type: "object" } }], toolChoice: { type: "auto" } },
);

test("sends what the library would send, byte for byte, in each turn of a conversation that grows", async () => {
  const some = fc.array(settings, { minLength: 1, maxLength: 3 });
  const steps = fc.integer({ min: 1, max: 3 });
  const property = fc.asyncProperty(
    conversation,
    some,
    fc.boolean(),
    steps,
    async (messages: Message[], given, streams, step) => {
      const answer = () => (streams ? stream() : whole());
      const [plain, ours] = [recorder(answer), recorder(answer)];
      const library = create(plain.fetch);
      const model = await open(ours.fetch);
      const system = ["", "Be kind."];
      for (let length = 1; length <= messages.length; length += step) {
        const options = {
          ...given[length % given.length],
          prompt: toPrompt(system, messages.slice(0, length)),
          abortSignal: new AbortController().signal,
        };
        if (streams) await Promise.all([library.doStream(options), model.doStream(options)]);
        else await Promise.all([library.doGenerate(options), model.doGenerate(options)]);
      }
      expect(ours.sent.map(({ url, init }) => [url, init.method, init.body])).toEqual(
        plain.sent.map(({ url, init }) => [url, init.method, init.body]),
      );
      expect(ours.sent.map(({ init }) => init.headers)).toEqual(plain.sent.map(({ init }) => init.headers));
    },
  );
  await fc.assert(property, { seed: 7, numRuns: 40 });
});

test.each([
  ["an answer", whole()],
  ["usage, reasoning and calls", whole({ ...done, usage: { prompt_tokens: 1, completion_tokens: 2 }, model: "m2" })],
  ["an answer without choices", whole({ choices: [] })],
  ["an answer of another form", whole({ choices: [{ message: { content: 7 } }] })],
  ["an answer that sets a prototype", new Response('{"choices":[],"__proto__":{"a":1}}')],
  ["an answer that sets a prototype in escapes", new Response('{"choices":[],"\\u005f_proto__":{"a":1}}')],
  ["text", new Response("<html>")],
  ["nothing", new Response("")],
  ["a failure", Response.json({ error: { message: "no" } }, { status: 429, headers: { "retry-after": "7" } })],
  ["a redirect", new Response("", { status: 302, headers: { location: "http://other/" } })],
])("gives %s as the library does", async (_name, response) => {
  const options = () => ({ prompt: toPrompt(["s"], []), abortSignal: new AbortController().signal });
  const reported = (promise: PromiseLike<LanguageModelV4GenerateResult>) =>
    Promise.resolve(promise).then(
      ({ content, finishReason, usage, warnings, providerMetadata }) => ({
        ...{ content, finishReason, usage, warnings, providerMetadata },
      }),
      ({ name, message, statusCode, responseBody, isRetryable, responseHeaders }) => ({
        ...{ name, message, statusCode, responseBody, isRetryable, responseHeaders },
      }),
    );
  const answer = recorder(() => response.clone());
  const { fetch } = createWire(answer.fetch, chatRepair);
  const ours = await open(answer.fetch);
  expect(await reported(ours.doGenerate(options()))).toEqual(await reported(create(fetch).doGenerate(options())));
  expect(answer.sent).toHaveLength(2);
});

test("sends nothing but what is asked for where the first requests of a model are made at once", async () => {
  const { sent, fetch } = recorder(() => whole());
  const model = await open(fetch);
  const prompts = ["a", "b", "c"].map((content) => toPrompt([content], []));
  await Promise.all(prompts.map((prompt) => model.doGenerate({ prompt, abortSignal: new AbortController().signal })));
  expect(sent.map(({ init }) => JSON.parse(String(init.body)).messages[0].content)).toEqual(["a", "b", "c"]);
});

test("makes a model once for all runs with the same address, key and `fetch`, and of each name", async () => {
  const { fetch } = recorder(() => whole());
  const environment = (variables: Record<string, string>, own = fetch) => ({ ...testEnvironment(variables), fetch: own });
  const given = { OPENAI_COMPATIBLE_BASE_URL: "http://a/v1", OPENAI_COMPATIBLE_BASE_URL_KEY: "one" };
  const create = (name: string, variables = given, own = fetch) =>
    openaiCompatibleProvider.create(name, environment(variables, own));
  const first = await create("m");
  expect(await create("m")).toBe(first);
  const others = [
    await create("n"),
    await create("m", { ...given, OPENAI_COMPATIBLE_BASE_URL_KEY: "two" }),
    await create("m", { ...given, OPENAI_COMPATIBLE_BASE_URL: "http://b/v1" }),
    await create("m", given, recorder(() => whole()).fetch),
    await create("m"),
  ];
  expect(new Set([first, ...others]).size).toBe(6);
  for (let count = 0; count < 8; count++) await create(`other ${count}`);
  expect(others).not.toContain(await create("m"));
});

test.each([
  ["it last", '{"a":1,"stream":true}', true],
  ["it alone", '{"stream":true}', true],
  ["it first", '{"stream": true, "a": 1}', true],
  ["it within a member", '{"a":{"stream":true}}', false],
  ["it within a text", '{"a":"{\\"stream\\":true}"}', false],
  ["a name that ends so", '{"a,\\"stream":true}', false],
  ["it switched off", '{"a":"\\"stream\\":true","stream":false}', false],
])("takes a request with %s for one that asks for a stream, or not", async (_name, body, isStream) => {
  const { fetch } = createWire(recorder(() => whole()).fetch, chatRepair);
  const answered = await fetch("http://test/", { method: "POST", body, signal: new AbortController().signal }).catch(
    (error: Error) => error.name,
  );
  expect(answered === "WholeAnswer").toBe(isStream);
});
