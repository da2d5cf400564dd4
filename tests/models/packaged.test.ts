import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import { createPackagedProvider } from "../../src/models/providers/create-packaged-provider.ts";
import { packagedProviders } from "../../src/models/providers/packaged-providers.ts";
import type { Canned } from "./dialects.ts";
import { responses } from "./dialects.ts";
import { answerCalls, file, generate, listFiles, readFile, request, user } from "./fixtures.ts";
import { sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";
import { cohere } from "./own-dialects.ts";
import { chatWith } from "./reasoning-rows.ts";

// One server that speaks the protocols of all these providers, over HTTP.
const mock = new LLMock({ port: 0 });

beforeAll(async () => {
  await mock.start();
});
afterAll(() => mock.stop());
beforeEach(() => {
  mock.reset();
  mock.on({ toolResultContains: "b.txt" }, { content: "Both are read." });
  const toolCalls = [
    { id: "call_a", name: "list_files", arguments: "{}" },
    { id: "call_b", name: "read_file", arguments: '{"path":"b.txt"}' },
  ];
  mock.onMessage("read them", { content: "One moment.", toolCalls });
  mock.onMessage("say it", { content: '{"answer":42}' });
});

/** Paths below which the server has each protocol. */
const paths: Readonly<Record<string, string>> = {
  google: "/v1beta",
  vertex: "/v1/projects/p/locations/l/publishers/google",
  cohere: "/v2",
  bedrock: "",
};

function modelAt(name: string, url: string, sent: string[] = []) {
  const prefix = name.toUpperCase();
  const environment = testEnvironment({ [`${prefix}_BASE_URL`]: url, [`${prefix}_BASE_URL_KEY`]: "key-of-the-test" });
  const fetch: typeof globalThis.fetch = (input, init) => {
    sent.push(String(init?.body));
    return globalThis.fetch(input, init);
  };
  return createModelResolver({ ...environment, fetch })(`${name}:some-model`);
}

/** The server leaves out members that xAI and Cohere always send: these two have servers of their own below. */
const elsewhere = ["xai", "cohere"];
const served = packagedProviders.map(({ name }) => name).filter((name) => !elsewhere.includes(name));

describe.each(served)("%s", (name) => {
  const sent: string[] = [];
  const resolve = () => modelAt(name, `${mock.url}${paths[name] ?? "/v1"}`, sent);

  test.skipIf(name === "perplexity")("a round trip of parallel calls, the same whole and streamed", async () => {
    const model = await resolve();
    for (const streaming of [false, true]) {
      const first = request([user("Please read them")], { system: ["You read."], tools: [readFile, listFiles] });
      const { response } = await generate(model, first, streaming);
      expect(response.finish).toBe("tool-calls");
      const calls = response.message.parts.flatMap((part) => (part.type === "tool-call" ? [[part.name, part.args]] : []));
      expect(calls).toEqual([
        ["list_files", {}],
        ["read_file", { path: "b.txt" }],
      ]);
      const messages = [...first.messages, response.message, answerCalls(response.message)];
      const last = await generate(model, { ...first, messages }, streaming);
      expect(last.response.message.parts).toMatchObject([{ type: "text", text: "Both are read." }]);
      expect(last.response.usage).toMatchObject({ requests: 1 });
    }
  });

  test("an answer to a schema", async () => {
    const model = await resolve();
    const output = {
      type: "object",
      properties: { answer: { type: "integer" } },
      required: ["answer"],
      additionalProperties: false,
    };
    for (const streaming of [false, true]) {
      const { response } = await generate(model, request([user("say it")], { output }), streaming);
      expect(response.message.parts).toMatchObject([{ text: '{"answer":42}' }]);
    }
    expect(sent.at(-1)).toContain("answer");
  });

  test.each([429, 500])("HTTP %i", async (status) => {
    const model = await resolve();
    mock.nextRequestError(status, { message: "Not now", type: "some_error" });
    const asked = generate(model, request([user("say it")]), false);
    await expect(asked).rejects.toMatchObject({ name: "ModelError", status, retryable: true });
  });
});

test.each(packagedProviders)("$name without a key or an address names what to set", async ({ name }) => {
  const asked = createModelResolver(testEnvironment({}))(`${name}:some-model`);
  await expect(asked).rejects.toMatchObject({ code: "auth" });
  await expect(asked).rejects.toThrow(/Set [A-Z]/);
});

const calls = [
  { id: "call_a", tool: "list_files", args: "{}" },
  { id: "call_b", tool: "read_file", args: '{"path":"b.txt"}' },
];

test.each([
  ["xai", responses.body, responses.events],
  ["cohere", cohere.body, cohere.events],
] as const)("%s: a round trip of parallel calls, the same whole and streamed", async (name, body, events) => {
  await using server = await startServer((response, recorded, index) => {
    const canned: Canned = index % 2 === 0 ? { text: "One moment.", calls } : { text: "Both are read." };
    if (recorded.body.stream) sendEvents(response, events(canned));
    else sendJson(response, body(canned));
  });
  const model = await modelAt(name, server.url);
  for (const streaming of [false, true]) {
    const first = request([user("Read them")], { tools: [readFile, listFiles] });
    const { response } = await generate(model, first, streaming);
    expect(response.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
    expect(response.message.parts.filter(({ type }) => type === "tool-call")).toMatchObject(calls.map(({ id }) => ({ id })));
    const results = answerCalls(response.message);
    const last = await generate(model, { ...first, messages: [...first.messages, response.message, results] }, streaming);
    expect(last.response.message.parts).toMatchObject([{ type: "text", text: "Both are read." }]);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("b.txt");
  }
  if (name === "xai") expect(server.requests[0]?.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
});

test("a key is sent to its provider's own address alone, also where that follows from a variable", async () => {
  const cases = [
    ["azure", { AZURE_API_KEY: "own", AZURE_BASE_URL: "https://other.example/openai" }, "AZURE_BASE_URL_KEY"],
    ["azure", { AZURE_API_KEY: "own", AZURE_RESOURCE_NAME: "me.evil.example/" }, "AZURE_RESOURCE_NAME"],
    [
      "bedrock",
      { AWS_BEARER_TOKEN_BEDROCK: "own", AWS_REGION: "us-east-1", BEDROCK_BASE_URL: "https://other.example" },
      "BEDROCK_BASE_URL_KEY",
    ],
    [
      "vertex",
      { GOOGLE_VERTEX_PROJECT: "p", GOOGLE_VERTEX_LOCATION: "eu", VERTEX_BASE_URL: "https://other.example" },
      "VERTEX_BASE_URL_KEY",
    ],
    ["groq", { GROQ_API_KEY: "own", GROQ_BASE_URL: "https://other.example" }, "GROQ_BASE_URL_KEY"],
  ] as const;
  for (const [name, variables, named] of cases) {
    const asked = createModelResolver(testEnvironment(variables))(`${name}:m`);
    await expect(asked).rejects.toThrow(named);
  }
});

test("a request to Bedrock is signed where no key is set", async () => {
  const seen: Request[] = [];
  const environment = testEnvironment({ AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret" });
  const fetch: typeof globalThis.fetch = async (input, init) => {
    seen.push(new Request(input, init));
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    return Response.json({
      output: { message: { role: "assistant", content: [{ text: "Hi" }] } },
      stopReason: "end_turn",
      usage,
    });
  };
  const model = await createModelResolver({ ...environment, fetch })("bedrock:amazon.nova-lite-v1:0");
  await generate(model, request([user("Hi")]), false);
  expect(new URL(seen[0]?.url ?? "").host).toBe("bedrock-runtime.eu-west-1.amazonaws.com");
  expect(seen[0]?.headers.get("authorization")).toContain("AWS4-HMAC-SHA256 Credential=AKID/");
});

test("a file that the models do not take is an error before the request, which names models that do", async () => {
  const sent: string[] = [];
  const model = await modelAt("deepseek", "http://127.0.0.1:1", sent);
  const asked = generate(model, request([user("Read", file("a.pdf", "application/pdf", "%PDF-1.7"))]), false);
  await expect(asked).rejects.toMatchObject({ code: "bad_request", retryable: false });
  await expect(asked).rejects.toThrow(
    /deepseek:some-model does not take application\/pdf \(a\.pdf\); models that do: anthropic:\*, google:\*/,
  );
  expect(sent).toEqual([]);
});

test("text is taken by the models of all providers", async () => {
  await using server = await startServer((response) => sendJson(response, chatWith({ content: "Read.", tool_calls: undefined })));
  const model = await modelAt("deepseek", server.url);
  await generate(model, request([user("Read", file("a.json", "application/json", "{}"))]), false);
  expect(JSON.stringify(server.requests[0]?.body)).toContain("File a.json");
});

test("a package that is not installed is an error with the line that installs it", async () => {
  const provider = createPackagedProvider({
    ...{
      name: "acme",
      description: "Acme",
      package: "@ai-sdk/not-there@7",
      export: "createAcme",
      wire: "chat",
      options: "hostedOptions",
    },
    ...{ keyVariables: ["ACME_API_KEY"], defaultBaseUrl: "https://acme.example" },
  });
  const asked = createModelResolver(testEnvironment({ ACME_API_KEY: "own" }), [provider])("acme:m");
  await expect(asked).rejects.toThrow("acme:m needs the package @ai-sdk/not-there. Run `npm install @ai-sdk/not-there@7`");
});

test.each([
  ["bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", true],
  ["bedrock:anthropic.claude-3-7-sonnet-20250219-v1:0", true],
  ["bedrock:amazon.nova-pro-v1:0", true],
  ["bedrock:anthropic.claude-3-haiku-20240307-v1:0", false],
  ["bedrock:anthropic.claude-instant-v1", false],
  ["bedrock:meta.llama3-3-70b-instruct-v1:0", false],
  ["openrouter:anthropic/claude-sonnet-4.5", true],
  ["openrouter:openai/gpt-5", false],
])("%s: what its cache keeps is marked: %s", async (id, isMarked) => {
  const [name = ""] = id.split(":");
  const answer = { output: { message: { role: "assistant", content: [{ text: "Hi" }] } }, stopReason: "end_turn", usage: {} };
  await using server = await startServer((response) =>
    sendJson(response, name === "bedrock" ? answer : chatWith({ content: "Hi", tool_calls: undefined })),
  );
  const prefix = name.toUpperCase();
  const environment = testEnvironment({ [`${prefix}_BASE_URL`]: server.url, [`${prefix}_BASE_URL_KEY`]: "key-of-the-test" });
  const model = await createModelResolver(environment)(id);
  await generate(model, request([user("Hi")], { system: ["You read."], tools: [readFile] }), false).catch(() => undefined);
  expect(/"cachePoint"|"cache_control"/.test(JSON.stringify(server.requests[0]?.body))).toBe(isMarked);
});
