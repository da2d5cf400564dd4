import type { LanguageModelV2, LanguageModelV3 } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { ModelError, type ModelRequest } from "../model.ts";
import { createLanguageModelAdapter } from "./language-model-adapter.ts";

const file = { type: "file", name: "a.pdf", mediaType: "application/pdf", bytes: 1, sha256: "", data: "AAAA" } as const;
const request: ModelRequest = {
  system: [],
  messages: [{ role: "user", parts: [file] }],
  tools: [],
  settings: { reasoning: "high", seed: 3 },
};
const call = { worker: "main", callPath: "main", turn: 1 };
const signal = new AbortController().signal;

/** A model of version 2, as an older package gives it: flat usage, bare file data, finish reasons as text. */
function olderModel(finishReason: string, seen: unknown[] = []): LanguageModelV2 {
  const usage = { inputTokens: 5, outputTokens: 2, totalTokens: 7, cachedInputTokens: 1 };
  const content = { type: "tool-call", toolCallId: "c", toolName: "t", input: '{"a":1}' };
  const picture = { type: "file", mediaType: "image/png", data: "iVBORw==" };
  return {
    specificationVersion: "v2",
    provider: "old",
    modelId: "m",
    supportedUrls: {},
    async doGenerate(options: unknown) {
      seen.push(options);
      const warnings = [{ type: "unsupported-setting", setting: "seed", details: "not here" }];
      return { content: [{ type: "text", text: "Hi" }, content, picture], finishReason, usage, warnings };
    },
    async doStream() {
      return {
        stream: ReadableStream.from([
          { type: "stream-start", warnings: [{ type: "unsupported-setting", setting: "seed", details: "not here" }] },
          { type: "text-start", id: "0" },
          { type: "text-delta", id: "0", delta: "Hi" },
          { type: "text-end", id: "0" },
          content,
          picture,
          { type: "finish", finishReason, usage },
        ]),
      };
    },
  } as unknown as LanguageModelV2;
}

function adapt(model: LanguageModelV2 | LanguageModelV3) {
  return createLanguageModelAdapter({ id: "old:m", open: async () => ({ model }), optionsKey: "old", outputBesideTools: true });
}

test("a model of version 2 answers as one of today", async () => {
  const seen: unknown[] = [];
  const model = adapt(olderModel("tool-calls", seen));
  const whole = await model.generate(request, { signal, call });
  const streamed = await model.generate(request, { signal, call, onDelta: () => undefined });
  expect(whole).toEqual({
    message: {
      role: "assistant",
      parts: [
        { type: "text", text: "Hi" },
        { type: "tool-call", id: "c", name: "t", args: { a: 1 } },
        expect.objectContaining({ type: "file", mediaType: "image/png", data: "iVBORw==", bytes: 4 }),
      ],
    },
    usage: { requests: 1, inputTokens: 5, outputTokens: 2, cachedInputTokens: 1, reasoningTokens: 0 },
    finish: "tool-calls",
    warnings: ["seed is not supported: not here"],
  });
  expect(streamed).toEqual(whole);
  expect(seen[0]).toMatchObject({ seed: 3, prompt: [{ role: "user", content: [{ type: "file", data: "AAAA" }] }] });
  expect(seen[0]).not.toHaveProperty("reasoning");
});

test("a stream without its end is broken, whatever the library calls it", async () => {
  const pending = adapt(olderModel("unknown")).generate(request, { signal, call, onDelta: () => undefined });
  await expect(pending).rejects.toMatchObject({ code: "broken_stream", retryable: true });
});

test("an answer that the provider calls an error is one", async () => {
  const error = await adapt(olderModel("error"))
    .generate(request, { signal, call })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({ code: "broken_stream" });
});

test("a model that ignores the signal is left behind", async () => {
  const deaf = { ...olderModel("stop"), doGenerate: () => new Promise(() => undefined) } as unknown as LanguageModelV2;
  const controller = new AbortController();
  const pending = adapt(deaf).generate(request, { signal: controller.signal, call });
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(pending).rejects.toBe(reason);
});
