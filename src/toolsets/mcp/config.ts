import { isRecord, type JsonObject } from "../../protocol/json.ts";
import type { Schema, SchemaIssue } from "../../schema/schema.ts";
import { type ConfigField, configSchema } from "../config-schema.ts";

/** How a server is started, and what a worker sees of it. */
export interface McpServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** The only part in which variables of the user's environment are filled in. */
  readonly env?: Readonly<Record<string, string>>;
  /** Relative to the program's folder. Default: that folder. */
  readonly cwd?: string;
  /** Folders and files beside the program's folder that it can read, relative to it or absolute. */
  readonly reads?: readonly string[];
  /** Default false. Without isolation every server has it. */
  readonly network?: boolean;
  /** Default true. */
  readonly isolated?: boolean;
  /** Patterns of tools' names. Default: all. */
  readonly tools?: readonly string[];
  /** How long a call may take without a sign of progress. Default 60. */
  readonly seconds?: number;
}

export interface McpConfig {
  readonly servers: Readonly<Record<string, McpServer>>;
}

const texts = { type: "array", items: { type: "string" } } as const;

const fields: Readonly<Record<string, ConfigField>> = {
  command: { type: "string", pattern: "\\S" },
  args: texts,
  env: { type: "object" },
  cwd: { type: "string", pattern: "\\S" },
  reads: texts,
  network: { type: "boolean" },
  isolated: { type: "boolean" },
  tools: texts,
  seconds: { type: "integer", minimum: 1 },
};

const serverSchema = configSchema<McpServer>(fields, (given) => (given["command"] === undefined ? missingCommand : []));

const missingCommand: readonly SchemaIssue[] = [{ path: ["command"], message: "is missing" }];

/** Servers by name. Names of the manifest's servers have been replaced by their entries. */
export const mcpConfig: Schema<McpConfig> = configSchema(
  { servers: { type: "object", description: "Names of `mcp_servers` of the manifest, or servers by name." } },
  ({ servers }) => {
    if (servers === undefined) return [{ path: ["servers"], message: "is missing" }];
    return isRecord(servers) ? Object.entries(servers).flatMap(([name, server]) => issuesOf(name, server)) : [];
  },
);

function issuesOf(name: string, server: unknown): readonly SchemaIssue[] {
  const path = ["servers", name];
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name))
    return [{ path, message: "is no name of a server: it begins with a letter, then up to 31 letters, digits, `_` or `-`" }];
  if (isRecord(server) && ("url" in server || "headers" in server))
    return [{ path, message: "has an address, and servers are reached on stdin and stdout alone: give a `command`" }];
  const checked = serverSchema.validate(server) as Awaited<ReturnType<typeof serverSchema.validate>>;
  const issues = checked.ok ? [] : checked.issues;
  const env = isRecord(server) && isRecord(server["env"]) ? Object.entries(server["env"]) : [];
  const wrong = env
    .filter(([, value]) => typeof value !== "string")
    .map(([key]) => ({ path: ["env", key], message: "must be a text" }));
  return [...issues, ...wrong].map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

/** The texts that trust is asked for, from the configuration as it is written: one for each server, without values of variables. */
export function describeServers(written: JsonObject): readonly string[] {
  const { servers = {} } = written as unknown as McpConfig;
  return Object.entries(servers).map(([name, server]) => {
    const { command, args = [], env = {}, cwd, reads = [], network = false, isolated = true } = server;
    const facts = [
      isolated ? `isolated, ${network ? "with" : "without"} the network` : "not isolated: with all of your rights",
      ...(cwd === undefined ? [] : [`in ${cwd}`]),
      ...(reads.length > 0 && isolated ? [`reads ${reads.join(", ")}`] : []),
      ...Object.entries(env).map(([key, value]) => `${key}=${value}`),
    ];
    return `starts the MCP server ${name}: ${[command, ...args].map(quote).join(" ")} (${facts.join("; ")})`;
  });
}

function quote(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word);
}
