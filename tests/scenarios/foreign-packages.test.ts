import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { anthropic } from "@ai-sdk/anthropic";
import { jsonSchema, tool as sdkTool } from "ai";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import { type ApprovalDecision, compile, run } from "../../src/index.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { play, worker } from "./harness.ts";

/** Plays one call of a tool, as `decide` answers. */
async function callTool(
  tools: Readonly<Record<string, unknown>>,
  [reference, tool, args]: readonly [string, string, Record<string, string>],
  decide: ApprovalDecision["type"],
) {
  const asked: string[] = [];
  const played = await play({
    files: { "main.worker": worker(`toolsets: { ${reference}: {} }`) },
    tools,
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request.tool);
        return { type: decide };
      },
    },
    model: ({ turn, tools: offered }) => (turn === 1 ? { calls: [{ tool, args }] } : (offered[0]?.name ?? "")),
    request: { input: "go" },
  });
  expect(played.error).toBeUndefined();
  const [result] = played.events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
  return { asked, result: result?.ok ? result.value : result?.error.type };
}

test("a tool that a provider of the AI SDK exports works unchanged, and is gated", async () => {
  const ran: string[] = [];
  const execute = async ({ command = "" }: { command?: string }) => {
    ran.push(command);
    return `ran ${command}`;
  };
  const machine = { bash: anthropic.tools.bash_20250124({ execute }) };
  expect(await callTool({ machine }, ["machine", "bash", { command: "ls" }], "deny")).toEqual({
    asked: ["bash"],
    result: "denied",
  });
  expect(ran).toEqual([]);
  expect(await callTool({ machine }, ["machine", "bash", { command: "ls" }], "approve")).toEqual({
    asked: ["bash"],
    result: "ran ls",
  });
  expect(await callTool({ machine }, ["machine", "bash", { wrong: "ls" }], "approve")).toEqual({
    asked: [],
    result: "invalid_arguments",
  });
});

test("one tool, one with a schema of zod 3, a factory of tools, and one that streams", async () => {
  const single = sdkTool({ inputSchema: z.object({ a: z.string() }), execute: async ({ a }) => a.toUpperCase() });
  const old = { inputSchema: z3.object({ a: z3.string().default("y") }), execute: async ({ a }: { a: string }) => `${a}!` };
  expect(await callTool({ old }, ["old", "old", {}], "approve")).toEqual({ asked: ["old"], result: "y!" });
  const lazy = { inputSchema: () => jsonSchema({ type: "object", properties: { a: { type: "string" } } }) };
  const make = () => ({
    stream: {
      ...lazy,
      async *execute({ a }: { a: string }) {
        yield `${a}1`;
        yield `${a}2`;
      },
    },
  });
  expect(await callTool({ single }, ["single", "single", { a: "x" }], "approve")).toEqual({ asked: ["single"], result: "X" });
  expect(await callTool({ make }, ["make", "stream", { a: "x" }], "approve")).toEqual({ asked: ["stream"], result: "x2" });
});

/** A folder of this machine with a program, removed after the test. */
function createProgram(files: Readonly<Record<string, string>>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-package-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

interface Calls {
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[];
  readonly decide: ApprovalDecision["type"];
}

/** Runs a program in which the model makes these calls in its first turn. */
async function runProgram(target: string, { calls, decide }: Calls) {
  const asked: string[] = [];
  const results: (string | JsonValue | undefined)[] = [];
  const model = scriptedModel(({ turn }) => (turn === 1 ? { calls } : "done"), "test:m");
  await run({
    target,
    trust: true,
    model: "test:m",
    providers: [{ name: "test", description: "for tests", keyVariables: [], create: async () => model }],
    approval: {
      mode: "prompt",
      approver: async ({ tool: name }) => {
        asked.push(name);
        return { type: decide };
      },
    },
    input: "go",
    journal: false,
    onEvent: (event) => {
      if (event.type === "tool-result") results.push(event.result.ok ? event.result.value : event.result.error.type);
    },
  });
  return { asked, results };
}

test("a published package of tools for the AI SDK works unchanged, and is gated", async () => {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    received.push(`${request.url} ${Buffer.concat(chunks).toString()}`);
    response.setHeader("content-type", "application/json").end(JSON.stringify({ results: [{ url: "https://example.org" }] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  vi.stubEnv("PARALLEL_BASE_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("PARALLEL_API_KEY", "k");
  onTestFinished(() => void vi.unstubAllEnvs());
  const references = ["searchTool", "extractTool"].map((name) => `"@parallel-web/ai-sdk-tools:${name}": {}`);
  const target = createProgram({
    "package.json": JSON.stringify({ private: true, dependencies: { "@parallel-web/ai-sdk-tools": "*" } }),
    "main.worker": worker(`toolsets: { ${references.join(", ")} }`),
  });
  symlinkSync(join(import.meta.dirname, "../../node_modules"), join(target, "node_modules"));
  const calls = [
    { tool: "searchTool", args: { objective: "llm-do" } },
    { tool: "extractTool", args: { urls: ["https://example.org"] } },
    { tool: "extractTool", args: { urls: "no list" } },
  ];
  const denied = await runProgram(target, { calls, decide: "deny" });
  expect(denied.asked.sort()).toEqual(["extractTool", "searchTool"]);
  expect(denied.results.sort()).toEqual(["denied", "denied", "invalid_arguments"]);
  expect(received).toEqual([]);
  const { asked, results } = await runProgram(target, { calls, decide: "approve" });
  expect(asked.sort()).toEqual(["extractTool", "searchTool"]);
  expect(results).toHaveLength(3);
  expect(results.filter((result) => JSON.stringify(result)?.includes("https://example.org"))).toHaveLength(2);
  expect(received.sort()).toEqual([
    '/v1beta/extract {"urls":["https://example.org"]}',
    '/v1beta/search {"objective":"llm-do","mode":"agentic"}',
  ]);
});

const shout = `import { tool, toolset } from "llm-do";
const config = { type: "object", properties: { mark: { type: "string" } }, required: ["mark"] };
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
export class ShoutToolset {
  static config = config;
  constructor({ mark }) {
    Object.assign(this, toolset({ name: "shout", tools: () => [tool({ name: "shout", input, run: ({ text }) => text + mark })] }));
  }
}
`;

test("a toolset package with a package.json of its own is installed into an example and named by `package:Export`", async () => {
  const folder = createProgram({
    "pack/package.json": JSON.stringify({ name: "@acme/shout", version: "1.0.0", type: "module", exports: "./index.js" }),
    "pack/index.js": shout,
  });
  const target = join(folder, "greeter");
  cpSync(join(import.meta.dirname, "../../examples/greeter"), target, { recursive: true });
  writeFileSync(join(target, "main.worker"), worker('toolsets: { "@acme/shout:ShoutToolset": { mark: "!" } }'));
  const install = ["install", "../pack", "--offline", "--install-links", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", install, { cwd: target, stdio: "pipe" });
  const untrusted = await compile({ target, model: "anthropic:m" });
  expect(untrusted.diagnostics.map(({ code }) => code)).toEqual(["not-verified-untrusted"]);
  const calls = [{ tool: "shout", args: { text: "hey" } }];
  expect(await runProgram(target, { calls, decide: "deny" })).toEqual({ asked: ["shout"], results: ["denied"] });
  expect(await runProgram(target, { calls, decide: "approve" })).toEqual({ asked: ["shout"], results: ["hey!"] });
});
