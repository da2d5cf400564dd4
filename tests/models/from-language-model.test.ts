import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import {
  compile,
  fromLanguageModel,
  type LanguageModel,
  type LanguageModelSource,
  type RunEvent,
  type RunRequest,
  run,
} from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { readJournal, runsIn } from "../records.ts";
import { type Canned, chat } from "./dialects.ts";
import { sendEvents, sendJson, startServer } from "./local-server.ts";

const key = "key-of-the-gateway";

function createHost(source: string) {
  return memoryHost({
    environment: { MY_KEY: key },
    fetch: globalThis.fetch,
    files: { "/program/main.worker": source },
  });
}

type Answer = Canned | { readonly status: number; readonly message: string };
type Link = (url: string) => Omit<LanguageModelSource, "name">;

/** Runs a worker without tools on `own:m`, whose server answers with `answers`, one a request. */
async function ask(link: Link, answers: readonly Answer[], request: Partial<RunRequest> = {}) {
  await using server = await startServer((response, { body }, index) => {
    const answer = answers[index] ?? { text: "one request too many" };
    if ("status" in answer) sendJson(response, chat.error(answer.message), answer.status);
    else if (body.stream) sendEvents(response, chat.events(answer));
    else sendJson(response, chat.body(answer));
  });
  const host = createHost("---\ndescription: Is kind.\n---\nBe kind.\n");
  const events: RunEvent[] = [];
  const result = await run({
    target: "/program",
    input: "hello",
    model: "own:m",
    approval: { mode: "reject_all" },
    providers: [fromLanguageModel({ name: "own", ...link(server.url) })],
    host,
    onEvent: (event) => events.push(event),
    ...request,
  }).catch((error: unknown) => ({ error, output: undefined, usage: undefined }));
  const [id] = await host.files.names(runsIn("/program"));
  const { entries } = id === undefined ? { entries: [] } : await readJournal(host, `${runsIn("/program")}/${id}`);
  return { result, events, entries, requests: server.requests };
}

function chatModel(url: string, more: { readonly apiKey?: string; readonly fetch?: typeof fetch } = {}): LanguageModelV4 {
  return createOpenAICompatible({ name: "own", baseURL: `${url}/v1`, includeUsage: true, ...more })("m");
}

/** As AI SDK 6 and 5 would make it: what of the interface is older is converted. */
const versions: Readonly<Record<string, (model: LanguageModelV4) => LanguageModel>> = {
  v4: (model) => model,
  v3: (model) => ({ ...methodsOf(model), specificationVersion: "v3" }) as unknown as LanguageModelV3,
  v2: (model) => {
    const { doGenerate, ...rest } = methodsOf(model);
    const generate: LanguageModelV4["doGenerate"] = async (options) => {
      const { usage, finishReason, ...result } = await doGenerate(options);
      const flat = { inputTokens: usage.inputTokens.total, outputTokens: usage.outputTokens.total };
      return { ...result, usage: flat, finishReason: finishReason.unified } as never;
    };
    return { ...rest, doGenerate: generate, specificationVersion: "v2" } as unknown as LanguageModelV2;
  },
};

function methodsOf(model: LanguageModelV4) {
  return {
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: model.doGenerate.bind(model),
    doStream: model.doStream.bind(model),
  };
}

describe("a language model of the AI SDK", () => {
  test.each(Object.entries(versions))("of interface %s answers over HTTP, metered and recorded", async (_version, convert) => {
    const { result, entries, requests } = await ask((url) => ({ model: convert(chatModel(url)) }), [{ text: "Hi!" }]);
    expect(result).toMatchObject({ output: "Hi!", usage: { requests: 1, inputTokens: 100, outputTokens: 20 } });
    expect(requests.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
    expect(entries).toContainEqual(expect.objectContaining({ type: "call-start", model: "own:m" }));
    expect(entries).toContainEqual(expect.objectContaining({ type: "result", kind: "model" }));
  });

  test("streams", async () => {
    const { result, events } = await ask((url) => ({ model: chatModel(url) }), [{ text: "Hello" }], { deltas: true });
    expect(result.output).toBe("Hello");
    expect(events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []))).toEqual(["Hel", "lo"]);
  });

  test("is made by a function with the key and the fetch of the run", async () => {
    const names: string[] = [];
    const link: Link = (url) => ({
      keyVariables: ["MY_KEY"],
      model: (name, { apiKey = "", fetch }) => {
        names.push(name);
        return chatModel(url, { apiKey, fetch });
      },
    });
    const { result, requests } = await ask(link, [{ text: "Hi!" }]);
    expect([result.output, names, requests[0]?.headers.authorization]).toEqual(["Hi!", ["m"], `Bearer ${key}`]);
  });

  test("names the variable of a rejected key, and never shows its value", async () => {
    const link: Link = (url) => ({
      keyVariables: ["MY_KEY"],
      model: (_, { apiKey = "" }) => chatModel(url, { apiKey }),
    });
    const { result, events, entries } = await ask(link, [{ status: 401, message: `bad key ${key}` }]);
    expect(result).toMatchObject({ error: { name: "RunError", code: "authentication" } });
    expect(String("error" in result && result.error)).toContain("MY_KEY");
    expect(`${JSON.stringify([events, entries])} ${"error" in result && result.error}`).not.toContain(key);
  });

  test("ends the run before its first request where its key is not set", async () => {
    const link: Link = (url) => ({ keyVariables: ["NOT_SET"], model: () => chatModel(url) });
    const { result, requests } = await ask(link, []);
    expect(result).toMatchObject({ error: { code: "authentication" } });
    expect(String("error" in result && result.error)).toContain("Set NOT_SET");
    expect(requests).toEqual([]);
  });

  test("has no price unless one is given or its table is named", async () => {
    const usdOf = async (more: Partial<LanguageModelSource>, request: Partial<RunRequest> = {}) => {
      const { result } = await ask((url) => ({ model: () => chatModel(url), ...more }), [{ text: "Hi!" }], request);
      return result.usage?.usd;
    };
    expect(await usdOf({})).toBeUndefined();
    expect(await usdOf({}, { prices: { "own:*": { input: 1, output: 5 } } })).toBeCloseTo(0.0002);
    expect(await usdOf({ priceTable: "groq" }, { model: "own:llama-3.3-70b-versatile" })).toBeGreaterThan(0);
    const { result } = await ask((url) => ({ model: chatModel(url) }), [{ text: "Hi!" }], { limits: { usd: 1 } });
    expect(String("error" in result && result.error)).toContain("own:m");
  });

  test("answers to its own name alone", async () => {
    const { result, requests } = await ask((url) => ({ model: chatModel(url) }), [], { model: "own:other" });
    expect(String("error" in result && result.error)).toContain("own:other is unknown: the only model here is m");
    expect(requests).toEqual([]);
  });

  test("gets the provider options that its source lists, and a worker file cannot set others", async () => {
    const link: Link = (url) => ({ model: chatModel(url), options: { reasoningEffort: { type: "string" } } });
    const set = ["model_settings.provider_options.own.reasoningEffort=low"];
    const { requests } = await ask(link, [{ text: "Hi!" }], { set });
    expect(requests[0]?.body.reasoning_effort).toBe("low");
    const source = "---\nmodel_settings: { provider_options: { own: { plugins: [1], reasoningEffort: 1 } } }\n---\nHi\n";
    const providers = [fromLanguageModel({ name: "own", ...link("http://127.0.0.1:1") })];
    const { diagnostics } = await compile({ target: "/program", model: "own:m", providers, host: createHost(source) });
    expect(diagnostics.map(({ code }) => code)).toEqual(["provider-option", "provider-option"]);
  });
});
