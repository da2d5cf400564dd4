import { describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import { ModelError, type ModelResponse } from "../../src/models/model.ts";
import { generate, readFile, request, user } from "./fixtures.ts";
import { bedrockFrame, fullBedrock, fullCohere } from "./full-answers.ts";
import { type Answer, sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";

const models = {
  google: { id: "google:gemini-2.5-flash", path: "/v1beta" },
  cohere: { id: "cohere:command-a-03-2025", path: "/v2" },
  bedrock: { id: "bedrock:amazon.nova-lite-v1:0", path: "" },
  chat: { id: "openai-compatible:m", path: "/v1" },
} as const;

/** An answer over HTTP, or the error in its place. */
async function ask(name: keyof typeof models, answer: Answer, streaming = false): Promise<ModelResponse | ModelError> {
  await using server = await startServer(answer);
  const { id, path } = models[name];
  const prefix = `${id.slice(0, id.indexOf(":")).toUpperCase().replace("-", "_")}_BASE_URL`;
  const environment = testEnvironment({ [prefix]: `${server.url}${path}`, [`${prefix}_KEY`]: "key-of-the-test" });
  const model = await createModelResolver(environment)(id);
  const asked = request([user("Look")], { tools: [readFile] });
  return await generate(model, asked, streaming).then(
    ({ response }) => response,
    (error) => error,
  );
}

const textOf = (answer: ModelResponse | ModelError) =>
  answer instanceof ModelError
    ? answer.message
    : answer.message.parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("");

describe("Google", () => {
  const googleError = (code: number, status: string, details: object[]) => ({ error: { code, message: "No.", status, details } });

  test("a 429 says in its body how long to wait", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.074824224s" }];
    const answer = await ask("google", (response) => sendJson(response, googleError(429, "RESOURCE_EXHAUSTED", details), 429));
    expect(answer).toMatchObject({ code: "rate_limit", retryable: true, retryAfterMilliseconds: 34_075 });
  });

  test("a key that is not valid is refused as one", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }];
    const answer = await ask("google", (response) => sendJson(response, googleError(400, "INVALID_ARGUMENT", details), 400));
    expect(answer).toMatchObject({ code: "auth", retryable: false });
    expect(textOf(answer)).toContain("GOOGLE_BASE_URL_KEY");
  });

  test.each([false, true])("the words about a call of an unknown function are kept (streamed: %s)", async (streaming) => {
    const finish = { finishReason: "UNEXPECTED_TOOL_CALL", finishMessage: "Model tried to call an undeclared function: shell" };
    const body = { candidates: [{ content: { role: "model", parts: [{ text: "I call." }] }, ...finish }] };
    const answer = await ask(
      "google",
      (response) => (streaming ? sendEvents(response, [`data: ${JSON.stringify(body)}\n\n`]) : sendJson(response, body)),
      streaming,
    );
    expect(answer).toMatchObject({ finish: "other", finishReason: "UNEXPECTED_TOOL_CALL", refusal: finish.finishMessage });
  });

  test("a call whose name cannot be read is no answer without a call", async () => {
    const parts = [{ text: "I look." }, { functionCall: { name: 7, args: {} } }];
    const answer = await ask("google", (response) =>
      sendJson(response, { candidates: [{ content: { parts }, finishReason: "STOP" }] }),
    );
    expect(answer).toMatchObject({ code: "bad_response" });
  });
});

describe("Cohere", () => {
  test("counts what was in the cache", async () => {
    const answer = await ask("cohere", (response) => sendJson(response, fullCohere.body));
    expect(answer).toMatchObject({ usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 20 } });
  });

  test("a whole answer in the place of a stream", async () => {
    const answer = await ask("cohere", (response) => sendJson(response, fullCohere.body), true);
    expect(textOf(answer)).toBe("It is 21 degrees.");
  });
});

describe("Bedrock", () => {
  const bytes = Buffer.concat(fullBedrock.encode(fullBedrock.events) as Uint8Array[]);
  const damaged = Uint8Array.from(bytes, (byte, at) => (at === 150 ? byte ^ 1 : byte));

  test.each([
    ["cut within a frame", bytes.subarray(0, bytes.length - 20)],
    ["cut between frames", Buffer.concat((fullBedrock.encode(fullBedrock.events) as Uint8Array[]).slice(0, 4))],
    ["with a wrong checksum", damaged],
  ])("a stream %s is broken, and asked for again", async (_kind, sent) => {
    expect(await ask("bedrock", (response) => sendEvents(response, [sent]), true)).toMatchObject({
      code: "broken_stream",
      retryable: true,
    });
  });

  test("a stream in pieces of any size", async () => {
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.subarray(at * 7, at * 7 + 7));
    expect(textOf(await ask("bedrock", (response) => sendEvents(response, pieces), true))).toBe("It is 21 degrees.");
  });

  test("an exception in the stream", async () => {
    const events = [
      bedrockFrame("messageStart", { role: "assistant" }),
      bedrockFrame("throttlingException", { message: "Slow down" }, "exception"),
    ];
    const answer = await ask("bedrock", (response) => sendEvents(response, events), true);
    expect(answer).toMatchObject({ code: "rate_limit", retryable: true });
  });
});

describe("chat completions", () => {
  const whole = { choices: [{ index: 0, message: { role: "assistant", content: "whole" }, finish_reason: "" }] };

  test("an empty finish reason says that the answer is whole", async () => {
    expect(await ask("chat", (response) => sendJson(response, whole))).toMatchObject({ finish: "stop" });
  });

  test("empty finish reasons in a stream do not end it", async () => {
    const event = (content: string) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: "" }] })}\n\n`;
    const events = [event("who"), event("le")];
    expect(textOf(await ask("chat", (response) => sendEvents(response, [...events, "data: [DONE]\n\n"]), true))).toBe("whole");
    expect(await ask("chat", (response) => sendEvents(response, events), true)).toMatchObject({ code: "broken_stream" });
  });
});
