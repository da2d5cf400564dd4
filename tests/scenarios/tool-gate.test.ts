import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, isStepCount, jsonSchema, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type ApprovalPolicy, type ApprovalRequest, createToolGate } from "../../src/approval/index.ts";
import { openScopes, ScopeError } from "../../src/scopes.ts";

type Call = readonly [tool: string, input: unknown];

/** A model of the AI SDK that makes these calls, one a turn, and says what came back. */
function modelThatCalls(calls: readonly Call[]): MockLanguageModelV4 {
  let turn = 0;
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const call = calls[turn++];
      return call
        ? {
            content: [{ type: "tool-call", toolCallId: String(turn), toolName: call[0], input: JSON.stringify(call[1]) }],
            finishReason: { unified: "tool-calls", raw: undefined },
            usage,
            warnings: [],
          }
        : { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
    },
  });
}

async function play(approval: ApprovalPolicy, calls: readonly Call[]) {
  const saved: string[] = [];
  const gate = createToolGate({ approval, name: "notes" });
  const tools = gate.gate({
    save: tool({
      description: "Save a note.",
      inputSchema: z.object({ title: z.string(), count: z.string().transform(Number) }),
      execute: ({ title, count }, { toolCallId }) => {
        saved.push(`${title} ${count + 1} ${toolCallId}`);
        return { saved: title };
      },
    }),
    count: tool({ inputSchema: jsonSchema<object>({ type: "object" }), execute: () => saved.length }),
  });
  const run = generateText({
    model: modelThatCalls(calls),
    prompt: "go",
    tools,
    stopWhen: isStepCount(5),
    abortSignal: gate.signal,
  });
  const results = await run.then(
    ({ steps }) => steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output as unknown)),
    (thrown: unknown) => thrown,
  );
  return { saved, results, denied: gate.denied.map(({ tool: name, source }) => [name, source]) };
}

const save: Call = ["save", { title: "a", count: "1" }];
const asked: ApprovalRequest[] = [];
const approver = async (request: ApprovalRequest) => {
  asked.push(request);
  return { type: "approve" as const };
};

test("what a person approves runs, with the arguments that were shown and the options that the loop gave", async () => {
  asked.length = 0;
  const { saved, results } = await play({ mode: "prompt", approver }, [save]);
  expect(asked.map(({ worker, tool: name, args }) => [worker, name, args])).toEqual([
    ["notes", "save", { title: "a", count: 1 }],
  ]);
  expect(saved).toEqual(["a 2 1"]);
  expect(results).toEqual([{ saved: "a" }]);
});

test("without anybody to ask nothing runs, and the model is told", async () => {
  const { saved, results, denied } = await play({ mode: "prompt" }, [save, ["count", {}]]);
  expect(saved).toEqual([]);
  expect(results).toMatchObject([{ type: "denied" }, { type: "denied" }]);
  expect(denied).toEqual([
    ["save", "nobody"],
    ["count", "nobody"],
  ]);
});

test("rules allow and block", async () => {
  const rules = [
    { effect: "allow", rule: "notes/count" },
    { effect: "allow", rule: "save(title=a)" },
    { effect: "block", rule: "save(title=b*)" },
  ] as const;
  const { saved, results } = await play({ mode: "prompt", rules }, [save, ["save", { title: "bad", count: "1" }], ["count", {}]]);
  expect(saved).toHaveLength(1);
  expect(results).toMatchObject([{ saved: "a" }, { type: "blocked" }, 1]);
});

test("a stop ends the loop", async () => {
  const { saved, results } = await play({ mode: "prompt", approver: async () => ({ type: "stop" }) }, [save, save]);
  expect(saved).toEqual([]);
  expect(results).toBeInstanceOf(Error);
});

test("scopes keep files in their folders, without a program around them", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "llm-do-scopes-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "secret"), "s");
  const scopes = await openScopes([{ name: "notes", root: join(folder, "notes"), mode: "rw" }]);
  onTestFinished(() => scopes.close());
  await scopes.write("notes/a.md", new TextEncoder().encode("hello"), { expect: undefined });
  expect(await readFile(join(folder, "notes/a.md"), "utf8")).toBe("hello");
  await symlink("../secret", join(folder, "notes/link"));
  for (const path of ["notes/link", "notes/../secret", "/etc/passwd", "other/x"]) {
    await expect(scopes.read(path)).rejects.toBeInstanceOf(ScopeError);
  }
});

test("a rule for a path holds for all of its spellings", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "llm-do-scopes-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const scopes = await openScopes([{ name: "notes", root: folder, mode: "rw" }]);
  onTestFinished(() => scopes.close());
  const rules = [{ effect: "block", rule: "keep(path=notes/archive/*)" }] as const;
  const gate = createToolGate({ approval: { mode: "approve_all", rules }, scopes, paths: ["path"] });
  const { keep } = gate.gate({
    keep: { inputSchema: z.object({ text: z.string(), path: z.string() }), execute: execute("kept") },
  });
  const call = (path: unknown) => keep.execute({ text: "x", path }, options);
  for (const path of ["notes/archive/a", "notes:archive/a", "./notes/archive/a", "notes/./archive/a"])
    expect(await call(path)).toMatchObject({ type: "blocked" });
  for (const path of ["notes/a", "notes/../x", "archive/a", 1]) expect(await call(path)).toBe("kept");
});

const options = { toolCallId: "1", messages: [], context: {} };
const execute = (value: unknown) => async (_args: unknown, _options: unknown) => value;

test("a tool that streams runs, and answers with its last value", async () => {
  const gate = createToolGate({ approval: { mode: "approve_all" } });
  const ends: string[] = [];
  async function* count() {
    try {
      yield { at: 1 };
      yield { at: 2 };
    } finally {
      ends.push("closed");
    }
  }
  const { stream } = gate.gate({
    stream: { inputSchema: z.object({}), execute: (_args: unknown, _options: unknown) => count() },
  });
  expect(await stream.execute({}, options)).toEqual({ at: 2 });
  expect(ends).toEqual(["closed"]);
});

test("what is not JSON never reaches a tool as something else", async () => {
  const gate = createToolGate({ approval: { mode: "approve_all" } });
  const inputSchema = z.object({ day: z.coerce.date() });
  const { plan } = gate.gate({ plan: { inputSchema, execute: execute("planned") } });
  await expect(plan.execute({ day: new Date(0) }, options)).rejects.toThrow("not JSON");
  expect(await plan.execute({ day: "1970-01-01" }, options)).toBe("planned");
});

test("a name that providers refuse is told at once", () => {
  const gate = createToolGate({ approval: { mode: "approve_all" } });
  const tools = { ["x".repeat(65)]: { inputSchema: z.object({}), execute: execute(1) } };
  expect(() => gate.gate(tools)).toThrow("too long");
});
