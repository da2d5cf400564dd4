import { describe, expect, test } from "vitest";
import { type ApprovalRequest, needsApproval, preApproved, type ToolsetCall, tool, toolset } from "../../src/index.ts";
import type { ScriptedCall } from "../../src/testing/index.ts";
import { play, worker } from "./harness.ts";

const anything = { type: "object" } as const;

/**
 * A toolset whose calls are prepared the faster the later they are requested: without an order, the last would be first.
 * `log` has what was executed, in order.
 */
function slowToPrepare({ asks = false }: { readonly asks?: boolean } = {}) {
  const log: string[] = [];
  let patience = 50;
  const made = toolset({
    name: "notes",
    tools: () => [
      tool({ name: "note", input: anything, run: ({ text }) => void log.push(String(text)) }),
      tool({ name: "look", input: anything, run: ({ text }) => void log.push(String(text)) }),
    ],
    targets: ({ tool: name, args }: ToolsetCall) => (name === "look" ? [{ read: String(args["on"]) }] : [String(args["on"])]),
    prepare: async ({ args }) => {
      patience -= 5;
      const ticks = patience;
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
      return { canonicalArgs: args, targets: [], facts: {} };
    },
    needsApproval: ({ args }) => (asks && String(args["text"]).endsWith("?") ? needsApproval() : preApproved()),
  });
  return { made, log };
}

const note = (on: string, text: string): ScriptedCall => ({ tool: "note", args: { on, text } });
const look = (on: string, text: string): ScriptedCall => ({ tool: "look", args: { on, text } });

interface TurnOptions {
  readonly asks?: boolean;
  readonly onAsk?: (request: ApprovalRequest) => void;
}

async function playTurn(calls: readonly ScriptedCall[], { onAsk, ...more }: TurnOptions = {}) {
  const { made, log } = slowToPrepare(more);
  const { error } = await play({
    files: { "main.worker": worker("toolsets: { notes: {} }") },
    tools: { notes: made },
    model: ({ turn }) => (turn === 1 ? { calls } : "done"),
    approval: {
      mode: "prompt",
      approver: async (request) => {
        onAsk?.(request);
        for (let tick = 0; tick < 200; tick++) await new Promise((resolve) => setImmediate(resolve));
        return { type: "approve" };
      },
    },
    request: { input: "x" },
  });
  if (error) throw error;
  return log;
}

describe("calls of one turn", () => {
  test("that ask are counted before the first question, and those that wait behind them", async () => {
    const positions: unknown[] = [];
    const calls = [note("a", "1?"), note("b", "2?"), note("a", "3?"), look("c", "4"), note("d", "5?"), note("a", "6")];
    const log = await playTurn(calls, { asks: true, onAsk: ({ position }) => positions.push(position) });
    expect(positions.slice(0, 2)).toEqual([
      { n: 1, m: 3, waiting: 2 },
      { n: 2, m: 3, waiting: 2 },
    ]);
    expect(positions).toHaveLength(4);
    expect(new Set(log)).toEqual(new Set(["1?", "2?", "3?", "4", "5?", "6"]));
  });

  test("that share a target are prepared and executed in the order of the request", async () => {
    const texts = ["1", "2", "3", "4", "5"];
    expect(await playTurn(texts.map((text) => note("a", text)))).toEqual(texts);
  });

  test("that share none are executed as soon as they are prepared", async () => {
    expect(await playTurn(["1", "2", "3"].map((text) => note(text, text)))).toEqual(["3", "2", "1"]);
  });

  test("that only read a target run in parallel, between those that change it", async () => {
    const calls = [note("a", "1"), look("a", "2"), look("a", "3"), note("a", "4"), look("a", "5")];
    expect(await playTurn(calls)).toEqual(["1", "3", "2", "4", "5"]);
  });

  test("on a target and on what contains it share it", async () => {
    const calls = [note("a/b", "1"), note("a/c", "2"), look("a", "3"), note("a", "4"), look("a/b/d", "5")];
    expect(await playTurn(calls)).toEqual(["2", "1", "3", "4", "5"]);
  });

  test("hold their targets while a question waits, and let the others go on", async () => {
    const calls = [note("a", "1?"), note("a", "2"), note("b", "3")];
    expect(await playTurn(calls, { asks: true })).toEqual(["3", "1?", "2"]);
  });
});

describe("file tools in one turn", () => {
  const program = (frontmatter = "") => ({
    "main.worker": worker(`${frontmatter}\nsandbox: { paths: { o: { root: ./o, mode: rw, write_approval: false } } }
toolsets: { filesystem: {}, reader: { _approval_config: { "*": { pre_approved: true } } } }`),
    "reader.worker": worker("input: { file: attachment }"),
  });

  test("a write, and appends behind it, keep their order, whatever the paths are spelled like", async () => {
    const paths = ["o/log.md", "o:log.md", "./o/log.md", "o/./log.md"];
    const appends = paths.map((path, index): ScriptedCall => ({ tool: "append_file", args: { path, content: `${index}` } }));
    const calls = [{ tool: "write_file", args: { path: "o/log.md", content: "# Title " } }, ...appends];
    const { files, error } = await play({
      files: program(),
      model: ({ turn }) => (turn === 1 ? { calls } : "done"),
      request: { input: "x" },
    });
    expect(error).toBeUndefined();
    expect(files["o/log.md"]).toBe("# Title 0123");
  });

  test("a worker that is sent a file gets it as it was written before, and may write it itself", async () => {
    const calls = [
      { tool: "write_file", args: { path: "o/a.md", content: "hello" } },
      { tool: "reader", args: { file: "o/a.md" } },
      { tool: "append_file", args: { path: "o/a.md", content: "!" } },
    ];
    const { files, model, result } = await play({
      files: program(),
      model: ({ worker: name, turn, files: sent }) => {
        if (name === "reader") return Buffer.from(sent()[0]?.bytes ?? []).toString();
        return turn === 1 ? { calls } : "done";
      },
      request: { input: "x" },
    });
    expect(result?.output).toBe("done");
    expect(files["o/a.md"]).toBe("hello!");
    const [, answered] = model.requests.at(-1)?.toolResults() ?? [];
    expect(answered?.result).toEqual({ ok: true, value: "hello" });
  });

  test("a read, a list and a search see what was written before them", async () => {
    let results: readonly unknown[] = [];
    const calls = [
      { tool: "list_files", args: { path: "o" } },
      { tool: "write_file", args: { path: "o/new/a.md", content: "hello" } },
      { tool: "read_file", args: { path: "o/new/a.md" } },
      { tool: "list_files", args: {} },
      { tool: "search_files", args: { path: "o", regex: "hel+o" } },
    ];
    await play({
      files: { ...program(), "o/old.md": "old" },
      model: ({ turn, toolResults }) => {
        if (turn === 1) return { calls };
        results = toolResults().map(({ result }) => (result.ok ? result.value : result.error));
        return "done";
      },
      request: { input: "x" },
    });
    expect(results).toMatchObject([
      { files: ["o/old.md"] },
      { path: "o/new/a.md" },
      { content: "hello" },
      { files: ["o/new/a.md", "o/old.md"] },
      { matches: [{ path: "o/new/a.md" }] },
    ]);
  });
});
