import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import { ModelError } from "../../src/models/model.ts";
import { dialects } from "./dialects.ts";
import { answerCalls, file, generate, listFiles, readFile, request, user } from "./fixtures.ts";
import { testEnvironment } from "./local-server.ts";

// Another implementation of the wire formats than our own canned ones: they must agree.
const mock = new LLMock({ port: 0 });

beforeAll(async () => {
  await mock.start();
});
afterAll(() => mock.stop());
beforeEach(() => {
  mock.reset();
  mock.onToolResult("call_b", { content: "Both are read." });
  const toolCalls = [
    { id: "call_a", name: "list_files", arguments: "{}" },
    { id: "call_b", name: "read_file", arguments: '{"path":"b.txt"}' },
  ];
  mock.onMessage("read them", { content: "One moment.", toolCalls });
  mock.onMessage("think", { content: "42", reasoning: "Six times seven" });
});

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))("%s against aimock", (_name, dialect) => {
  const resolve = () => createModelResolver(testEnvironment(dialect.variables(mock.url)))(dialect.model);

  test("a round trip of tools, the same whole and streamed", async () => {
    const model = await resolve();
    const first = request([user("Please read them", file("a.pdf", "application/pdf", "%PDF-1.7"))], {
      system: ["You read."],
      tools: [readFile, listFiles],
    });
    const transcripts = [];
    for (const streaming of [false, true]) {
      const { response } = await generate(model, first, streaming);
      expect(response.finish).toBe("tool-calls");
      const messages = [...first.messages, response.message, answerCalls(response.message)];
      const last = await generate(model, { ...first, messages }, streaming);
      transcripts.push(simplify([response.message, last.response.message]));
    }
    expect(transcripts[0]).toEqual([
      [
        "One moment.",
        { id: "call_a", name: "list_files", args: {} },
        { id: "call_b", name: "read_file", args: { path: "b.txt" } },
      ],
      ["Both are read."],
    ]);
    expect(transcripts[1]).toEqual(transcripts[0]);
  });

  test("reasoning", async () => {
    const model = await resolve();
    for (const streaming of [false, true]) {
      const { response } = await generate(model, request([user("think")]), streaming);
      expect(response.message.parts).toMatchObject([{ type: "reasoning", text: "Six times seven" }, { text: "42" }]);
    }
  });

  test.each([429, 529, 500])("HTTP %i", async (status) => {
    const model = await resolve();
    mock.nextRequestError(status, { message: "Not now", type: "some_error" });
    const error = await generate(model, request([user("think")]), true).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ status, retryable: true });
    expect(String(error)).toContain("Not now");
  });

  test("a stream cut in its middle", async () => {
    mock.onMessage(
      "tell me",
      { content: "A long story that does not end well" },
      { truncateAfterChunks: 3, chunkSize: 4, latency: 10 },
    );
    const model = await resolve();
    await expect(generate(model, request([user("tell me")]), true)).rejects.toMatchObject({
      code: "broken_stream",
      retryable: true,
    });
  });
});

type Parts = Awaited<ReturnType<typeof generate>>["response"]["message"];

function simplify(messages: readonly Parts[]): unknown[] {
  return messages.map(({ parts }) =>
    parts
      .filter((part) => part.type !== "reasoning")
      .map((part) =>
        part.type === "tool-call" ? { id: part.id, name: part.name, args: part.args } : part.type === "text" ? part.text : part,
      ),
  );
}
