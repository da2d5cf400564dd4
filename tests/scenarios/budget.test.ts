import { describe, expect, test } from "vitest";
import type { RunError } from "../../src/index.ts";
import type { ScriptedReply, ScriptedRequest } from "../../src/testing/index.ts";
import { play, worker } from "./harness.ts";

/** A dollar for a thousand tokens of either kind. */
const prices = { "test:*": { input: 1000, output: 1000 } };
const writer = worker("toolsets: { filesystem: {} }");
const preApproved = (name: string) => `toolsets: { ${name}: { _approval_config: { "*": { pre_approved: true } } } }`;

/** Takes all the room that it is given, and asks for a tool as long as it may. */
function greedy({ settings, turn, lastUserText }: ScriptedRequest): ScriptedReply {
  const usage = { inputTokens: 100, outputTokens: Math.min(100, settings.max_output_tokens ?? 100) };
  if (lastUserText().includes("Give your final answer now")) return { text: "final", usage };
  return { text: "so far", calls: [{ tool: "list_files", args: { pattern: `${turn}*` } }], usage };
}

interface Written {
  readonly limits?: string;
  readonly manifest?: string;
}

describe("dollars", () => {
  test("are told for each call and for the run, with what the provider had cached", async () => {
    const { result, events } = await play({
      files: { "main.worker": worker(preApproved("child")), "child.worker": worker("description: c") },
      model: ({ worker: name, turn }) => {
        if (name === "child") return { text: "x", usage: { inputTokens: 10, outputTokens: 10 } };
        const usage = { inputTokens: 100, cachedInputTokens: 50, outputTokens: 10 };
        return turn === 1 ? { calls: [{ tool: "child", args: { input: "x" } }], usage } : { text: "done", usage };
      },
      request: { input: "x", prices: { "test:*": { input: 1000, output: 2000, cachedInput: 100 } } },
    });
    const ends = events.flatMap((event) => (event.type === "call-end" ? [event.usage.usd] : []));
    expect(ends.map((usd) => usd?.toFixed(6))).toEqual(["0.030000", "0.180000"]);
    expect(result?.usage.usd).toBeCloseTo(0.18, 9);
  });

  test("are not told where the price of one model in it is not known", async () => {
    const { result } = await play({
      files: { "main.worker": worker(""), "child.worker": worker("description: c") },
      model: () => ({ text: "x", usage: { inputTokens: 10 } }),
      request: { input: "x" },
    });
    expect(result?.usage).not.toHaveProperty("usd");
  });

  test.each([
    ["of the run", {}, { usd: 1 }],
    ["of the worker", { limits: "limits: { usd: 1 }" }, {}],
    ["of the manifest", { manifest: "limits: { usd: 1 }" }, {}],
  ])(
    "%s: a price that is not known is an error before the first call",
    async (_, { limits = "", manifest = "{}" }: Written, ofRun) => {
      const { error, model } = await play({
        files: { "main.worker": worker(limits), "llm-do.yaml": manifest },
        model: () => "x",
        request: { input: "x", limits: ofRun },
      });
      expect(error).toMatchObject({
        code: "configuration",
        message: expect.stringContaining("--price 'test:model=INPUT,OUTPUT'"),
      });
      expect(model.requests).toEqual([]);
    },
  );

  test("of a worker need the prices of what it calls, through code too, and of nobody else", async () => {
    const files = {
      "main.worker": worker(preApproved("child")),
      "child.worker": worker("description: c\nmodel: test:cheap\nlimits: { usd: 1 }"),
    };
    const model = ({ worker: name, turn }: ScriptedRequest) =>
      name === "main" && turn === 1 ? { calls: [{ tool: "child", args: { input: "x" } }] } : "done";
    const cheap = { "test:cheap": { input: 1, output: 1 } };
    expect((await play({ files, model, request: { input: "x", prices: cheap } })).result?.output).toBe("done");
    const { error } = await play({ files, model, request: { input: "x", prices: { "test:model": { input: 1, output: 1 } } } });
    expect((error as RunError).message).toContain("no price is known for `test:cheap`, the model of `child`");
  });

  test("that are limited are never crossed, however many workers draw on them at once", async () => {
    for (const parallel of [1, 8]) {
      const { result } = await play({
        files: {
          "main.worker": worker(preApproved("child")),
          "child.worker": worker(`description: c\n${preApproved("filesystem")}`),
        },
        model: (request) => {
          if (request.worker === "child") return greedy(request);
          const usage = { inputTokens: 50, outputTokens: 50 };
          return request.turn === 1
            ? { calls: [1, 2, 3, 4].map(() => ({ tool: "child", args: { input: "x" } })), usage }
            : { text: "done", usage };
        },
        request: { input: "x", limits: { usd: 12, parallel }, prices },
      });
      expect(result?.usage.usd).toBeLessThanOrEqual(12);
      expect(result?.usage.usd).toBeGreaterThan(1);
    }
  });

  test("bound how long an answer may be", async () => {
    const { model } = await play({
      files: { "main.worker": writer },
      model: () => "done",
      request: { input: "x", limits: { usd: 2 }, prices },
    });
    const [asked] = model.requests;
    expect(asked?.settings.max_output_tokens).toBeGreaterThan(1);
    expect(asked?.settings.max_output_tokens).toBeLessThan(1000);
  });
});

describe.each([
  ["tokens", { tokens: 4000 }, "4000 tokens"],
  ["dollars", { usd: 4 }, "$4"],
  ["tool calls", { tool_calls: 2 }, "2 tool calls"],
])("the last turn under a limit of %s", (_, limits, shown) => {
  test("is announced, and comes to an answer; what it needs was held back", async () => {
    const { result, events, model } = await play({
      files: { "main.worker": writer },
      model: greedy,
      request: { input: "x", limits, prices },
    });
    expect(result).toMatchObject({ stopReason: "limit", output: "final", reason: `the limit of ${shown}` });
    const told = model.requests.filter((request) => request.lastUserText().includes(`The limit of ${shown} is reached.`));
    expect(told).toHaveLength(1);
    expect(told[0]).toBe(model.requests.at(-1));
    expect(model.requests.length).toBeGreaterThan(2);
    expect(events.filter(({ type }) => type === "limit")).toHaveLength(1);
    const { inputTokens = 0, outputTokens = 0 } = result?.usage ?? {};
    expect(inputTokens + outputTokens).toBeLessThanOrEqual(4000);
  });

  test("is there for a worker and for whoever called it", async () => {
    const { result } = await play({
      files: {
        "main.worker": worker(preApproved("child")),
        "child.worker": worker("description: c\ntoolsets: { filesystem: {} }"),
      },
      model: (request) => {
        if (request.worker === "child") return greedy(request);
        const [done] = request.toolResults();
        if (!done) return { calls: [{ tool: "child", args: { input: "x" } }], usage: { inputTokens: 10, outputTokens: 10 } };
        return `child: ${JSON.stringify(done.result)}`;
      },
      request: { input: "x", limits, prices },
    });
    expect(result?.output).toContain("what it had so far: final");
  });

  test("ends the call also where the model does not obey", async () => {
    const { result, model } = await play({
      files: { "main.worker": writer },
      model: (request) => ({
        ...greedy(request),
        text: `turn ${request.turn}`,
        calls: [{ tool: "list_files", args: { pattern: `${request.turn}*` } }],
      }),
      request: { input: "x", limits, prices },
    });
    expect(result).toMatchObject({ stopReason: "limit", output: `turn ${model.requests.length}` });
  });
});

test("a limit that allows one request gives that one, without a word about it", async () => {
  const { result, model } = await play({
    files: { "main.worker": writer },
    model: greedy,
    request: { input: "x", limits: { tokens: 1000 } },
  });
  expect(model.requests[0]?.lastUserText()).toBe("x");
  expect(result).toMatchObject({ stopReason: "limit" });
});
