import { resolve } from "node:path";
import type { CallToolResult, Client, JsonSchemaValidatorResult, Tool as McpTool } from "@modelcontextprotocol/client";
import type { Host } from "../../host/host.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { clipText } from "../../util/clip-text.ts";
import { errorMessage } from "../../util/error-message.ts";
import { matchesFlatGlob } from "../../util/flat-glob.ts";
import { toJsonValue } from "../../util/to-json-value.ts";
import { toolFailure, type WorkerRuntime } from "../toolset.ts";
import type { McpServer } from "./config.ts";
import { createProcessTransport } from "./transport.ts";

export type ServerHost = Pick<Host, "commands" | "openScopes">;

export interface ServerSetting {
  readonly name: string;
  readonly server: McpServer;
  readonly host: ServerHost;
  /** The program's. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** A server's description of one of its tools. Untrusted text. */
export interface ToolFacts {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export interface RunningServer {
  readonly tools: readonly ToolFacts[];
  /** Name and version, as the server gives them. */
  readonly identity: string;
  hasEnded(): boolean;
  /** Rejects with a `ToolFailure`. */
  call(tool: string, args: JsonObject, runtime: WorkerRuntime): Promise<JsonValue>;
  /** Resolves when its processes are gone. */
  close(): Promise<void>;
}

const connectMilliseconds = 30_000;
const maxTools = 1000;
/** Limit for all definitions of a server together, as JSON. */
const maxDefinitionCharacters = 1_000_000;
const maxResultCharacters = 100_000;
/** Calls have limits of their own: Node's timers end here. */
const forever = 2 ** 31 - 1;

/** Starts a server and asks for its tools. Rejects with an `Error` that says why it cannot be used; nothing of it is left then. */
export async function startServer(setting: ServerSetting): Promise<RunningServer> {
  const { name, server, signal } = setting;
  const child = await startProcess(setting);
  try {
    const { Client } = await import("@modelcontextprotocol/client");
    const client = new Client({ name: "llm-do", version: "1" }, { jsonSchemaValidator: { getValidator: () => acceptAll } });
    const options = { signal: AbortSignal.any([signal, child.ended]), timeout: connectMilliseconds };
    await client.connect(child.transport, options);
    const { tools } = await client.listTools(undefined, options);
    const { name: title = name, version = "" } = client.getServerVersion() ?? {};
    const call = (tool: string, args: JsonObject, runtime: WorkerRuntime) =>
      callTool(client, { name: tool, arguments: args }, { setting, child, runtime });
    return {
      tools: readTools(tools, server),
      identity: `${title} ${version}`,
      hasEnded: () => child.ended.aborted,
      call,
      close: child.stop,
    };
  } catch (thrown) {
    const why = child.ended.aborted ? errorMessage(child.ended.reason) : errorMessage(thrown);
    await child.stop();
    signal.throwIfAborted();
    throw new Error(`the MCP server \`${name}\` cannot be used: ${why}`);
  }
}

/** The server judges the arguments, and what it answers is untrusted text in any form. */
function acceptAll<T>(input: unknown): JsonSchemaValidatorResult<T> {
  return { valid: true, data: input as T, errorMessage: undefined };
}

interface ServerProcess {
  readonly transport: ReturnType<typeof createProcessTransport>;
  /** Aborts when it has ended, with an `Error` that says how. */
  readonly ended: AbortSignal;
  readonly stop: () => Promise<void>;
}

async function startProcess({ server, host, folder }: ServerSetting): Promise<ServerProcess> {
  const { command, args = [], env = {}, cwd = ".", reads = [], network = false, isolated = true } = server;
  const roots = [folder, ...reads.map((root) => resolve(folder, root))];
  const scopes = await host.openScopes(
    roots.map((root, index) => ({ name: index === 0 ? "program" : `reads${index}`, root, mode: "ro" })),
  );
  const stopping = new AbortController();
  const ended = new AbortController();
  const transport = createProcessTransport((why) => stopping.abort(new Error(why)));
  const run = async () =>
    host.commands.run({
      ...{ command: { type: "argv", argv: [command, ...args] }, scopes, cwd: scopes.resolve(`program/${cwd}`) },
      ...{ network, isolationRequired: isolated, unisolated: !isolated, environment: env, converse: transport.converse },
      ...{ timeoutMilliseconds: forever, maxOutputBytes: 2000, signal: stopping.signal },
    });
  const finished = run()
    .then(
      ({ exitCode, stderr }) =>
        new Error(`it has ended with the exit code ${exitCode}${stderr === "" ? "" : `: ${stderr.trim()}`}`),
      (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
    )
    .then(async (why) => {
      ended.abort(why);
      transport.end();
      await scopes.close();
    });
  const stop = async () => {
    stopping.abort(new Error("the run has closed it"));
    await finished;
  };
  return { transport, ended: ended.signal, stop };
}

function readTools(tools: readonly McpTool[], { tools: patterns = ["*"] }: McpServer): readonly ToolFacts[] {
  const wanted = tools.filter(({ name }) => patterns.some((pattern) => matchesFlatGlob(pattern, name)));
  const facts = wanted.map(({ name, description = "", inputSchema }) => ({
    ...{ name, description },
    inputSchema: toJsonValue(inputSchema) as JsonObject,
  }));
  const characters = JSON.stringify(facts).length;
  if (facts.length <= maxTools && characters <= maxDefinitionCharacters) return facts;
  throw new Error(`it has ${facts.length} tools (${characters} characters): name those that are needed under \`tools\``);
}

interface Calling {
  readonly setting: ServerSetting;
  readonly child: ServerProcess;
  readonly runtime: WorkerRuntime;
}

async function callTool(
  client: Client,
  params: { readonly name: string; readonly arguments: JsonObject },
  { setting: { name, server }, child, runtime }: Calling,
): Promise<JsonValue> {
  const seconds = server.seconds ?? 60;
  try {
    const result = await client.callTool(params, {
      ...{ signal: runtime.signal, timeout: seconds * 1000, resetTimeoutOnProgress: true },
      onprogress: ({ progress, total, message }) =>
        runtime.progress(clipText(message ?? `${progress}${total === undefined ? "" : ` of ${total}`}`, 200)),
    });
    const value = toValue(result);
    if (result.isError !== true) return value;
    throw toolFailure("tool_failed", typeof value === "string" && value !== "" ? value : JSON.stringify(value));
  } catch (thrown) {
    runtime.signal.throwIfAborted();
    if (child.ended.aborted) {
      const why = `the MCP server \`${name}\` is gone: ${errorMessage(child.ended.reason)}`;
      throw toolFailure("unavailable", why, "the next call starts it again, without what it kept in memory");
    }
    if (isRecord(thrown) && thrown["code"] === "REQUEST_TIMEOUT")
      throw toolFailure("timeout", `the MCP server \`${name}\` gave no answer and no progress in ${seconds} seconds`);
    throw thrown;
  }
}

/** The structured content, or the texts. Files are named and left out. */
function toValue({ structuredContent, content = [] }: CallToolResult): JsonValue {
  if (structuredContent !== undefined) {
    const text = JSON.stringify(structuredContent);
    return text.length <= maxResultCharacters ? (toJsonValue(structuredContent) as JsonValue) : clip(text);
  }
  return clip(content.map(describeBlock).join("\n"));
}

function clip(text: string): JsonValue {
  if (text.length <= maxResultCharacters) return text;
  return { text: text.slice(0, maxResultCharacters).toWellFormed(), truncated: true, characters: text.length };
}

function describeBlock(block: CallToolResult["content"][number]): string {
  switch (block.type) {
    case "text":
      return block.text.toWellFormed();
    case "image":
    case "audio":
      return `[${block.mimeType}, left out]`;
    case "resource_link":
      return `[resource ${block.uri}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource ${block.resource.uri}, left out]`;
  }
}
