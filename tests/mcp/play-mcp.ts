import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { type ApprovalPolicy, compile, type RunEvent, type RunOutput, type RunRequest, run } from "../../src/index.ts";
import type { ToolResult } from "../../src/protocol/message.ts";
import { type Script, type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";

const packages = join(import.meta.dirname, "../../node_modules");

/** How the reference servers are started: behind the wall they see the packages beside the program. */
export const everything = {
  command: process.execPath,
  args: [join(packages, "@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
  reads: [packages],
};

export const filesystem = (folder: string) => ({
  command: process.execPath,
  args: [join(packages, "@modelcontextprotocol/server-filesystem/dist/index.js"), folder],
  reads: [packages],
});

/** The server of these tests, which is part of the program. */
export const own = { command: process.execPath, args: ["server.mjs"] };

export interface McpWorld {
  /** The program's. */
  readonly folder: string;
  readonly environment: Record<string, string | undefined>;
  put(path: string, text: string): void;
  play(request: McpPlay): Promise<McpPlayed>;
}

export interface McpPlay {
  readonly servers: Readonly<Record<string, object>>;
  readonly model: Script;
  readonly approval?: ApprovalPolicy;
  /** More lines of the worker's entry for `mcp`. */
  readonly entry?: string;
  readonly request?: Partial<RunRequest>;
}

export interface McpPlayed {
  readonly output: RunOutput | undefined;
  readonly error: unknown;
  readonly results: readonly ToolResult[];
  readonly events: readonly RunEvent[];
  readonly model: ScriptedModel;
}

/** A program on this machine's disk, whose `mcp_servers` are started for real. */
export function createMcpWorld(): McpWorld {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-mcp-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, "program");
  mkdirSync(folder);
  copyFileSync(join(import.meta.dirname, "server.mjs"), join(folder, "server.mjs"));
  const environment = { ...process.env, LLM_DO_STATE_DIR: join(root, "state") };
  const put = (path: string, text: string) => writeFileSync(join(folder, path), text);
  const play = async ({
    servers,
    model,
    approval = { mode: "approve_all" },
    entry = "",
    request,
  }: McpPlay): Promise<McpPlayed> => {
    put("llm-do.yaml", JSON.stringify({ mcp_servers: servers }));
    put("main.worker", `---\ntoolsets:\n  mcp:\n    servers: [${Object.keys(servers).join(", ")}]\n${entry}\n---\nDo it.\n`);
    const scripted = scriptedModel(model, "test:model");
    const provider = { name: "test", description: "", keyVariables: [], create: async () => scripted };
    const events: RunEvent[] = [];
    const full: RunRequest = {
      ...{ target: folder, approval, host: createNodeHost({ environment }), trust: true, model: "test:model", input: "go" },
      providers: [provider],
      onEvent: (event) => events.push(event),
      ...request,
    };
    const [settled] = await Promise.allSettled([run(full)]);
    const results = events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
    const ended =
      settled.status === "fulfilled" ? { output: settled.value, error: undefined } : { output: undefined, error: settled.reason };
    return { ...ended, results, events, model: scripted };
  };
  return { folder, environment, put, play };
}

export const compileUntrusted = ({ folder, environment }: McpWorld) =>
  compile({ target: folder, host: createNodeHost({ environment }) });

/** A model that makes these calls, one in each turn. */
export function calling(...calls: readonly (readonly [tool: string, args?: object])[]): Script {
  return ({ turn }) => {
    const [tool, args = {}] = calls[turn - 1] ?? [];
    return tool === undefined ? "done" : { calls: [{ tool, args: args as Record<string, never> }] };
  };
}
