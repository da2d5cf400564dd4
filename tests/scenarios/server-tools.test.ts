import { expect, test } from "vitest";
import type { ApprovalRequest, GenerateOptions, Message, Provider, RunEvent } from "../../src/index.ts";
import { judgeCalls, RunError } from "../../src/index.ts";
import type { ScriptedReply, ScriptedRequest } from "../../src/testing/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { runsIn } from "../records.ts";
import { play, worker } from "./harness.ts";

const tools = "server_side_tools: [{ tool_type: web_search, max_uses: 3 }, { tool_type: code_execution }]";
const enabled = ({ serverTools = [] }: ScriptedRequest) => serverTools.map(({ type }) => type);
const approve = { mode: "approve_all" } as const;

function search(query: string) {
  return { tool: "web_search", args: { query }, result: [{ url: "https://example.org" }] };
}

function decisions(events: readonly RunEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "approval-decision" ? [`${event.tool} ${event.decision.type} by ${event.source}`] : [],
  );
}

test("one question for each worker and tool that could be reached, before anything runs", async () => {
  const asked: ApprovalRequest[] = [];
  const { result, events, journal } = await play({
    request: { input: "Go." },
    files: {
      "main.worker": worker(`${tools}\ntoolsets: { helper: { _approval_config: { helper: { pre_approved: true } } } }`),
      "helper.worker": worker("description: Helps.\nserver_side_tools: [{ tool_type: web_fetch, allowed_domains: [a.com] }]"),
    },
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request);
        return { type: "approve" };
      },
    },
    model: (request) => {
      if (request.worker === "helper") return `helped with ${enabled(request)}`;
      if (request.turn === 1) return { calls: [1, 2].map(() => ({ tool: "helper", args: { input: "?" } })) };
      return `done with ${enabled(request)}`;
    },
  });
  expect(result?.output).toBe("done with web_search,code_execution");
  expect(asked.map((request) => [request.worker, request.tool, request.callPath, request.args, request.description])).toEqual([
    [
      "main",
      "server:web_search",
      "main",
      { model: "test:model", max_uses: 3 },
      "Enable for the worker main, on test:model: web_search, at most 3 times in a call",
    ],
    [
      "main",
      "server:code_execution",
      "main",
      { model: "test:model" },
      "Enable for the worker main, on test:model: code_execution",
    ],
    [
      "helper",
      "server:web_fetch",
      "main",
      { model: "test:model", allowed_domains: ["a.com"] },
      "Enable for the worker helper, on test:model: web_fetch, on a.com alone",
    ],
  ]);
  const order = events.map(({ type }) => type);
  expect(order.lastIndexOf("approval-decision")).toBeLessThan(order.indexOf("call-start"));
  const granted = journal.filter(
    (entry) => entry.type === "grant" || (entry.type === "verdict" && entry.verdict.type === "allowed"),
  );
  expect(granted).toHaveLength(5);
});

test("what nobody approves is not there, the worker is told, and the run says what it needed", async () => {
  const { result, model } = await play({
    request: { input: "Go." },
    files: { "main.worker": worker(tools) },
    model: (request) => `with ${enabled(request).length}`,
  });
  expect(result?.output).toBe("with 0");
  expect(model.requests[0]?.system.at(-1)).toBe(
    "Not available in this run, because nobody approved it: web_search, code_execution. Do without, and say so where it matters.",
  );
  expect(result?.denied.map(({ tool, source, worker: of, allow }) => [of, tool, source, allow])).toEqual([
    ["main", "server:web_search", "nobody", undefined],
    ["main", "server:code_execution", "nobody", undefined],
  ]);
});

test("one can be denied and the other approved; with `stop` a denial ends the run before a model is asked", async () => {
  const approver = async ({ tool }: ApprovalRequest) =>
    tool === "server:web_search" ? { type: "approve" as const } : { type: "deny" as const, note: "no code" };
  const files = { "main.worker": worker(tools) };
  const { result, events } = await play({
    request: { input: "Go." },
    files,
    approval: { mode: "prompt", approver },
    model: (request) => `${enabled(request)}`,
  });
  expect(result?.output).toBe("web_search");
  expect(decisions(events)).toEqual(["server:web_search approve by person", "server:code_execution deny by person"]);
  const stopped = await play({
    request: { input: "Go." },
    files,
    approval: { mode: "reject_all", onDenied: "stop" },
    model: () => undefined,
  });
  expect(stopped.error).toMatchObject({ code: "denied" });
  expect(stopped.model.requests).toEqual([]);
});

test("rules decide as over any call, by the tool's bounds too; and what they decide can be asked beforehand", async () => {
  const files = {
    "main.worker": worker(
      "server_side_tools: [{ tool_type: web_search, allowed_domains: [a.com] }, { tool_type: code_execution }]",
    ),
  };
  const rules = [
    { effect: "allow", rule: 'main/server:web_search(allowed_domains=["a.com"])' },
    { effect: "block", rule: "server:code_execution" },
  ] as const;
  const { result } = await play({
    request: { input: "Go." },
    files,
    approval: { mode: "prompt", rules },
    model: (request) => `${enabled(request)}`,
  });
  expect(result).toMatchObject({ output: "web_search", denied: [] });
  const host = memoryHost({ files: { "/program/main.worker": files["main.worker"], "/a.yaml": "[]" } });
  const judge = await judgeCalls({ model: "scripted:/a.yaml", host, target: "/program", rules });
  const bounds = { allowed_domains: ["a.com"] };
  expect(await judge.judge({ tool: "server:web_search", args: bounds })).toMatchObject({ type: "allowed" });
  expect(await judge.judge({ tool: "server:code_execution", args: {} })).toMatchObject({ type: "blocked" });
  await judge.close();
});

test("what the provider did is told, runs nowhere, and goes back with the next turn", async () => {
  const { result, events, model, journal } = await play({
    request: { input: "Go." },
    files: { "main.worker": worker(tools) },
    approval: approve,
    model: (request): ScriptedReply | string => {
      if (request.turn === 1)
        return { serverCalls: [search("a"), { tool: "code_execution", error: "out of memory" }], finish: "paused", text: "It " };
      return "is a moth.";
    },
  });
  expect(result?.output).toBe("It is a moth.");
  const told = events.filter(({ type }) => type === "tool-call" || type === "tool-result");
  expect(told).toMatchObject([
    { callPath: "main/0.web_search", type: "tool-call", tool: "web_search", args: { query: "a" }, executedBy: "provider" },
    { callPath: "main/0.web_search", type: "tool-result", result: { ok: true, value: [{ url: "https://example.org" }] } },
    { callPath: "main/1.code_execution", type: "tool-call", executedBy: "provider" },
    { callPath: "main/1.code_execution", type: "tool-result", result: { ok: false, error: { error: "out of memory" } } },
  ]);
  expect(model.requests[1]?.messages[1]?.parts.map(({ type }) => type)).toEqual([
    "server-call",
    "server-result",
    "server-call",
    "server-result",
    "text",
  ]);
  expect(journal.some((entry) => (entry.type === "verdict" || entry.type === "grant") && entry.tool === "web_search")).toBe(
    false,
  );
});

test("the answer is what the model writes after the provider has done its part, across a pause too", async () => {
  const frontmatter = `${tools}\noutput: { found: string }`;
  const text = (value: string) => ({ type: "text" as const, text: value });
  const used = [
    { type: "server-call" as const, id: "s1", name: "web_search", args: {} },
    { type: "server-result" as const, id: "s1", name: "web_search", ok: true, value: [] },
  ];
  const answers: Message["parts"][] = [
    [text("Let me search."), ...used.slice(0, 1)],
    [...used.slice(1), text('{"found":'), text('"a moth"}')],
  ];
  const model = {
    id: "own:model",
    generate: async (_: unknown, { call: { turn } }: GenerateOptions) => ({
      message: { role: "assistant", parts: answers[turn - 1] } as never,
      usage: { requests: 1, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
      finish: turn === 1 ? ("paused" as const) : ("stop" as const),
    }),
  };
  const provider = {
    name: "own",
    description: "",
    keyVariables: [],
    serverTools: { web_search: ["max_uses"], code_execution: [] },
  };
  const { result, error, events } = await play({
    request: { input: "Go.", model: "own:model", providers: [{ ...provider, create: async () => model } as Provider] },
    files: { "main.worker": worker(frontmatter) },
    approval: approve,
    model: () => undefined,
  });
  expect(error).toBe(undefined);
  expect(result?.output).toEqual({ found: "a moth" });
  expect(events.flatMap((event) => (event.type === "turn-end" ? [event.text] : []))).toEqual([
    "Let me search.",
    '{"found":"a moth"}',
  ]);
});

test("`max_uses` counts for the whole call", async () => {
  const { model, result } = await play({
    request: { input: "Go." },
    files: { "main.worker": worker("server_side_tools: [{ tool_type: web_search, max_uses: 3 }]\ntoolsets: { filesystem: {} }") },
    approval: approve,
    model: (request) =>
      request.turn < 3
        ? { serverCalls: request.turn === 1 ? [search("a")] : [search("b"), search("c")], calls: [{ tool: "list_files" }] }
        : "done",
  });
  expect(result?.output).toBe("done");
  expect(model.requests.map(({ serverTools }) => serverTools?.[0]?.max_uses)).toEqual([3, 2, undefined]);
});

test("files that the provider made are artifacts of the run, also of one that fails", async () => {
  const file = { name: "../../chart.svg", mediaType: "image/svg+xml", text: "<svg/>" };
  const made = { serverCalls: [{ tool: "code_execution" }], files: [file, { ...file, name: "CHART.svg" }], text: "Drawn." };
  const { result } = await play({
    request: { input: "Go." },
    files: { "main.worker": worker(tools) },
    approval: approve,
    model: () => made,
  });
  const [first, second] = result?.artifacts ?? [];
  expect(first).toMatchObject({ name: "chart.svg", mediaType: "image/svg+xml", bytes: 6, callPath: "main" });
  expect(first?.path).toBe(`${runsIn("/program")}/${result?.runId}/artifacts/chart.svg`);
  expect(second?.name).toBe("CHART-2.svg");
  const failed = await play({
    request: { input: "Go." },
    files: { "main.worker": worker(`${tools}\nlimits: { turns: 2 }`) },
    approval: approve,
    model: ({ turn }) => (turn === 1 ? { ...made, finish: "paused" } : { error: { code: "bad_request" } }),
  });
  expect(failed.error).toBeInstanceOf(RunError);
  const { run } = failed.error as RunError;
  const folder = `${runsIn("/program")}/${run?.runId}/artifacts`;
  expect(run?.artifacts.map(({ path }) => path)).toEqual([`${folder}/chart.svg`, `${folder}/CHART-2.svg`]);
});

test("arguments and results that are nested without end harm nobody", async () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 3500; depth++) deep = [deep];
  const { result, error } = await play({
    request: { input: "Go." },
    files: { "main.worker": worker(tools) },
    approval: approve,
    model: () => ({ serverCalls: [{ tool: "web_search", args: deep as never, result: deep as never }], text: "fine" }),
  });
  expect(error).toBe(undefined);
  expect(result?.output).toBe("fine");
});
