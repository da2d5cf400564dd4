import { describe, expect, test } from "vitest";
import { type RunEvent, type RunRequest, run, type ToolError, tool } from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { anthropic, type Canned, chat, type Dialect, dialects, responses } from "../models/dialects.ts";
import { sendEvents, sendJson, startServer } from "../models/local-server.ts";
import { play, worker } from "./harness.ts";

interface Asked extends Partial<RunRequest> {
  readonly dialect: Dialect;
  readonly streaming?: boolean;
  readonly answers: readonly Canned[];
  readonly frontmatter?: string;
}

/** Plays a worker with one tool, `note`, that takes no arguments, against a server that gives these answers. */
async function ask({ dialect, streaming = false, answers, frontmatter = "", ...request }: Asked) {
  await using server = await startServer((response, { body }, index) => {
    const canned = answers[index] ?? { text: "no more answers" };
    if (body.stream === true) sendEvents(response, dialect.events(canned));
    else sendJson(response, dialect.body(canned));
  });
  let executed = 0;
  const note = tool({
    description: "Notes it.",
    input: { type: "object", properties: {} },
    approval: "pre-approved",
    run: () => ++executed,
  });
  const events: RunEvent[] = [];
  const host = memoryHost({
    environment: dialect.variables(server.url),
    fetch: globalThis.fetch,
    files: {
      "/program/main.worker": worker(`toolsets: { note: {} }\n${frontmatter}`),
      "/program/tools.ts": "export const note = 0;",
    },
    modules: { "/program/tools.ts": { note } },
  });
  const outcome = await run({
    target: "/program",
    input: "Begin.",
    model: dialect.model,
    approval: { mode: "reject_all" },
    trust: true,
    host,
    deltas: streaming,
    onEvent: (event) => events.push(event),
    ...request,
  }).then(
    (result) => ({ result, error: undefined }),
    (error: unknown) => ({ result: undefined, error }),
  );
  return { ...outcome, executed, events, requests: server.requests, results: server.requests.map(dialect.results) };
}

const call = { id: "c1", tool: "note", args: "{}" };
const modes = [false, true];

const cuts: [Dialect, string, RegExp][] = [
  [anthropic, "max_tokens", /own bound \(max_tokens\); raise `max_output_tokens`/],
  [anthropic, "model_context_window_exceeded", /context window is full; use a model with a larger one/],
  [chat, "length", /own bound \(length\); raise `max_output_tokens`/],
  [responses, "max_output_tokens", /own bound \(max_output_tokens\); raise `max_output_tokens`/],
];

describe.each(cuts)("an answer that %o ends with %s", (dialect, finish, reason) => {
  test.each(modes)("is cut, with what there is of it (streamed: %s)", async (streaming) => {
    const { result, events, requests } = await ask({ dialect, streaming, answers: [{ text: "forty-", finish }] });
    expect(result).toMatchObject({ stopReason: "cut", output: "forty-", reason: expect.stringMatching(reason) });
    expect(requests).toHaveLength(1);
    const told = events.filter(({ type }) => type === "call-end" || type === "run-end");
    expect(told).toMatchObject([1, 2].map(() => ({ stopReason: "cut", reason: result?.reason })));
    expect(events.find(({ type }) => type === "turn-end")).toMatchObject({
      finish: expect.stringMatching(/length|context-window/),
    });
  });

  test.each(modes)("runs none of its calls, and the model makes them again (streamed: %s)", async (streaming) => {
    const answers = [
      { text: "a", calls: [call, { ...call, id: "c2" }], finish },
      { calls: [{ ...call, id: "c3" }] },
      { text: "done" },
    ];
    const { result, executed, results } = await ask({ dialect, streaming, answers });
    expect(result).toMatchObject({ stopReason: "done", output: "done" });
    expect(executed).toBe(1);
    expect(results[1]?.map(({ id }) => id)).toEqual(["c1", "c2"]);
    expect(JSON.stringify(results[1])).toContain("cut off, so this call may be incomplete and did not run");
  });

  test("ends the call where the answer after it is cut, too", async () => {
    const cut = { text: "a", calls: [call], finish };
    const { result, executed, requests } = await ask({ dialect, answers: [cut, cut, cut] });
    expect(result).toMatchObject({ stopReason: "cut", output: "a" });
    expect([executed, requests.length]).toEqual([0, 2]);
  });
});

const refusals: [Dialect, string, Canned][] = [
  [anthropic, "refusal", { text: "I ca", finish: "refusal", refusal: "This is about malware." }],
  [anthropic, "refusal", { finish: "refusal" }],
  [chat, "content_filter", { text: "I ca", finish: "content_filter" }],
  [chat, "refusal", { refusal: "I cannot help with that." }],
  [responses, "content_filter", { text: "I ca", finish: "content_filter" }],
  [responses, "refusal", { refusal: "I cannot help with that." }],
];

test.each(refusals.flatMap((row) => modes.map((streaming) => [...row, streaming] as const)))(
  "a refusal is an error with the provider's words: %o, %s, %o (streamed: %s)",
  async (dialect, _, canned, streaming) => {
    const { error, requests, events } = await ask({ dialect, streaming, answers: [canned] });
    expect(error).toMatchObject({ code: "refused", run: { usage: { requests: 1, inputTokens: 100 } } });
    expect((error as Error).message).toContain(canned.refusal ?? canned.text ?? "without a word");
    expect(requests).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "run-end", stopReason: "failed" });
  },
);

test.each([
  [anthropic, "refusal"],
  [chat, "content_filter"],
  [responses, "content_filter"],
])("no call of a refused answer runs: %o", async (dialect, finish) => {
  const { error, executed } = await ask({ dialect, answers: [{ calls: [call], finish }, { text: "done" }] });
  expect(error).toMatchObject({ code: "refused" });
  expect(executed).toBe(0);
});

describe.each(dialects)("an empty answer of $name", (dialect) => {
  test.each(modes)("is asked for once more (streamed: %s)", async (streaming) => {
    const { result, requests } = await ask({ dialect, streaming, answers: [{ calls: [call] }, {}, { text: "here" }] });
    expect(result).toMatchObject({ stopReason: "done", output: "here" });
    expect(JSON.stringify(requests[2]?.body)).toContain("Your answer is empty");
    // Providers refuse a message without content.
    const sent = (requests[2]?.body.messages ?? requests[2]?.body.input) as { content?: unknown }[];
    expect(sent.filter(({ content }) => Array.isArray(content) && content.length === 0)).toEqual([]);
  });

  test.each(modes)("twice is an invalid output, also after text with calls (streamed: %s)", async (streaming) => {
    const { error, requests } = await ask({ dialect, streaming, answers: [{ text: "I note.", calls: [call] }, {}, {}] });
    expect(error).toMatchObject({ code: "output_invalid", message: "`main` gave an empty answer, also when asked again" });
    expect(requests).toHaveLength(3);
  });
});

describe("a bound of ours", () => {
  const cutAt = ({ max_tokens: tokens }: { max_tokens: number }) => ({
    ...(chat.body({ text: "half an ans", finish: "length" }) as object),
    usage: { prompt_tokens: 100, completion_tokens: tokens, total_tokens: 100 + tokens },
  });

  async function askBounded(request: Partial<RunRequest>, frontmatter = "") {
    await using server = await startServer((response, { body }) => sendJson(response, cutAt(body)));
    const host = memoryHost({
      environment: chat.variables(server.url),
      fetch: globalThis.fetch,
      files: { "/program/main.worker": worker(frontmatter) },
    });
    const base = { target: "/program", input: "Begin.", model: chat.model, approval: { mode: "reject_all" as const } };
    return { result: await run({ ...base, host, ...request }), requests: server.requests.length };
  }

  test.each<[string, Partial<RunRequest>]>([
    ["400 tokens", { limits: { tokens: 400 } }],
    ["$0.4", { limits: { usd: 0.4 }, prices: { "*": { input: 1000, output: 1000 } } }],
  ])("of %s ends the run at that limit, with what there is", async (limit, request) => {
    const { result, requests } = await askBounded(request);
    expect(result).toMatchObject({ stopReason: "limit", output: "half an ans", reason: `the limit of ${limit}` });
    expect(requests).toBe(1);
  });

  test("that the worker sets itself says what to raise", async () => {
    const { result } = await askBounded({}, "model_settings: { max_output_tokens: 50 }");
    expect(result).toMatchObject({
      stopReason: "cut",
      reason: expect.stringContaining("`max_output_tokens`, which is 50; raise it"),
    });
  });

  test("under a limit that is not reached says what to raise", async () => {
    const { result } = await askBounded({ limits: { tokens: 1_000_000 } });
    expect(result).toMatchObject({ stopReason: "cut", reason: expect.stringMatching(/16,384 tokens.*set `max_output_tokens`/) });
  });

  test("is not taken for reached where the model stopped long before", async () => {
    const { result } = await ask({ dialect: chat, answers: [{ text: "x", finish: "length" }], limits: { tokens: 100_000 } });
    expect(result).toMatchObject({ stopReason: "cut", reason: expect.stringContaining("own bound (length)") });
  });

  test("leaves a last turn for what a cut answer wanted to call", async () => {
    const { result, model } = await play({
      files: { "main.worker": worker("toolsets: { filesystem: {} }"), "a.txt": "a" },
      model: ({ turn, settings: { max_output_tokens: outputTokens = 0 } }) =>
        turn === 1
          ? { calls: [{ tool: "list_files" }], finish: "length", usage: { inputTokens: 10, outputTokens } }
          : { text: "what I have", usage: { inputTokens: 10, outputTokens: 10 } },
      request: { input: "x", limits: { tokens: 20_000 } },
    });
    expect(result).toMatchObject({ stopReason: "limit", output: "what I have", reason: "the limit of 20000 tokens" });
    expect(model.requests).toHaveLength(2);
  });
});

test("a cut answer is no invalid output: with a schema, too, the text is given with the reason", async () => {
  const frontmatter = "output: { found: string }";
  for (const dialect of dialects) {
    const finish = dialect === anthropic ? "max_tokens" : dialect === chat ? "length" : "max_output_tokens";
    const { result, requests } = await ask({ dialect, frontmatter, answers: [{ text: '{"found": "a mo', finish }] });
    expect(result).toMatchObject({ stopReason: "cut", output: '{"found": "a mo' });
    expect(requests).toHaveLength(1);
  }
});

test.each(["[", '{"a":'])("an answer nested without end (%s) is invalid output, in few words", async (open) => {
  const close = open === "[" ? "]" : "}";
  const text = `${open.repeat(300_000)}1${close.repeat(300_000)}`;
  const { error, requests } = await ask({
    dialect: chat,
    frontmatter: "output: { found: string }",
    answers: [{ text }, { text }],
  });
  const message = "`main` gave an output that does not fit its schema: it is nested too deep";
  expect(error).toMatchObject({ code: "output_invalid", message });
  expect(requests).toHaveLength(2);
});

describe("the caller of a worker", () => {
  const files = {
    "main.worker": worker("toolsets: { child: { _approval_config: { child: { pre_approved: true } } } }"),
    "child.worker": worker("description: c"),
  };
  const endings = {
    cut: { text: "half an answer", finish: "length" as const },
    refused: { text: "not that", finish: "content-filter" as const },
    output_invalid: { text: "" },
  };

  test.each(Object.entries(endings))("gets a failure of type %s, and goes on", async (type, reply) => {
    const { result } = await play({
      files,
      model: ({ worker: name, turn, toolResults }) => {
        if (name === "child") return reply;
        return turn === 1 ? { calls: [{ tool: "child", args: { input: "x" } }] } : JSON.stringify(toolResults()[0]?.result);
      },
      request: { input: "x" },
    });
    const told = JSON.parse(String(result?.output)) as { readonly ok: boolean; readonly error: ToolError };
    expect(told).toMatchObject({ ok: false, error: { type, error: expect.stringContaining(reply.text) } });
    expect(result?.stopReason).toBe("done");
  });

  test.each(Object.entries(endings))("that is code catches a failure of type %s, or ends by it", async (type, reply) => {
    const main = { description: "m", input: { type: "object" as const }, approval: "pre-approved" as const, calls: ["child"] };
    const tools = {
      main: tool({
        ...main,
        run: async (_, runtime) => {
          const caught = await runtime
            .call("child", { input: "x" })
            .catch((error: { toolError: ToolError }) => error.toolError.type);
          if (caught !== type) throw new Error(`caught ${String(caught)}`);
          return runtime.call("child", { input: "x" });
        },
      }),
    };
    const { error } = await play({
      files: { "child.worker": files["child.worker"] },
      tools,
      model: () => reply,
      approval: { mode: "approve_all" },
      request: { entry: "tools.ts:main", input: {} },
    });
    expect(error).toMatchObject({ code: type === "cut" ? "failed" : type });
  });
});

test("code that ends with calls under way settles them as interrupted, and replays the same", async () => {
  const started = Promise.withResolvers<void>();
  const tools = {
    slow: tool({
      input: { type: "object" },
      approval: "pre-approved",
      run: () => {
        started.resolve();
        return new Promise<never>(() => {});
      },
    }),
    main: tool({
      input: { type: "object" },
      calls: ["slow", "child"],
      run: async (_, { call }) => {
        call("slow", {});
        call("child", { input: "x" });
        await started.promise;
        throw new Error("no more");
      },
    }),
  };
  const { error, journal } = await play({
    files: { "child.worker": worker("description: c") },
    tools,
    model: () => new Promise<never>(() => {}),
    approval: { mode: "approve_all" },
    request: { entry: "tools.ts:main", input: {} },
  });
  expect(error).toMatchObject({ code: "failed" });
  const intents = journal.filter((entry) => entry.type === "intent");
  const results = journal.filter((entry) => entry.type === "result");
  expect(intents.map(({ kind }) => kind)).toContain("tool");
  expect(results.map(({ callPath, key, outcome }) => [callPath, key, outcome.type])).toEqual(
    intents.map(({ callPath, key }) => [callPath, key, "interrupted"]),
  );
  expect(journal.at(-1)).toMatchObject({ type: "run-end", stopReason: "failed" });
});
