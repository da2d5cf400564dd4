import { describe, expect, test } from "vitest";
import { type RunError, type RunRequest, run } from "../../src/index.ts";
import type { Usage } from "../../src/protocol/usage.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { renderUsage } from "../../src/ui/render-usage.ts";
import { anthropic, chat, type Dialect, dialects, responses } from "../models/dialects.ts";
import { type Answer, sendEvents, sendJson, startServer } from "../models/local-server.ts";
import { readJournal, runsIn } from "../records.ts";
import { worker } from "./harness.ts";

/** A dollar for a thousand tokens of either kind. */
const prices = { "*": { input: 1000, output: 1000 } };
const openrouter = {
  model: "openrouter:anthropic/claude-sonnet-4.5",
  variables: (url: string) => ({ OPENROUTER_BASE_URL: `${url}/v1`, OPENROUTER_BASE_URL_KEY: "test-key-openrouter" }),
};

async function ask(dialect: Pick<Dialect, "model" | "variables">, answer: Answer, request: Partial<RunRequest> = {}) {
  await using server = await startServer(answer);
  const host = memoryHost({
    environment: dialect.variables(server.url),
    fetch: globalThis.fetch,
    files: { "/program/main.worker": worker("toolsets: { filesystem: {} }") },
  });
  const outcome = await run({
    target: "/program",
    input: "Begin.",
    model: dialect.model,
    approval: { mode: "reject_all" },
    host: { ...host, clock: { ...host.clock, sleep: async () => undefined } },
    ...request,
  }).then(
    (result) => ({ result, usage: result.usage, error: undefined }),
    (error: RunError) => ({ result: undefined, usage: error.run?.usage, error }),
  );
  const [id] = await host.files.names(runsIn("/program"));
  const { entries } = await readJournal(host, `${runsIn("/program")}/${id}`);
  return { ...outcome, entries, requests: server.requests.length };
}

const text = "x".repeat(400);
const whole = (dialect: Dialect, usage: unknown): Answer => {
  return (response) => sendJson(response, { ...(dialect.body({ text }) as object), usage });
};

describe("what a provider does not report is estimated and marked", () => {
  const unreported: [string, Answer][] = [
    ["no usage", whole(chat, undefined)],
    ["usage of null", whole(chat, null)],
    ["usage that is no object", whole(chat, "none")],
    ["counts that are no numbers", whole(chat, { prompt_tokens: "10", completion_tokens: {}, prompt_tokens_details: 3 })],
    ["usage of 0", whole(chat, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })],
    [
      "a stream that ends after its finish reason",
      (response) =>
        sendEvents(
          response,
          chat.events({ text }).filter((event) => !event.includes('"usage"') && !event.includes("[DONE]")),
        ),
    ],
  ];

  test.each(unreported)("%s", async (name, answer) => {
    const { result, usage, entries } = await ask(chat, answer, { prices, deltas: name.includes("stream") });
    expect(result?.output).toBe(text);
    const { inputTokens = 0, outputTokens } = usage ?? {};
    expect(outputTokens).toBe(100);
    expect(inputTokens).toBeGreaterThan(10);
    expect(usage).toMatchObject({ requests: 1, estimatedTokens: inputTokens + 100, usd: (inputTokens + 100) / 1000 });
    const recorded = entries.filter(({ type }) => type === "call-end" || type === "run-end");
    expect(recorded).toMatchObject([{ usage }, { usage }]);
  });

  test.each(dialects)("of an answer of $name without any usage, streamed or not", async (dialect) => {
    const events = dialect.events({ text }).map((event) => event.replaceAll(/,"usage":\{(?:[^{}]|\{[^{}]*\})*\}/g, ""));
    expect(events.join("")).not.toContain("usage");
    for (const deltas of [false, true]) {
      const answer: Answer = (response) =>
        deltas ? sendEvents(response, events) : sendJson(response, { ...(dialect.body({ text }) as object), usage: undefined });
      const { result, usage } = await ask(dialect, answer, { deltas });
      expect(result?.output).toBe(text);
      expect(usage).toMatchObject({ outputTokens: 100, estimatedTokens: 100 + (usage?.inputTokens ?? 0) });
      expect(usage?.inputTokens).toBeGreaterThan(10);
    }
  });

  test("the half that is reported is taken", async () => {
    const { usage } = await ask(chat, whole(chat, { prompt_tokens: 7 }));
    expect(usage).toMatchObject({ inputTokens: 7, outputTokens: 100, estimatedTokens: 100 });
  });

  test("what is reported is not marked", async () => {
    for (const dialect of dialects) {
      const { usage } = await ask(dialect, (response) => sendJson(response, dialect.body({ text })));
      expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
      expect(usage).not.toHaveProperty("estimatedTokens");
    }
  });

  test("and counts for limits", async () => {
    const looping = (response: Parameters<Answer>[0]) => {
      const body = chat.body({ text, calls: [{ id: "c", tool: "list_files", args: "{}" }] }) as object;
      sendJson(response, { ...body, usage: undefined });
    };
    for (const limits of [{ usd: 5 }, { tokens: 5000 }]) {
      const { result, requests } = await ask(chat, looping, { prices, limits });
      expect(result?.stopReason).toBe("limit");
      expect(requests).toBeLessThan(6);
    }
  });
});

describe("impossible figures", () => {
  const input = { chat: "prompt_tokens", anthropic: "input_tokens", openai: "input_tokens" };
  const output = { chat: "completion_tokens", anthropic: "output_tokens", openai: "output_tokens" };
  const wires: [keyof typeof input, Dialect][] = [
    ["chat", chat],
    ["anthropic", anthropic],
    ["openai", responses],
  ];
  const figures = [-5, 1e300, 1.5];

  test.each(wires.flatMap(([name, dialect]) => figures.map((figure) => [figure, name, dialect] as const)))(
    "are refused and estimated: %d at %s",
    async (figure, name, dialect) => {
      const { result, usage } = await ask(dialect, whole(dialect, { [input[name]]: figure, [output[name]]: figure }));
      expect(result?.output).toBe(text);
      expect(usage).toMatchObject({ outputTokens: 100, estimatedTokens: 100 + (usage?.inputTokens ?? 0) });
      expect(usage?.inputTokens).toBeGreaterThan(10);
      for (const value of Object.values(usage ?? {})) expect(value).toBeGreaterThanOrEqual(0);
      expect(Number.isFinite(usage?.usd ?? 0)).toBe(true);
    },
  );

  test("of the cache refute the input that they belong to", async () => {
    const usage = { input_tokens: -90, cache_read_input_tokens: 100, output_tokens: 20 };
    const measured = (await ask(anthropic, whole(anthropic, usage))).usage;
    expect(measured).toMatchObject({ outputTokens: 20, estimatedTokens: measured?.inputTokens, cachedInputTokens: 0 });
    const beyond = { prompt_tokens: 10, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 11 } };
    expect((await ask(chat, whole(chat, beyond))).usage).toMatchObject({
      cachedInputTokens: 0,
      estimatedTokens: expect.any(Number),
    });
  });

  test("give nothing back to a limit", async () => {
    const { result, requests } = await ask(
      chat,
      (response, _, index) => {
        const body = chat.body({ calls: [{ id: "c", tool: "list_files", args: "{}" }] }) as object;
        sendJson(response, { ...body, usage: { prompt_tokens: index % 2 === 0 ? 1500 : -1500, completion_tokens: 5 } });
      },
      { limits: { tokens: 6000 } },
    );
    expect(result?.stopReason).toBe("limit");
    expect(requests).toBeLessThan(7);
  });
});

describe("the cost that the provider reports", () => {
  const body = (usage: object) => ({ ...(chat.body({ text }) as object), usage });
  const tokens = { prompt_tokens: 100, completion_tokens: 20 };

  test.each<[string, object, number]>([
    ["goes before every price", { cost: 0.25 }, 0.25],
    ["can be nothing", { cost: 0 }, 0],
    [
      "has the cost of the user's own key added",
      { cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } },
      0.21,
    ],
  ])("%s", async (_, said, usd) => {
    for (const request of [{}, { prices }]) {
      const { usage } = await ask(openrouter, (response) => sendJson(response, body({ ...tokens, ...said })), request);
      expect(usage?.usd).toBeCloseTo(usd, 9);
    }
  });

  test.each([-1, 1e9, "much"])("is refused where it cannot be: %s", async (cost) => {
    const { usage } = await ask(openrouter, (response) => sendJson(response, body({ ...tokens, cost })), { prices });
    expect(usage?.usd).toBeCloseTo(0.12, 9);
  });

  test("counts for the limit of dollars, streamed too", async () => {
    const events = chat
      .events({ calls: [{ id: "c", tool: "list_files", args: "{}" }] })
      .map((event) => event.replace('"prompt_tokens"', '"cost":0.4,"prompt_tokens"'));
    const { result, usage, requests } = await ask(openrouter, (response) => sendEvents(response, events), {
      deltas: true,
      limits: { usd: 1 },
    });
    expect(result?.stopReason).toBe("limit");
    expect(requests).toBe(3);
    expect(usage?.usd).toBeCloseTo(1.2, 9);
  });

  test("is believed of a service that reports dollars, and of no other server", async () => {
    const { usage } = await ask(chat, (response) => sendJson(response, body({ ...tokens, cost: 0.25 })), { prices });
    expect(usage?.usd).toBeCloseTo(0.12, 9);
  });
});

test("what is written to a cache is read on chat completions, and has its price", async () => {
  const usage = {
    prompt_tokens: 5000,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 4000 },
  };
  const written = await ask(openrouter, whole(chat, usage));
  expect(written.usage).toMatchObject({ inputTokens: 5000, cacheWriteTokens: 4000 });
  const plain = await ask(openrouter, whole(chat, { prompt_tokens: 5000, completion_tokens: 20 }));
  expect(written.usage?.usd).toBeGreaterThan(plain.usage?.usd ?? Number.POSITIVE_INFINITY);
});

describe("an attempt that failed", () => {
  /** Begins an answer, reports 100 tokens of input, and breaks off. */
  const broken: Answer = (response) => sendEvents(response, anthropic.events({ text }).slice(0, 3));

  test("counts what it had reported: in the result, the journal and the events", async () => {
    const { error, usage, entries, requests } = await ask(anthropic, broken, { deltas: true });
    expect(error).toMatchObject({ code: "provider" });
    expect(requests).toBe(5);
    expect(usage).toMatchObject({ requests: 5, inputTokens: 500, cachedInputTokens: 200 });
    const failed = entries.flatMap((entry) =>
      entry.type === "result" && entry.outcome.type !== "value" ? [entry.outcome.usage] : [],
    );
    expect(failed).toMatchObject(Array.from({ length: 5 }, () => ({ inputTokens: 100 })));
  });

  test("counts beside the answer that came in the end", async () => {
    const { usage } = await ask(
      anthropic,
      (response, request, index) =>
        index === 0 ? broken(response, request, 0) : sendEvents(response, anthropic.events({ text })),
      { deltas: true },
    );
    expect(usage).toMatchObject({ requests: 2, inputTokens: 200 });
  });

  test("counts for limits, which end the retries", async () => {
    const { result, requests } = await ask(anthropic, broken, { deltas: true, prices, limits: { usd: 0.25 } });
    expect(result?.stopReason).toBe("limit");
    expect(requests).toBeLessThan(4);
  });

  test("counts where the provider answered with an error and its usage", async () => {
    const failed = { ...(responses.body({ text }) as object), status: "failed", error: { code: "server_error", message: "no" } };
    const { usage } = await ask(responses, (response) => sendJson(response, failed));
    expect(usage).toMatchObject({ requests: 5, inputTokens: 500 });
    const body = chat.body({ text, finish: "error" });
    expect((await ask(chat, (response) => sendJson(response, body))).usage).toMatchObject({ requests: 5, inputTokens: 500 });
  });

  test("counts where the run was aborted in the midst of its answer", async () => {
    const controller = new AbortController();
    const { error, usage } = await ask(
      anthropic,
      (response) => sendEvents(response, anthropic.events({ text }).slice(0, 3), false),
      { deltas: true, signal: controller.signal, onEvent: ({ type }) => type === "text-delta" && controller.abort() },
    );
    expect(error).toMatchObject({ code: "aborted" });
    expect(usage).toMatchObject({ requests: 1, inputTokens: 100 });
  });

  test("that reported nothing counts nothing", async () => {
    const { usage } = await ask(chat, (response) => sendJson(response, chat.error("slow"), 429));
    expect(usage).toMatchObject({ requests: 0, inputTokens: 0 });
  });
});

describe("what has no price", () => {
  const google = {
    model: "google:gemini-2.5-flash",
    variables: (url: string) => ({ GOOGLE_BASE_URL: `${url}/v1beta`, GOOGLE_BASE_URL_KEY: "test-key-google" }),
  };
  const grounded = {
    candidates: [
      {
        ...{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" },
        groundingMetadata: { webSearchQueries: ["a"], groundingChunks: [] },
      },
    ],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 3, totalTokenCount: 103 },
  };

  test("makes the cost a bound from below: a search that Google bills", async () => {
    const { usage } = await ask(google, (response) => sendJson(response, grounded));
    expect(usage).toMatchObject({ usd: expect.closeTo(0.0000375, 9), usdAtLeast: true });
    expect(renderUsage(usage as Usage)).toContain("at least $0.0000375");
  });

  test.each([
    ["openai:gpt-5-mini", "{ tool_type: web_search }", "of `main` has no `max_uses`"],
    ["anthropic:claude-sonnet-4-5", "{ tool_type: web_search }", "of `main` has no `max_uses`"],
    ["anthropic:claude-sonnet-4-5", "{ tool_type: web_search, max_uses: 2 }", "needs a key"],
  ])("is refused where dollars are limited and nothing bounds it: searches of %s with %s", async (model, tool, said) => {
    const files = { "/program/main.worker": worker(`server_side_tools: [${tool}]`) };
    const approval = { mode: "approve_all" } as const;
    const request = { target: "/program", input: "x", model, approval, host: memoryHost({ files }), trust: true };
    await expect(run({ ...request, limits: { usd: 0.5 } })).rejects.toThrow(said);
    await expect(run(request)).rejects.toThrow("needs a key");
  });

  const search = { "/program/main.worker": worker("server_side_tools: [{ tool_type: web_search }]") };
  test.each<readonly [string, string, Partial<RunRequest>, Record<string, string>]>([
    ["a tool of the provider", "what the server-side tool `web_search`", {}, search],
    [
      "a service tier",
      "what the service tier `priority`",
      {},
      { "/program/main.worker": worker("model_settings: { provider_options: { google: { serviceTier: priority } } }") },
    ],
  ])("is refused before it is spent where dollars are limited: %s", async (_what, said, request, files) => {
    await using server = await startServer((response) => sendJson(response, grounded));
    const host = memoryHost({ environment: google.variables(server.url), fetch: globalThis.fetch, files });
    const approval = { mode: "approve_all" } as const;
    const common = { target: "/program", input: "Begin.", model: google.model, approval, host, trust: true, ...request };
    await expect(run({ ...common, limits: { usd: 0.02 } })).rejects.toThrow(said);
    expect(server.requests).toHaveLength(0);
    await run(common);
    expect(server.requests).toHaveLength(1);
  });
});
