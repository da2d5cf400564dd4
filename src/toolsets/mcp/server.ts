import type { CallToolResult, Client, JsonSchemaValidatorResult, Tool as McpTool } from "@modelcontextprotocol/client";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { clipText } from "../../util/clip-text.ts";
import { errorMessage } from "../../util/error-message.ts";
import { matchesFlatGlob } from "../../util/flat-glob.ts";
import { toJsonValue } from "../../util/to-json-value.ts";
import { toolFailure, type WorkerRuntime } from "../toolset.ts";
import { type CallInFlight, letServerAsk } from "./calls-in-flight.ts";
import { isRemote, type McpServer } from "./config.ts";
import { openHttpLink } from "./http-link.ts";
import { createPatience } from "./patience.ts";
import { openProcessLink } from "./process-link.ts";
import type { ServerHost, ServerLink } from "./server-link.ts";

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
  /** Those that the entry's patterns name. */
  readonly tools: readonly ToolFacts[];
  readonly allTools: readonly ToolFacts[];
  /** Name and version, as the server gives them. */
  readonly identity: string;
  hasEnded(): boolean;
  /** Rejects with a `ToolFailure`. */
  call(tool: string, args: JsonObject, runtime: WorkerRuntime): Promise<JsonValue>;
  /** Resolves when nothing of it is left here. */
  close(): Promise<void>;
}

const connectMilliseconds = 30_000;
const maxTools = 1000;
/** Limit for all definitions of a server together, as JSON. */
const maxDefinitionCharacters = 1_000_000;
const maxResultCharacters = 100_000;
/** Node's timers end here: calls have limits of their own. */
const forever = 2 ** 31 - 1;

/** Starts a server and asks for its tools. Rejects with an `Error` that says why it cannot be used; nothing of it is left then. */
export async function startServer(setting: ServerSetting): Promise<RunningServer> {
  const { name, server, signal } = setting;
  const link = await (isRemote(server) ? openHttpLink(server, setting.host) : openProcessLink(server, setting));
  try {
    const { Client } = await import("@modelcontextprotocol/client");
    const client = new Client(
      { name: "llm-do", version: "1" },
      { capabilities: { elicitation: { form: {} } }, jsonSchemaValidator: { getValidator: () => acceptAll } },
    );
    const calls = new Set<CallInFlight>();
    letServerAsk(client, name, calls);
    const options = { signal: AbortSignal.any([signal, link.ended]), timeout: connectMilliseconds };
    await client.connect(link.transport, options);
    const { tools } = await client.listTools(undefined, options);
    const { name: title = name, version = "" } = client.getServerVersion() ?? {};
    const call = (tool: string, args: JsonObject, runtime: WorkerRuntime) =>
      callTool(client, { name: tool, arguments: args }, { setting, link, runtime, calls });
    const allTools = tools.map(toFacts);
    return {
      tools: boundTools(wantedTools(allTools, server)),
      allTools,
      identity: `${title} ${version}`,
      hasEnded: () => link.ended.aborted,
      call,
      close: link.stop,
    };
  } catch (thrown) {
    const why = link.ended.aborted ? errorMessage(link.ended.reason) : errorMessage(thrown);
    await link.stop();
    signal.throwIfAborted();
    throw new Error(`the MCP server \`${name}\` cannot be used: ${why}`);
  }
}

/** The server judges the arguments, and what it answers is untrusted text in any form. */
function acceptAll<T>(input: unknown): JsonSchemaValidatorResult<T> {
  return { valid: true, data: input as T, errorMessage: undefined };
}

function toFacts({ name, description = "", inputSchema }: McpTool): ToolFacts {
  return { name, description, inputSchema: toJsonValue(inputSchema) as JsonObject };
}

/** The tools that the patterns of a server's entry name. */
export function wantedTools(tools: readonly ToolFacts[], { tools: patterns = ["*"] }: McpServer): readonly ToolFacts[] {
  return tools.filter(({ name }) => patterns.some((pattern) => matchesFlatGlob(pattern, name)));
}

function boundTools(tools: readonly ToolFacts[]): readonly ToolFacts[] {
  const characters = JSON.stringify(tools).length;
  if (tools.length <= maxTools && characters <= maxDefinitionCharacters) return tools;
  throw new Error(`it has ${tools.length} tools (${characters} characters): name those that are needed under \`tools\``);
}

interface Calling {
  readonly setting: ServerSetting;
  readonly link: ServerLink;
  readonly runtime: WorkerRuntime;
  readonly calls: Set<CallInFlight>;
}

async function callTool(
  client: Client,
  params: { readonly name: string; readonly arguments: JsonObject },
  { setting: { name, server, host }, link, runtime, calls }: Calling,
): Promise<JsonValue> {
  const seconds = server.seconds ?? 60;
  const patience = createPatience(host.clock, seconds * 1000);
  const inFlight = { runtime, patience };
  calls.add(inFlight);
  try {
    const result = await client.callTool(params, {
      ...{ signal: AbortSignal.any([runtime.signal, patience.spent]), timeout: forever },
      onprogress: ({ progress, total, message }) => {
        patience.renew();
        runtime.progress(clipText(message ?? `${progress}${total === undefined ? "" : ` of ${total}`}`, 200));
      },
    });
    const value = toValue(result);
    if (result.isError !== true) return value;
    throw toolFailure("tool_failed", typeof value === "string" && value !== "" ? value : JSON.stringify(value));
  } catch (thrown) {
    runtime.signal.throwIfAborted();
    if (link.ended.aborted) {
      const why = `the MCP server \`${name}\` is gone: ${errorMessage(link.ended.reason)}`;
      throw toolFailure("unavailable", why, "the next call connects again; what the server kept in memory is lost");
    }
    if (patience.spent.aborted)
      throw toolFailure("timeout", `the MCP server \`${name}\` gave no answer and no progress in ${seconds} seconds`);
    throw thrown;
  } finally {
    calls.delete(inFlight);
    patience.end();
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
