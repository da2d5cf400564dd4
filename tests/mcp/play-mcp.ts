import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createNodeHost } from "../../src/host/node-host.ts";
import { type ApprovalPolicy, compile, type RunEvent, type RunOutput, type RunRequest } from "../../src/index.ts";
import type { ToolResult } from "../../src/protocol/message.ts";
import type { Script, ScriptedModel } from "../../src/testing/index.ts";
import { attack, World } from "../security/world.ts";

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
  const world = new World({ "server.mjs": readFileSync(join(import.meta.dirname, "server.mjs"), "utf8") });
  const environment = { ...process.env, LLM_DO_STATE_DIR: world.at("state") };
  const put = (path: string, text: string) => world.put(`program/${path}`, text);
  const play = async ({ servers, model, approval, entry = "", request }: McpPlay): Promise<McpPlayed> => {
    put("llm-do.yaml", JSON.stringify({ mcp_servers: servers }));
    put("main.worker", `---\ntoolsets:\n  mcp:\n    servers: [${Object.keys(servers).join(", ")}]\n${entry}\n---\nDo it.\n`);
    const host = createNodeHost({ environment });
    const played = await attack(world, {
      model,
      ...(approval ? { approval } : {}),
      request: { host, journal: true, ...request },
    });
    const results = played.events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
    return { output: played.result, error: played.error, results, events: played.events, model: played.scripted };
  };
  return { folder: world.at("program"), environment, put, play };
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
