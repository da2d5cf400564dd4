import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Host } from "../../src/host/host.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { compile, type MappedRow, type MapRequest, ModelError, mapRuns, type RunError, tool } from "../../src/index.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { chat } from "../models/dialects.ts";
import { type Answer, sendJson, startServer } from "../models/local-server.ts";
import { worker } from "../scenarios/harness.ts";

const files = { "/program/main.worker": worker("", "Answer.") };

/** A failure of one request, which is not tried again. */
const refusal = new ModelError({ code: "bad_request", model: "test:m", message: "no" });

async function collect(request: Omit<MapRequest, "approval"> & Partial<MapRequest>): Promise<readonly MappedRow[]> {
  const results: MappedRow[] = [];
  for await (const row of mapRuns({ approval: { mode: "reject_all" }, ...request })) results.push(row);
  return results;
}

async function scripted(script: Script, { target = "/program", host = memoryHost({ files }) as Host } = {}) {
  const provider = {
    ...{ name: "test", description: "for tests", keyVariables: [] },
    create: async () => scriptedModel(script, "test:m"),
  };
  const { program } = await compile({ target, model: "test:m", host, providers: [provider], trust: true, toRun: true });
  if (!program) throw new Error("it does not compile");
  return { program, host };
}

const outcomes = (rows: readonly MappedRow[]) => rows.map(({ row, stopReason, output }) => [row, stopReason, output]);

test("yields results in the order of the rows, and names those that are none", async () => {
  const { program } = await scripted(async ({ lastUserText }) => {
    await setTimeout(lastUserText() === "0" ? 30 : 1);
    if (lastUserText() === "3") throw refusal;
    return { text: `<${lastUserText()}>` };
  });
  const rows = ["0", "1", new Error("line 3: this is not JSON"), "3", { other: 1 }, "1"];
  const results = await collect({ program, rows });
  expect(outcomes(results).filter(([, reason]) => reason === "done")).toEqual([
    [1, "done", "<0>"],
    [2, "done", "<1>"],
    [6, "done", "<1>"],
  ]);
  expect(results.map(({ stopReason }) => stopReason)).toEqual(["done", "done", "invalid", "failed", "invalid", "done"]);
  expect(results[2]).toMatchObject({ runId: null, error: { message: "line 3: this is not JSON" } });
  expect(new Set(results.map(({ runId }) => runId)).size).toBe(6);
});

test("runs with a name only what has not ended, by the content of the rows", async () => {
  let isFailing = true;
  const asked: string[] = [];
  const { program } = await scripted(({ lastUserText }) => {
    asked.push(lastUserText());
    if (isFailing && lastUserText() === "b") throw refusal;
    return { text: `<${lastUserText()}>` };
  });
  const first = await collect({ program, rows: ["a", "b", "a"], name: "x" });
  expect(outcomes(first)).toEqual([
    [1, "done", "<a>"],
    [2, "failed", null],
    [3, "done", "<a>"],
  ]);
  isFailing = false;
  asked.length = 0;
  const second = await collect({ program, rows: ["c", "a", "a", "b", "a"], name: "x" });
  expect(outcomes(second).map(([, , output]) => output)).toEqual(["<c>", "<a>", "<a>", "<b>", "<a>"]);
  expect(asked.sort()).toEqual(["a", "b", "c"]);
  expect(second[1]?.runId).toBe(first[0]?.runId);
  expect(await collect({ program, rows: ["a"], name: "y" })).not.toMatchObject([{ runId: first[0]?.runId }]);
});

/** `npm run test:long` has ten thousand. */
const many = Number(process.env["LLM_DO_MAP_ROWS"] ?? 600);

test(`holds no more of ${many} rows than of a hundred`, { timeout: 60_000 + many * 60 }, async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const folder = await mkdtemp(join(tmpdir(), "llm-do-map-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const host = createNodeHost({ environment: { LLM_DO_STATE_DIR: join(folder, "state") }, workingDirectory: folder });
  await writeFile(join(folder, "main.worker"), files["/program/main.worker"]);
  const { program } = await scripted(() => ({ text: "x".repeat(20_000) }), { target: folder, host });
  async function* rows() {
    for (let row = 0; row < many; row++) yield `row ${row}`;
  }
  const heap: number[] = [];
  for await (const { row, stopReason } of mapRuns({ program, rows: rows(), name: "x", approval: { mode: "reject_all" } })) {
    expect(stopReason).toBe("done");
    if (row % 100 !== 0) continue;
    collectGarbage();
    heap.push(process.memoryUsage().heapUsed / 1e6);
  }
  expect(heap).toHaveLength(many / 100);
  // A result is twenty kilobytes; what is kept of a row is its digest.
  expect((heap.at(-1) ?? 0) - (heap[0] ?? 0)).toBeLessThan(3 + many * 0.0005);
});

test("rejects for what all rows would meet, and for unknown options", async () => {
  const host = memoryHost({ files });
  const model = "anthropic:claude-sonnet-4-5";
  const { program } = await compile({ target: "/program", model, host, toRun: true });
  if (!program) throw new Error("it does not compile");
  await expect(collect({ program, rows: ["a", "b"] })).rejects.toMatchObject({ code: "authentication" });
  await expect(collect({ program, rows: ["a"], paralel: 3 } as never)).rejects.toThrow("did you mean `parallel`?");
});

describe("on a priced server", () => {
  async function onServer(answer: Answer, more: Partial<MapRequest> = {}) {
    await using server = await startServer(answer);
    const host = {
      ...memoryHost({ environment: chat.variables(server.url), fetch: globalThis.fetch, files }),
      clock: createNodeHost().clock,
    };
    const { program } = await compile({ target: "/program", model: chat.model, host, toRun: true });
    if (!program) throw new Error("it does not compile");
    const rows = Array.from({ length: 100 }, (_, row) => `row ${row}`);
    const prices = { "*": { input: 1000, output: 1000 } };
    const request: Omit<MapRequest, "approval"> = { program, rows, prices, parallel: 5, name: "x", ...more };
    const first = await collect(request);
    return { first, requests: server.requests, again: (next: Partial<MapRequest>) => collect({ ...request, ...next }) };
  }

  const usage = { prompt_tokens: 50, completion_tokens: 50, total_tokens: 100 };
  const dime: Answer = async (response) => {
    await setTimeout(5);
    sendJson(response, { ...(chat.body({ text: "x" }) as object), usage });
  };

  test("the account of all rows is passed by what was under way at most, and a larger one goes on", async () => {
    await using server = await startServer(dime);
    const host = {
      ...memoryHost({ environment: chat.variables(server.url), fetch: globalThis.fetch, files }),
      clock: createNodeHost().clock,
    };
    const { program } = await compile({ target: "/program", model: chat.model, host, toRun: true });
    if (!program) throw new Error("it does not compile");
    const rows = Array.from({ length: 40 }, (_, row) => `row ${row}`);
    const request = { program, rows, prices: { "*": { input: 1000, output: 1000 } }, parallel: 5, name: "x" };
    // Each request costs ten cents.
    const first = await collect({ ...request, usd: 1 });
    const spent = first.reduce((sum, row) => sum + (row.usage?.usd ?? 0), 0);
    expect(spent).toBeGreaterThanOrEqual(1 - 1e-9);
    expect(spent).toBeLessThanOrEqual(1 + 4 * 0.1 + 1e-9);
    expect(server.requests.length).toBeLessThanOrEqual(14);
    expect(first.length).toBeLessThan(40);
    const before = server.requests.length;
    expect(await collect({ ...request, usd: 1 })).toSatisfy((all: readonly MappedRow[]) =>
      all.every(({ stopReason }) => stopReason === "done" || stopReason === "account"),
    );
    expect(server.requests.length).toBe(before);
    const last = await collect({ ...request, usd: 10 });
    expect(last.map(({ stopReason }) => stopReason)).toEqual(rows.map(() => "done"));
    expect(server.requests.length).toBe(40);
  });

  test("a refusal for a time keeps all rows back", async () => {
    const times: number[] = [];
    let refused = 0;
    const { first } = await onServer(
      async (response) => {
        times.push(performance.now());
        if (times.length === 10) {
          refused = performance.now();
          return sendJson(response, { error: { message: "slow down" } }, 429, { "retry-after": "1" });
        }
        await setTimeout(20);
        return dime(response, undefined as never, 0);
      },
      { rows: Array.from({ length: 30 }, (_, row) => `row ${row}`) },
    );
    expect(first.map(({ stopReason }) => stopReason)).toEqual(first.map(() => "done"));
    // Requests that were under way when the refusal came went out before it was read.
    const meanwhile = times.filter((time) => time > refused + 100 && time < refused + 950);
    expect(meanwhile).toEqual([]);
  });
});

test("ends where the caller stops, and goes on later", async () => {
  const { program } = await scripted(({ lastUserText }) => ({ text: lastUserText() }));
  const rows = Array.from({ length: 50 }, (_, row) => `row ${row}`);
  for await (const { row } of mapRuns({ program, rows, name: "x", approval: { mode: "reject_all" } })) if (row === 3) break;
  const all = await collect({ program, rows, name: "x" });
  expect(all.map(({ output }) => output)).toEqual(rows);
  const controller = new AbortController();
  controller.abort(new Error("enough"));
  await expect(collect({ program, rows: ["new"], signal: controller.signal })).rejects.toMatchObject({
    code: "aborted",
  } satisfies Partial<RunError>);
});

describe("a row that is under way when the account of all rows is used up", () => {
  const usage = { inputTokens: 50, outputTokens: 50 };
  /** Each request costs ten cents. */
  const prices = { "test:*": { input: 1000, output: 1000 } };
  const hostWith = (main: string, tools: Record<string, unknown>) =>
    memoryHost({
      files: {
        "/program/main.worker": worker(main, "Answer."),
        "/program/quick.worker": worker("", "Answer quickly."),
        "/program/tools.ts": Object.keys(tools)
          .map((name) => `export const ${name} = 0;\n`)
          .join(""),
      },
      modules: { "/program/tools.ts": tools },
    });

  test("goes on with a larger one, and repeats nothing", async () => {
    const asked: string[] = [];
    let noted = 0;
    const note = tool({ description: "Notes.", input: z.object({ turn: z.number() }), run: async () => `noted ${++noted}` });
    const host = hostWith("toolsets: { note: {} }", { note });
    const { program } = await scripted(
      ({ lastUserText, turn }) => {
        asked.push(`${lastUserText()} ${turn}`);
        return turn < 3 ? { calls: [{ tool: "note", args: { turn } }], usage } : { text: `<${lastUserText()}>`, usage };
      },
      { host },
    );
    const approval = { mode: "approve_all" } as const;
    const request = { program, rows: ["a", "b", "c"], prices, parallel: 1, name: "x", approval };
    for (const usd of [0.1, 0.2, 0.4, 0.8]) {
      const rows = await collect({ ...request, usd });
      expect(rows.at(-1)).toMatchObject({ stopReason: "account", output: null, reason: `the $${usd} for all rows are used up` });
      expect(asked.length).toBe(Math.round(usd * 10));
    }
    const last = await collect({ ...request, usd: 1 });
    expect(outcomes(last)).toEqual(["a", "b", "c"].map((row, index) => [index + 1, "done", `<${row}>`]));
    expect(last[0]?.usage?.usd).toBeCloseTo(0.3);
    expect(new Set(asked).size).toBe(9);
    expect([asked.length, noted]).toEqual([9, 6]);
  });

  test("lets calls beside the refused request come to their ends, so that nothing goes on without it", async () => {
    let ended = 0;
    const slow = tool({
      ...{ description: "Takes a while.", input: z.object({}) },
      run: async () => {
        await setTimeout(50);
        return `slow ${++ended}`;
      },
    });
    const both = tool({
      ...{ description: "Calls both.", input: z.object({}), calls: ["quick", "slow"], replayable: true },
      run: async (_, runtime) => {
        const caught = (error: unknown) => `without: ${String(error)}`;
        return Promise.all([runtime.call("quick", { input: "2" }).catch(caught), runtime.call("slow", {}).catch(caught)]);
      },
    });
    const host = hostWith("toolsets: { both: {} }", { both, slow });
    const { program } = await scripted(
      ({ lastUserText, turn, toolResults }) => {
        if (lastUserText() === "2") return { text: "quick", usage };
        return turn === 1
          ? { calls: [{ tool: "both", args: {} }], usage }
          : { text: JSON.stringify(toolResults()[0]?.result), usage };
      },
      { host },
    );
    const request = { program, rows: ["a"], prices, name: "x", approval: { mode: "approve_all" } as const };
    expect(await collect({ ...request, usd: 0.1 })).toMatchObject([{ stopReason: "account" }]);
    expect(ended).toBe(1);
    expect(await collect({ ...request, usd: 1 })).toMatchObject([
      { stopReason: "done", output: '{"ok":true,"value":["quick","slow 1"]}' },
    ]);
    expect(ended).toBe(1);
  });

  test("differs from a row that met a limit of its own, which is final", async () => {
    let asked = 0;
    const { program } = await scripted(() => ({ text: `${++asked}`, usage: { inputTokens: 500, outputTokens: 500 } }));
    const request = { program, rows: ["a"], prices, name: "x", limits: { usd: 0.001 } };
    expect(await collect({ ...request, usd: 1 })).toMatchObject([{ stopReason: "limit" }]);
    const before = asked;
    expect(await collect({ ...request, usd: 10, limits: { usd: 10 } })).toMatchObject([{ stopReason: "limit" }]);
    expect(asked).toBe(before);
  });
});
