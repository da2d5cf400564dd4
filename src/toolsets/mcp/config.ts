import { isRecord, type JsonObject } from "../../protocol/json.ts";
import type { Schema, SchemaIssue } from "../../schema/schema.ts";
import { type ConfigField, configSchema } from "../config-schema.ts";

/** The part of a server's entry that does not depend on how it is reached. */
interface ServerEntry {
  /** Patterns of tools' names. Default: all. */
  readonly tools?: readonly string[];
  /** Leaves the definitions out of requests until the model has searched for them. Default: true for long definitions. */
  readonly defer?: boolean;
  /** Seconds that a call may take without progress. Default 60. */
  readonly seconds?: number;
}

/** A server that is a program of this machine, which is started and speaks on stdin and stdout. */
export interface LocalServer extends ServerEntry {
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables of the process. `${NAME}` is expanded here and in `headers` only. */
  readonly env?: Readonly<Record<string, string>>;
  /** Relative to the program's folder. Default: that folder. */
  readonly cwd?: string;
  /** Folders and files beside the program's folder that it can read, relative to it or absolute. */
  readonly reads?: readonly string[];
  /** Allows the network. Default false; a server without isolation always has it. */
  readonly network?: boolean;
  /** Runs the server behind the kernel wall. Default true. */
  readonly isolated?: boolean;
}

/** A server that is reached at an address, by streamable HTTP. */
export interface RemoteServer extends ServerEntry {
  readonly url: string;
  /** Sent with each request, to the origin of `url` only. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Uses the user's login at the server. Default false. */
  readonly login?: boolean;
}

export type McpServer = LocalServer | RemoteServer;

export function isRemote(server: McpServer): server is RemoteServer {
  return "url" in server;
}

export interface McpConfig {
  readonly servers: Readonly<Record<string, McpServer>>;
}

const texts = { type: "array", items: { type: "string" } } as const;

const common: Readonly<Record<string, ConfigField>> = {
  tools: texts,
  defer: { type: "boolean" },
  seconds: { type: "integer", minimum: 1 },
};

const localServer = configSchema<LocalServer>(
  {
    command: { type: "string", pattern: "\\S" },
    args: texts,
    env: { type: "object" },
    cwd: { type: "string", pattern: "\\S" },
    reads: texts,
    network: { type: "boolean" },
    isolated: { type: "boolean" },
    ...common,
  },
  ({ command, env, reads }) => [
    ...(Array.isArray(reads) && reads.some((path) => path === "/" || path === "~")
      ? [{ path: ["reads"], message: "is more than a server needs: name the folders that it reads" }]
      : []),
    ...(command === undefined ? [{ path: ["command"], message: "is missing; a server has a `command` or a `url`" }] : []),
    ...commandIssues(command),
    ...entriesOf(env).flatMap(([key, value]) => (typeof value === "string" ? [] : [notText(["env", key])])),
  ],
);

/** No shell splits a command into words. Only a path can hold a blank. */
function commandIssues(command: unknown): readonly SchemaIssue[] {
  const [, program, rest] = typeof command === "string" ? (/^([^\s/\\]+)\s+(\S.*)$/.exec(command) ?? []) : [];
  if (program === undefined || rest === undefined) return [];
  const args = rest.split(/\s+/).join(", ");
  return [{ path: ["command"], message: `is one word, the program; write \`command: ${program}\` and \`args: [${args}]\`` }];
}

const remoteServer = configSchema<RemoteServer>(
  { url: { type: "string" }, headers: { type: "object" }, login: { type: "boolean" }, ...common },
  ({ url, headers, login }) => [
    ...addressIssues(url),
    ...(login === true ? loginIssues(url, headers) : []),
    ...entriesOf(headers).flatMap(([name, value]) => headerIssues(name, value)),
  ],
);

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(value) ? Object.entries(value) : [];
}

/** Servers by name. The compiler has replaced names of the manifest's servers by their entries. */
export const mcpConfig: Schema<McpConfig> = configSchema(
  { servers: { type: "object", description: "Names of `mcp_servers` of the manifest, or servers by name." } },
  ({ servers }) => {
    if (servers === undefined) return [{ path: ["servers"], message: "is missing" }];
    return entriesOf(servers).flatMap(([name, server]) => issuesOf(name, server));
  },
);

function issuesOf(name: string, server: unknown): readonly SchemaIssue[] {
  const path = ["servers", name];
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name))
    return [{ path, message: "is no name of a server: it begins with a letter, then up to 31 letters, digits, `_` or `-`" }];
  const schema = isRecord(server) && "url" in server ? remoteServer : localServer;
  const checked = schema.validate(server) as Awaited<ReturnType<typeof schema.validate>>;
  return checked.ok ? [] : checked.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

function notText(path: SchemaIssue["path"]): SchemaIssue {
  return { path, message: "must be a text" };
}

/** Reports what an address must not hold. Trust is given for the address as it is written. */
function addressIssues(written: unknown): readonly SchemaIssue[] {
  if (typeof written !== "string") return [];
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const issue = (message: string) => [{ path: ["url"], message }];
  if (written.includes("${")) return issue("must not hold a variable: trust is given for the address");
  if (!url || !/^https?:$/.test(url.protocol)) return issue("has to be an `http://` or `https://` address");
  if (url.username || url.password) return issue("must not hold a user name or password; write a header under `headers`");
  return url.hash ? issue("must not hold a `#`") : [];
}

/** Reports what a login cannot be used with: its token is sent to the address, as the header `Authorization`. */
function loginIssues(url: unknown, headers: unknown): readonly SchemaIssue[] {
  const named = entriesOf(headers).filter(([name]) => name.toLowerCase() === "authorization");
  return [
    ...(isInTheClear(String(url)) ? [{ path: ["url"], message: "has to begin with https: a login is sent to it" }] : []),
    ...named.map(([name]) => ({ path: ["headers", name], message: "is what `login: true` sends; leave one of them out" })),
  ];
}

/** Headers that the transport sets. */
const ownHeaders = /^(?:accept|connection|content-.*|host|last-event-id|mcp-.*|transfer-encoding)$/i;

/** Reports headers that cannot be sent. Messages leave the value out: it can be a secret. */
function headerIssues(name: string, value: unknown): readonly SchemaIssue[] {
  const path = ["headers", name];
  if (typeof value !== "string") return [notText(path)];
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return [{ path, message: "is no name of a header" }];
  if (ownHeaders.test(name)) return [{ path, message: "is a header of the protocol, which is set already" }];
  return /^[\t\x20-\x7e]*$/.test(value) ? [] : [{ path, message: "holds characters that no header can" }];
}

/** Returns the texts that the question of trust shows, one for each server. `written`: the configuration with variables by name. */
export function describeServers(written: JsonObject): readonly string[] {
  const { servers = {} } = written as unknown as McpConfig;
  return Object.entries(servers).map(([name, server]) =>
    (isRemote(server) ? describeRemote : describeLocal)(name, server as never),
  );
}

function describeLocal(name: string, server: LocalServer): string {
  const { command, args = [], env = {}, cwd, reads = [], network = false, isolated = true } = server;
  const facts = [
    isolated ? `isolated, ${network ? "with" : "without"} the network` : "not isolated: with all of your rights",
    ...(cwd === undefined ? [] : [`in ${cwd}`]),
    ...(reads.length > 0 && isolated ? [`reads ${reads.join(", ")}`] : []),
    ...Object.entries(env).map(([key, value]) => `${key}=${value}`),
  ];
  return `starts the MCP server ${name}: ${[command, ...args].map(quote).join(" ")} (${facts.join("; ")})`;
}

function describeRemote(name: string, { url, headers = {}, login = false }: RemoteServer): string {
  const facts = [
    ...(login ? ["with your login there"] : []),
    ...(isInTheClear(url) ? ["not encrypted"] : []),
    ...Object.entries(headers).map(([key, value]) => `with ${key}: ${value}`),
  ];
  return `sends to the MCP server ${name} at ${url}${facts.length > 0 ? ` (${facts.join("; ")})` : ""}`;
}

function isInTheClear(url: string): boolean {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: "", hostname: "" };
  return protocol === "http:" && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function quote(word: string): string {
  return /^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word);
}
