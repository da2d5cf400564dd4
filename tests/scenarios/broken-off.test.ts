import { describe, expect, test } from "vitest";
import { type RunEvent, tool } from "../../src/index.ts";
import { play, worker } from "./harness.ts";

const counted = () => {
  const made: number[] = [];
  const count = tool({
    input: { type: "object" },
    approval: "pre-approved",
    run: ({ n }) => {
      made.push(Number(n));
      return n;
    },
  });
  return { made, count };
};

const callsOf = (length: number) => Array.from({ length }, (_, n) => ({ tool: "count", args: { n } }));
const paths = (events: readonly RunEvent[], type: RunEvent["type"]) =>
  events.filter((event) => event.type === type).map(({ callPath }) => callPath);

describe("a turn with more calls than `tool_calls` allows", () => {
  test("makes the first ones, tells the model of the others, and ends with its last answer", async () => {
    const { made, count } = counted();
    let results: readonly unknown[] = [];
    const { result, events, error } = await play({
      files: { "main.worker": worker("toolsets: { count: {} }") },
      tools: { count },
      model: ({ turn, toolResults }) => {
        if (turn === 1) return { calls: callsOf(6) };
        results = toolResults().map(({ result: one }) => (one.ok ? one.value : one.error));
        return "finished";
      },
      request: { input: "x", limits: { tool_calls: 4 } },
    });
    expect(error).toBeUndefined();
    expect(made).toEqual([0, 1, 2, 3]);
    const refused = { type: "limit", error: expect.stringContaining("4 tool calls") };
    expect(results).toEqual(
      [0, 1, 2, 3, refused, refused].map((one) => (typeof one === "number" ? one : expect.objectContaining(one))),
    );
    expect(result).toMatchObject({ output: "finished", stopReason: "limit" });
    expect(paths(events, "tool-call")).toHaveLength(4);
  });
});

describe("every `tool-call` event has its `tool-result`", () => {
  const files = {
    "main.worker": worker("toolsets: { filesystem: {}, child: { _approval_config: { '*': { pre_approved: true } } } }"),
    "child.worker": worker("toolsets: { filesystem: {} }"),
  };

  test("where a denial stops the run", async () => {
    const { events, error } = await play({
      files,
      model: ({ worker: name }) => ({
        calls: [
          ...(name === "main" ? [{ tool: "child", args: { input: "x" } }] : []),
          { tool: "write_file", args: { path: "a", content: "" } },
          { tool: "list_files", args: {} },
        ],
      }),
      approval: { mode: "reject_all", onDenied: "stop" },
      request: { input: "x" },
    });
    expect(error).toMatchObject({ code: "denied" });
    expect(paths(events, "tool-call").length).toBeGreaterThan(2);
    expect(paths(events, "tool-result").toSorted()).toEqual(paths(events, "tool-call").toSorted());
  });

  test("where a denial stops the run before a granted worker begins, in its replay too", async () => {
    const { events, error, journal } = await play({
      files: {
        "main.worker": worker("toolsets: { child: { _approval_config: { '*': { pre_approved: true } } }, other: {} }"),
        "child.worker": worker("description: c"),
        "other.worker": worker("description: o"),
      },
      model: () => ({ calls: ["child", "other"].map((tool) => ({ tool, args: { input: "x" } })) }),
      approval: { mode: "reject_all", onDenied: "stop" },
      request: { input: "x" },
    });
    expect(error).toMatchObject({ code: "denied" });
    expect(journal.filter((entry) => entry.type === "verdict" && entry.verdict.type === "allowed")).toHaveLength(1);
    expect(journal.filter(({ type }) => type === "call-start")).toHaveLength(1);
    expect(journal.filter((entry) => entry.type === "decision" && entry.stops)).toHaveLength(1);
    expect(paths(events, "tool-result").toSorted()).toEqual(paths(events, "tool-call").toSorted());
  });

  test("where the run is aborted while a person is asked", async () => {
    const controller = new AbortController();
    const { events, error } = await play({
      files,
      model: () => ({ calls: [{ tool: "write_file", args: { path: "a", content: "" } }] }),
      approval: {
        mode: "prompt",
        approver: async () => {
          controller.abort();
          return { type: "approve" };
        },
      },
      request: { input: "x", signal: controller.signal },
    });
    expect(error).toMatchObject({ code: "aborted" });
    expect(paths(events, "tool-call")).toHaveLength(1);
    expect(paths(events, "tool-result")).toEqual(paths(events, "tool-call"));
  });
});
