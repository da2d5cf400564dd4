import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import type { ScriptedRequest } from "../../src/testing/index.ts";
import type { MemoryHost } from "../../src/testing/memory-host.ts";
import { play, worker } from "./harness.ts";

const files = { "main.worker": worker("toolsets: { slow: {} }") };
const model = ({ turn, toolResults }: ScriptedRequest) =>
  turn === 1 ? { calls: [{ tool: "slow" }] } : JSON.stringify(toolResults().map(({ result }) => result));

test("a tool that takes too long fails as `timeout`, its signal aborts, and the run and its replay go on", async () => {
  const reasons: unknown[] = [];
  const slow = tool({
    input: z.object({}),
    timeoutSeconds: 5,
    run: (_, { signal }) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return new Promise(() => undefined);
    },
  });
  // Time passes at once here.
  const { result, error, journal } = await play({
    ...{ files, model, tools: { slow } },
    approval: { mode: "approve_all" },
    request: { input: "x" },
  });
  expect(error).toBeUndefined();
  expect(JSON.parse(String(result?.output))).toEqual([
    {
      ok: false,
      error: {
        type: "timeout",
        error: "`slow` took longer than 5 seconds",
        hint: expect.stringContaining("may have had an effect"),
      },
    },
  ]);
  expect(reasons).toMatchObject([{ toolError: { type: "timeout" } }]);
  const results = journal.flatMap((fact) => (fact.type === "result" && fact.kind === "tool" ? [fact.outcome] : []));
  expect(results).toMatchObject([{ type: "value", value: { ok: false, error: { type: "timeout" } } }]);
});

test.each([
  [4999, { ok: true, value: "done" }],
  [5000, { ok: false, error: { type: "timeout" } }],
])("a tool of 5 seconds that takes %i ms gives %j", async (milliseconds, expected) => {
  let host: MemoryHost | undefined;
  const slow = tool({
    input: z.object({}),
    timeoutSeconds: 5,
    run: async (_, { signal }) => {
      await host?.clock.advance(milliseconds);
      expect(signal.aborted).toBe(milliseconds === 5000);
      return "done";
    },
  });
  const { result } = await play({
    ...{ files, model, tools: { slow } },
    approval: (given) => {
      host = given;
      // The time before the tool is entered does not count.
      return { mode: "prompt", approver: async () => given.clock.advance(60_000).then(() => ({ type: "approve" })) };
    },
    request: { input: "x", limits: { seconds: 1000 } },
  });
  expect(JSON.parse(String(result?.output))).toMatchObject([expected]);
});

test("the time of a tool with `calls` ends the calls that it has made, and a replay ends them at the same point", async () => {
  const sub = { "sub.worker": worker("sandbox: { paths: {} }\ntoolsets: { wait: {} }") };
  let host: MemoryHost | undefined;
  const wait = tool({
    input: z.object({}),
    sideEffect: false,
    approval: "pre-approved",
    run: async () => {
      await host?.clock.advance(5000);
      return new Promise(() => undefined);
    },
  });
  const slow = tool({
    input: z.object({}),
    calls: ["sub"],
    timeoutSeconds: 5,
    run: async (_, runtime) => runtime.call("sub", { input: "x" }),
  });
  const { result, error, journal, events } = await play({
    files: { ...files, ...sub },
    model: (request) => (request.worker === "sub" ? { calls: [{ tool: "wait" }] } : model(request)),
    tools: { slow, wait },
    approval: (given) => {
      host = given;
      return { mode: "approve_all" };
    },
    request: { input: "x", limits: { seconds: 1000 } },
  });
  expect(error).toBeUndefined();
  expect(JSON.parse(String(result?.output))).toMatchObject([{ ok: false, error: { type: "timeout" } }]);
  expect(journal.filter(({ type }) => type === "limit")).toMatchObject([
    { callPath: "main/0.slow", limit: "seconds", allowed: 5 },
  ]);
  const ends = journal.flatMap((fact) => (fact.type === "call-end" ? [[fact.callPath, fact.stopReason]] : []));
  expect(ends).toEqual([
    ["main/0.slow/0.sub", "aborted"],
    ["main/0.slow", "failed"],
    ["main", "done"],
  ]);
  expect(events.filter(({ type }) => type === "limit")).toEqual([]);
});

describe("a tool with `calls` and a time", () => {
  const sub = { "sub.worker": worker("sandbox: { paths: {} }\ntoolsets: { touch: {} }") };
  const slow = tool({
    input: z.object({}),
    calls: ["sub"],
    timeoutSeconds: 5,
    run: async (_, runtime) => runtime.call("sub", { input: "x" }),
  });

  /** `before`, `asked`, `after`: milliseconds that pass in the call before the question, at it, and after its answer. */
  async function playAsked({ before = 0, asked = 0, after = 0 }) {
    let host: MemoryHost | undefined;
    const pass = (milliseconds: number) => host?.clock.advance(milliseconds);
    const touch = tool({
      input: z.object({}),
      run: async () => {
        await pass(after);
        return "touched";
      },
    });
    let turns = 0;
    const { result, journal } = await play({
      files: { ...files, ...sub },
      model: async (request) => {
        if (request.worker !== "sub") return model(request);
        if (request.turn > 1) return "done";
        if (turns++ === 0) await pass(before);
        return { calls: [{ tool: "touch" }] };
      },
      tools: { slow, touch },
      approval: (given) => {
        host = given;
        const approver = async ({ tool: name }: { readonly tool: string }) => {
          if (name === "touch") await pass(asked);
          return { type: "approve" } as const;
        };
        return { mode: "prompt", approver };
      },
      request: { input: "x", limits: { seconds: 1000 } },
    });
    return { results: JSON.parse(String(result?.output)), limits: journal.filter(({ type }) => type === "limit") };
  }

  test("does not count the time of a person who is asked in one of them", async () => {
    const { results, limits } = await playAsked({ before: 2000, asked: 600_000, after: 2999 });
    expect(results).toEqual([{ ok: true, value: "done" }]);
    expect(limits).toEqual([]);
  });

  test("goes on counting when the person has answered", async () => {
    const { results, limits } = await playAsked({ before: 2000, asked: 600_000, after: 3000 });
    expect(results).toMatchObject([{ ok: false, error: { type: "timeout" } }]);
    expect(limits).toMatchObject([{ callPath: "main/0.slow", limit: "seconds", allowed: 5 }]);
  });
});

test("a replay ends code that waits for nothing that is recorded", async () => {
  const slow = tool({ input: z.object({}), calls: [], timeoutSeconds: 5, run: () => new Promise(() => undefined) });
  // Time passes at once here.
  const { result } = await play({
    ...{ files, model, tools: { slow } },
    approval: { mode: "approve_all" },
    request: { input: "x" },
  });
  expect(JSON.parse(String(result?.output))).toMatchObject([{ ok: false, error: { type: "timeout" } }]);
});

test("a tool with `calls` that ends in time is not stopped", async () => {
  const sub = { "sub.worker": worker("sandbox: { paths: {} }") };
  const slow = tool({
    input: z.object({}),
    calls: ["sub"],
    timeoutSeconds: 5,
    run: async (_, runtime) => runtime.call("sub", { input: "x" }),
  });
  const { result } = await play({
    files: { ...files, ...sub },
    model: (request) => (request.worker === "sub" ? "in time" : model(request)),
    tools: { slow },
    approval: { mode: "approve_all" },
    request: { input: "x", limits: { seconds: 1000 } },
  });
  expect(JSON.parse(String(result?.output))).toEqual([{ ok: true, value: "in time" }]);
});

test("a time-out is a number of seconds", () => {
  const base = { input: z.object({}), run: () => "x" };
  expect(() => tool({ ...base, timeoutSeconds: 0 })).toThrow("`tool.timeoutSeconds` must be a number of seconds");
});
