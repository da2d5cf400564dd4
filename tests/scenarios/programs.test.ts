import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ApprovalPolicy, type ApprovalRequest, type RunError, type RunRequest, tool } from "../../src/index.ts";
import type { Fact } from "../../src/protocol/fact.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { play, worker } from "./harness.ts";

interface Ran {
  /** The result of `run_program`, as the model got it. */
  readonly result: unknown;
  /** The numbers that were doubled, in the run and, for none, in its replay. */
  readonly doubled: readonly number[];
  readonly facts: readonly Fact[];
  readonly asked: readonly ApprovalRequest[];
  readonly error: unknown;
}

interface Played {
  readonly input?: JsonObject;
  readonly frontmatter?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly approval?: ApprovalPolicy;
  readonly request?: Partial<RunRequest>;
}

const toolsets = "toolsets: { program: {}, double: {}, slow: {}, child: {} }";

/** Plays a run in which a model runs one program, all approved. The harness replays it, and compares all facts. */
async function runProgram(source: string, { input, frontmatter = toolsets, files = {}, ...given }: Played = {}): Promise<Ran> {
  const doubled: number[] = [];
  const asked: ApprovalRequest[] = [];
  let result: unknown;
  const double = tool({
    input: z.object({ n: z.number() }),
    run: ({ n }) => {
      doubled.push(n);
      if (n < 0) throw new Error("it is negative");
      return n * 2;
    },
  });
  const slow = tool({
    input: z.object({ turns: z.number() }),
    run: async ({ turns }) => {
      for (let left = turns; left > 0; left--) await new Promise(setImmediate);
      return turns;
    },
  });
  const { journal, error } = await play({
    files: {
      "main.worker": worker(frontmatter),
      "child.worker": worker("description: c"),
      "stranger.worker": worker("description: s"),
      ...files,
    },
    tools: { double, slow, stranger_tool: tool({ input: z.object({}), run: () => "no" }) },
    model: ({ worker: name, turn, messages }) => {
      if (name !== "main") return `${name} answers`;
      if (turn === 1) return { calls: [{ tool: "run_program", args: { source, ...(input ? { input } : {}) } }] };
      const [part] = messages.at(-1)?.parts ?? [];
      if (part?.type === "tool-result") result = part.result.ok ? part.result.value : part.result.error;
      return "done";
    },
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request);
        return { type: "approve" };
      },
    },
    ...given,
    request: { input: "x", ...given.request },
  });
  return { result, doubled, facts: journal, asked, error };
}

const pathsOf = (facts: readonly Fact[], type: Fact["type"]) =>
  facts.flatMap((fact) => (fact.type === type && "callPath" in fact ? [fact.callPath] : []));

describe("run_program", () => {
  test("calls tools and workers in their place in the tree, each through the gate", async () => {
    const source = 'const two = await call("double", { n: 1 });\nreturn { two, said: await call("child", { input: "hi" }) };';
    const { result, facts, asked } = await runProgram(source);
    expect(result).toEqual({ result: { two: 2, said: "child answers" } });
    expect(asked.map(({ tool: name }) => name)).toEqual(["run_program", "double", "child"]);
    expect(pathsOf(facts, "grant")).toEqual(["main/0.run_program", "main/0.run_program/0.double", "main/0.run_program/1.child"]);
  });

  test("maps side by side, within its bound, with results in the order of the items", async () => {
    const source = 'return map(input.ns, (n) => call("double", { n }), { parallel: 2 });';
    const { result, doubled } = await runProgram(source, { input: { ns: [3, 1, 2] } });
    expect([result, doubled]).toEqual([{ result: [6, 2, 4] }, [3, 1, 2]]);
  });

  test("shows the whole program and its input in its question, and nothing else decides about its calls", async () => {
    const source = 'const n = input.n;\nreturn call("double", { n });';
    const shown: ApprovalRequest[] = [];
    const approver: ApprovalPolicy["approver"] = async (request) => {
      shown.push(request);
      return request.tool === "double" ? { type: "deny", note: "not now" } : { type: "approve" };
    };
    const approval: ApprovalPolicy = { mode: "prompt", approver };
    const { result, doubled } = await runProgram(source, { input: { n: 4 }, approval });
    const preview = { type: "text", text: `// input\n{\n  "n": 4\n}\n// program\n${source}` };
    expect(shown[0]).toMatchObject({ tool: "run_program", description: "Run a program of 2 lines", preview });
    expect(result).toMatchObject({
      type: "tool_failed",
      error: expect.stringContaining("line 2: CallError: `double` was denied: not now"),
    });
    expect(doubled).toEqual([]);
  });

  test("pre-approved, its calls ask all the same", async () => {
    const frontmatter = toolsets.replace("program: {}", "program: { _approval_config: { run_program: { pre_approved: true } } }");
    const { asked } = await runProgram('return call("double", { n: 1 });', { frontmatter });
    expect(asked.map(({ tool: name }) => name)).toEqual(["double"]);
  });

  test("goes on where a call fails, and gets the reason", async () => {
    const source = 'try { await call("double", { n: -1 }) } catch (e) { return [e.type, e.message] }';
    expect((await runProgram(source)).result).toEqual({ result: ["tool_failed", "it is negative"] });
  });

  test.each([
    ["syntax", "\nlet a = ;", "line 2: SyntaxError"],
    ["a throw", 'print("so far");\n\nthrow new TypeError("bad");', "line 3: TypeError: bad; it printed:\nso far"],
    ["an unknown name", "\nreturn a.b", "line 2: ReferenceError: 'a' is not defined"],
    ["a wait for nothing", "await new Promise(() => {})", "it waits for something that is no call"],
    ["no work at all", "(input) => 1", "it returned nothing and called nothing"],
    ["a result that is no JSON", "return 1n", "TypeError"],
    ["a clock", "return Date.now()", "line 1: ReferenceError: 'Date' is not defined"],
    ["randomness", "return Math.random()", "line 1: TypeError: not a function"],
    ["a module", 'return import("node:fs")', "could not load module 'node:fs'"],
  ])("fails for %s in words", async (_, source, why) => {
    expect((await runProgram(source)).result).toMatchObject({ type: "tool_failed", error: expect.stringContaining(why) });
  });

  test.each(["stranger", "stranger_tool", "run_program", "constructor", "__proto__"])("does not reach %s", async (name) => {
    const { result, facts } = await runProgram(`return call(${JSON.stringify(name)}, { source: "return 1", input: "x" })`);
    expect(result).toMatchObject({ error: expect.stringContaining(`\`${name}\` is not in the \`calls\` of this code`) });
    expect(pathsOf(facts, "code-call")).toEqual([]);
  });

  test("makes the calls that it does not wait for, and ends when they have ended", async () => {
    const { result, doubled } = await runProgram('call("double", { n: 5 }); return 1');
    expect([result, doubled]).toEqual([{ result: 1 }, [5]]);
  });

  test("ends at a limit of the worker, which counts its calls", async () => {
    const frontmatter = `${toolsets}\nlimits: { tool_calls: 3 }`;
    const source = 'try { for (let n = 0; n < 9; n++) await call("double", { n }) } catch { return "caught" }';
    const { doubled, error, facts } = await runProgram(source, { frontmatter });
    // The program itself is the first.
    expect(doubled).toEqual([0, 1]);
    expect(error).toBeUndefined();
    expect(facts.find(({ type }) => type === "limit")).toMatchObject({ limit: "tool_calls", allowed: 3 });
  });

  test("gets results in one order in the run and in its replay", async () => {
    const source = `const order = [];
      await Promise.all([9, 0, 4].map(async (turns) => order.push(await call("slow", { turns }))));
      const first = await Promise.race([call("slow", { turns: 20 }), call("double", { n: 1 })]);
      return { order, first };`;
    const { result, error } = await runProgram(source);
    expect(error).toBeUndefined();
    expect(result).toEqual({ result: { order: expect.arrayContaining([0, 4, 9]), first: 2 } });
  });

  test("goes on to its next call before the run waits for held questions", async () => {
    const frontmatter = toolsets.replace("program: {}", "program: { _approval_config: { run_program: { pre_approved: true } } }");
    const source = `const [held] = await Promise.all([call("double", { n: 1 }), (async () => {
      for (let n = 0; n < 200000; n++) Math.sqrt(n);
      await budget();
      return call("double", { n: 2 });
    })()]);
    return held;`;
    const { error } = await runProgram(source, { frontmatter, approval: { mode: "prompt", onUnanswered: "hold" } });
    const { code, run } = error as RunError;
    expect(code).toBe("suspended");
    expect(run?.questions.map(({ callPath }) => callPath)).toEqual([
      "main/0.run_program/0.double",
      "main/0.run_program/1.double",
    ]);
  });

  test("knows what is left, as a recorded decision", async () => {
    const { result } = await runProgram("return (await budget()).tokens > 0", {
      frontmatter: `${toolsets}\nlimits: { tokens: 100000 }`,
    });
    expect(result).toEqual({ result: true });
  });

  test("reaches what `delegation` allows", async () => {
    const frontmatter = "toolsets: { program: {}, delegation: { allow_workers: [child] } }";
    const source = 'return call("worker_call", { worker: "child", input: "hi" })';
    expect((await runProgram(source, { frontmatter })).result).toEqual({ result: "child answers" });
  });

  test.each([
    ["computes too long", "{ max_seconds: 1 }", "for (;;) {}", "it computed for 1 seconds"],
    ["calls too often", "{ max_calls: 2 }", 'for (;;) call("double", { n: 1 })', "it made more than 2 calls"],
    ["needs too much memory", "{ max_memory: 4 }", "return new Array(9e6).fill(0).length", "out of memory"],
  ])("is ended where it %s", async (_, limits, source, why) => {
    const frontmatter = toolsets.replace("program: {}", `program: ${limits}`);
    const { result, doubled } = await runProgram(source, { frontmatter });
    expect(result).toMatchObject({ type: "tool_failed", error: expect.stringContaining(why) });
    expect(doubled).toEqual([]);
  });
});
