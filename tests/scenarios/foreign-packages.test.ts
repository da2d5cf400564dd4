import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { anthropic } from "@ai-sdk/anthropic";
import { jsonSchema, tool as sdkTool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type ApprovalDecision, compile, run } from "../../src/index.ts";
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

test("tools of a published package of the AI SDK work unchanged, and are gated", async () => {
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

test("one tool, a factory of tools, and one that streams", async () => {
  const single = sdkTool({ inputSchema: z.object({ a: z.string() }), execute: async ({ a }) => a.toUpperCase() });
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

test("a toolset package with a package.json of its own is installed into a program and named by `package:Export`", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-package-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put("pack/package.json", JSON.stringify({ name: "@acme/shout", version: "1.0.0", type: "module", exports: "./index.js" }));
  put("pack/index.js", shout);
  put(
    "program/package.json",
    JSON.stringify({ name: "program", private: true, dependencies: { "@acme/shout": "file:../pack" } }),
  );
  put("program/main.worker", worker('toolsets: { "@acme/shout:ShoutToolset": { mark: "!" } }'));
  const install = ["install", "--offline", "--install-links", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", install, { cwd: join(folder, "program"), stdio: "pipe" });
  const target = join(folder, "program");
  const untrusted = await compile({ target, model: "anthropic:m" });
  expect(untrusted.diagnostics.map(({ code }) => code)).toEqual(["not-verified-untrusted"]);
  const asked: string[] = [];
  const model = scriptedModel(
    ({ turn, messages }) =>
      turn === 1 ? { calls: [{ tool: "shout", args: { text: "hey" } }] } : JSON.stringify(messages.at(-1)),
    "test:m",
  );
  const { output } = await run({
    target,
    trust: true,
    model: "test:m",
    providers: [{ name: "test", description: "for tests", keyVariables: [], create: async () => model }],
    approval: {
      mode: "prompt",
      approver: async ({ tool: name }) => {
        asked.push(name);
        return { type: "approve" };
      },
    },
    input: "go",
    journal: false,
  });
  expect(asked).toEqual(["shout"]);
  expect(output).toContain('"value":"hey!"');
});
