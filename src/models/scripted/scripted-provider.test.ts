import { describe, expect, test } from "vitest";
import { createModelResolver } from "../create-model-resolver.ts";
import { type GenerateOptions, ModelError, type ModelRequest } from "../model.ts";
import type { ProviderEnvironment } from "../provider.ts";

function environment(files: Record<string, unknown>): ProviderEnvironment {
  return {
    variable: () => undefined,
    fetch: () => Promise.reject(new Error("no network")),
    async importScript(path) {
      return files[path] as Record<string, unknown>;
    },
    async readText(path) {
      const text = files[path];
      if (typeof text !== "string") throw new Error(`ENOENT: ${path}`);
      return text;
    },
  };
}

const tool = (name: string) => ({ name, description: "", inputSchema: { type: "object" } });

function request(text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: ["Be brief."],
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    tools: [],
    settings: {},
    ...more,
  };
}

function options(worker: string, turn: number, more: Partial<GenerateOptions> = {}): GenerateOptions {
  return { signal: new AbortController().signal, call: { worker, callPath: `${worker}/0`, turn }, ...more };
}

async function load(text: string, path = "/p/play.yaml") {
  return createModelResolver(environment({ [path]: text }))(`scripted:${path}`);
}

const yaml = `
workers:
  main:
    - expect: { user: Summarise, system: brief, tools: [read_file], files: 1 }
      reply: { calls: [{ tool: read_file, args: { path: a.txt } }] }
    - expect: { tool_result: read_file }
      reply: { json: { score: 3 }, usage: { inputTokens: 10 } }
  "*":
    - reply: Hello
`;

const pdf = { type: "file", name: "a.pdf", mediaType: "application/pdf", bytes: 1, sha256: "", data: "AA==" } as const;
const first = request("", {
  messages: [{ role: "user", parts: [{ type: "text", text: "Summarise this" }, pdf] }],
  tools: [tool("read_file")],
});

describe("rules", () => {
  test("play turn by turn", async () => {
    const model = await load(yaml);
    const call = await model.generate(first, options("main", 1));
    expect(call).toMatchObject({ finish: "tool-calls", usage: { requests: 1, inputTokens: 0 } });
    expect(call.message.parts).toEqual([{ type: "tool-call", id: "call_1", name: "read_file", args: { path: "a.txt" } }]);
    const result = { type: "tool-result", id: "call_1", name: "read_file", result: { ok: true, value: "x" } } as const;
    const messages = [...first.messages, call.message, { role: "tool", parts: [result] } as const];
    const last = await model.generate({ ...first, messages }, options("main", 2));
    expect(last).toMatchObject({ finish: "stop", usage: { inputTokens: 10 }, message: { parts: [{ text: '{"score":3}' }] } });
    expect((await model.generate(request("?"), options("other", 1))).message.parts).toMatchObject([{ text: "Hello" }]);
  });

  test.each([
    [request("Translate"), options("main", 1), 'a user message with "Summarise" (turn 1 of main)'],
    [request("Summarise", { tools: [] }), options("main", 1), "the tool read_file"],
    [request("Summarise", { tools: [tool("read_file")] }), options("main", 1), "1 files"],
    [request("Summarise", { system: [] }), options("main", 1), 'a system message with "brief"'],
    [request("x"), options("main", 2), "a result of read_file"],
    [request("x"), options("main", 3), "at most 2 turns"],
    [request("x"), options("other", 2), "at most 1 turn of"],
  ])("fail loudly, %#", async (asked, when, expected) => {
    const model = await load(yaml);
    const error = await model.generate(asked, when).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ code: "unexpected_request", retryable: false });
    expect(String(error)).toContain(expected);
    expect(String(error)).toContain(`${when.call.worker}, turn ${when.call.turn}`);
  });

  test("fail for a worker without rules, and show what came", async () => {
    const model = await load("workers: { main: [] }");
    const pending = model.generate(request(`long ${"x".repeat(500)}`, { tools: [tool("t")] }), options("child", 1));
    await expect(pending).rejects.toThrow(/one of the workers main/);
    await expect(pending).rejects.toThrow(/tools: {4}t$/);
    const error = (await pending.catch((thrown: unknown) => thrown)) as Error;
    expect(error.message.length).toBeLessThan(500);
  });

  test("refuse a call of a tool that is not offered", async () => {
    const model = await load("- reply: { calls: [{ tool: rm }] }");
    await expect(model.generate(request("x"), options("main", 1))).rejects.toMatchObject({ code: "unexpected_request" });
    const wild = await load("- reply: { calls: [{ tool: rm, allowUnknownTool: true }] }");
    expect((await wild.generate(request("x"), options("main", 1))).message.parts).toMatchObject([{ name: "rm", args: {} }]);
  });

  test("fail as a provider would", async () => {
    const model = await load("- reply: { text: Half, error: { code: overloaded, status: 529 } }");
    let text = "";
    const onDelta: GenerateOptions["onDelta"] = (delta) => {
      text += delta.text;
    };
    const pending = model.generate(request("x"), options("main", 1, { onDelta }));
    await expect(pending).rejects.toMatchObject({ code: "overloaded", status: 529, retryable: true });
    expect(text).toBe("Half");
  });
});

describe("a file with a mistake in it", () => {
  test.each([
    [
      "workers:\n  main:\n    - reply: { txt: x }",
      "/p/play.yaml:3: workers.main[0].reply.txt: `txt` is no key here; did you mean `text`?",
    ],
    ["workers:\n  main:\n    - reply: x\n    - expect: {}", "/p/play.yaml:4: workers.main[1].reply: is missing"],
    ["workers:\n  main: x", "workers.main: must be a list"],
    [
      "workers:\n  main:\n    - { expect: { files: many }, reply: x }",
      "workers.main[0].expect.files: must be a whole number from 0",
    ],
    ["- reply: { calls: [{ args: {} }] }", "[0].reply.calls[0].tool: must name a tool"],
    ["- reply: { error: { code: odd } }", "[0].reply.error.code: must be one of auth"],
    ["- reply: { text: x, json: 1 }", "[0].reply: has both text and json"],
    ["- reply: {}", "[0].reply: says nothing"],
    ["main: []", "main: `main` is no key here; the keys are `workers`"],
    ["{}", "workers: must map each worker to its turns"],
    ["just text", "must be a mapping"],
    ["workers: [", "/p/play.yaml:1"],
  ])("%j", async (text, message) => {
    const error = await load(text).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelError);
    expect(String(error)).toContain("Script /p/play.yaml");
    expect(String(error)).toContain(message);
  });

  test("JSON too", async () => {
    const model = await load('{"workers":{"main":[{"reply":"ok"}]}}', "/p/play.json");
    expect((await model.generate(request("x"), options("main", 1))).message.parts).toMatchObject([{ text: "ok" }]);
  });
});

describe("a module", () => {
  const resolve = (module: unknown, path = "/p/Play.ts") =>
    createModelResolver(environment({ [path]: module }))(`scripted:${path}`);

  test("is asked with the whole request", async () => {
    const seen: unknown[] = [];
    const model = await resolve({
      default: (asked: import("./script.ts").ScriptedRequest) => {
        seen.push(
          asked.worker,
          asked.callPath,
          asked.turn,
          asked.lastUserText(),
          asked.promptText(),
          asked.hasTool("read_file"),
          asked.files(),
        );
        return "Done";
      },
    });
    expect(model.id).toBe("scripted:/p/Play.ts");
    await model.generate(first, options("main", 1));
    const { name, mediaType, sha256 } = pdf;
    expect(seen).toEqual([
      "main",
      "main/0",
      1,
      "Summarise this",
      "Be brief.\nSummarise this",
      true,
      [{ name, mediaType, sha256, bytes: new Uint8Array([0]) }],
    ]);
  });

  test("may export its function as model", async () => {
    const model = await resolve({ model: async () => ({ text: "Hi" }) });
    expect((await model.generate(request("x"), options("main", 1))).message.parts).toMatchObject([{ text: "Hi" }]);
  });

  test.each([
    [{ other: 1 }, "exports other"],
    [{}, "exports nothing"],
  ])("without a function is refused: %j", async (module, message) => {
    await expect(resolve(module)).rejects.toThrow(message);
  });

  test.each([
    [() => undefined, "unexpected_request", "gave no reply"],
    [() => ({ tool: "x" }), "unexpected_request", "reply.tool: `tool` is no key here"],
    [() => 7, "unexpected_request", "reply: must be a mapping"],
    [
      () => {
        throw new Error("oops");
      },
      "unexpected_request",
      "threw (worker main, turn 1): oops",
    ],
  ])("reports a wrong answer, %#", async (script, code, message) => {
    const model = await resolve({ default: script });
    const pending = model.generate(request("x"), options("main", 1));
    await expect(pending).rejects.toMatchObject({ code, retryable: false });
    await expect(pending).rejects.toThrow(message);
  });

  test("streams its text in pieces", async () => {
    const model = await resolve({ default: () => ({ reasoning: "Hm", text: "Grüße 👋👋👋 an alle" }) });
    const deltas: string[] = [];
    await model.generate(request("x"), options("main", 1, { onDelta: ({ type, text }) => deltas.push(`${type} ${text}`) }));
    expect(deltas.filter((delta) => delta.startsWith("text")).length).toBeGreaterThan(1);
    expect(deltas.map((delta) => delta.replace(/^\S+ /, "")).join("")).toBe("HmGrüße 👋👋👋 an alle");
  });

  test("that is no script by its name is refused", async () => {
    await expect(resolve({}, "/p/play.txt")).rejects.toThrow("a script is a .ts");
  });
});
