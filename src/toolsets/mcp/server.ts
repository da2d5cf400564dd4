import type {
  Client,
  JsonSchemaValidatorResult,
  Tool as McpTool,
  ProgressCallback,
  RequestOptions,
} from "@modelcontextprotocol/client";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { toJsonValue } from "../../util/json/to-json-value.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { matchesFlatGlob } from "../../util/text/flat-glob.ts";
import { hasFiles, type ValueWithFiles } from "../results/result-files.ts";
import { toolFailure, type WorkerRuntime } from "../toolset.ts";
import { isRemote, type McpServer } from "./config.ts";
import { openHttpLink } from "./http-link.ts";
import { createPatience } from "./patience.ts";
import { describeUnseen, openProcessLink } from "./process-link.ts";
import { clip, toContents, toValue } from "./read-result.ts";
import type { ServerHost, ServerLink } from "./server-link.ts";
import { type CallInFlight, letServerAsk } from "./server-questions.ts";

export interface ServerSetting {
  readonly name: string;
  readonly server: McpServer;
  readonly host: ServerHost;
  /** Absolute path of the program's folder. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** A server's description of one of its tools. Untrusted text. */
export interface ToolFacts {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** `uri`: as the server gave it, or made of one of its templates. */
export type ServerRequest =
  | { readonly type: "tool"; readonly name: string; readonly args: JsonObject }
  | { readonly type: "read-resource"; readonly uri: string }
  | { readonly type: "list-resources" };

export interface RunningServer {
  /** Tools that match the patterns of the entry. */
  readonly tools: readonly ToolFacts[];
  readonly allTools: readonly ToolFacts[];
  /** The server's text about its tools; empty without one. Untrusted. */
  readonly instructions: string;
  readonly hasResources: boolean;
  /** Name and version, as reported by the server. */
  readonly identity: string;
  hasEnded(): boolean;
  /** Rejects with a `ToolFailure`. */
  call(request: ServerRequest, runtime: WorkerRuntime): Promise<JsonValue | ValueWithFiles>;
  /** Ends the connection. Resolves when its processes are gone. */
  close(): Promise<void>;
}

const methodNotFound = -32601;
/** Limit for each request while a server is connected. */
const connectMilliseconds = 30_000;
/** Limit for all of them: a server can list its tools in as many pages as it likes. */
const openMilliseconds = 60_000;
const maxTools = 1000;
/** Limit for all definitions of a server together, as JSON. */
const maxDefinitionCharacters = 1_000_000;
const maxInstructionCharacters = 4000;
/** Longest delay of Node's timers. Calls have limits of their own. */
const forever = 2 ** 31 - 1;

/** Starts a server and asks for its tools. Rejects with an `Error` that says why it cannot be used; nothing of it is left then. */
export async function startServer(setting: ServerSetting): Promise<RunningServer> {
  const { name, server, signal } = setting;
  const unusable = (why: string) => new Error(`the MCP server \`${name}\` cannot be used: ${why}`);
  const opening = isRemote(server) ? openHttpLink(server, setting.host) : openProcessLink(server, setting);
  const link = await opening.catch((thrown: unknown) => {
    throw unusable(errorMessage(thrown));
  });
  const patience = createPatience(setting.host.clock, openMilliseconds);
  try {
    const { Client } = await import("@modelcontextprotocol/client");
    const client = new Client(
      { name: "llm-do", version: "1" },
      { capabilities: { elicitation: { form: {} } }, jsonSchemaValidator: { getValidator: () => acceptAll } },
    );
    const calls = new Set<CallInFlight>();
    letServerAsk(client, name, calls);
    const options = { signal: AbortSignal.any([signal, link.ended, patience.spent]), timeout: connectMilliseconds };
    await client.connect(link.transport, options);
    const { tools } = await client.listTools(undefined, options);
    const { name: title = name, version = "" } = client.getServerVersion() ?? {};
    const calling = { setting, link, calls };
    const allTools = tools.filter(canBeCalled).map(toFacts);
    return {
      tools: boundTools(wantedTools(allTools, server)),
      allTools,
      instructions: clipText((client.getInstructions() ?? "").trim(), maxInstructionCharacters).toWellFormed(),
      hasResources: client.getServerCapabilities()?.resources !== undefined,
      identity: `${title} ${version}`,
      hasEnded: () => link.ended.aborted,
      call: (request, runtime) => perform(client, request, { ...calling, runtime }),
      close: link.stop,
    };
  } catch (thrown) {
    const why = errorMessage(whyUnusable(link, { thrown, isLate: patience.spent.aborted }));
    await link.stop();
    signal.throwIfAborted();
    throw unusable(why + (isRemote(server) ? "" : await describeUnseen(server, setting)));
  } finally {
    patience.end();
  }
}

function whyUnusable(link: ServerLink, { thrown, isLate }: { readonly thrown: unknown; readonly isLate: boolean }): unknown {
  if (link.ended.aborted) return link.ended.reason;
  const seconds = connectMilliseconds / 1000;
  if (link.hasBegun?.() === false)
    return `it was not started in ${seconds} seconds: its folders hold too much, so name fewer under \`reads\``;
  return isLate ? `it had not told all its tools after ${openMilliseconds / 1000} seconds` : describeThrown(thrown);
}

/** Returns the library's error about an answer that is not of the protocol in one line: it lists all issues as JSON. */
function describeThrown(thrown: unknown): unknown {
  const [, method = "", text = ""] = /^Invalid result for ([^:]+): (\[.*\])$/s.exec(errorMessage(thrown)) ?? [];
  const [issue] =
    (parseJson(text) as readonly { readonly path: readonly unknown[]; readonly message: string }[] | undefined) ?? [];
  if (!issue) return thrown;
  const place = issue.path.length > 0 ? `${issue.path.join(".")} (${issue.message})` : issue.message;
  return new Error(`its answer to ${method} is not what the protocol allows: ${place}`);
}

/** Accepts every output: results are untrusted text in any form. */
function acceptAll<T>(input: unknown): JsonSchemaValidatorResult<T> {
  return { valid: true, data: input as T, errorMessage: undefined };
}

/** A tool that answers by a task alone is not offered: its result would have to be fetched later. */
function canBeCalled({ execution }: McpTool): boolean {
  return execution?.taskSupport !== "required";
}

/** Adds the hints of the server to the description: they are claims, and used for nothing else. */
function toFacts({ name, description = "", inputSchema, annotations = {} }: McpTool): ToolFacts {
  const claims = [
    ...(annotations.readOnlyHint === true ? ["only reads"] : []),
    ...(annotations.destructiveHint === true ? ["can destroy"] : []),
    ...(annotations.idempotentHint === true ? ["changes nothing more when it is repeated"] : []),
  ];
  const claimed = claims.length > 0 ? [`(Its server says that it ${claims.join(", ")}.)`] : [];
  const text = [description, ...claimed].join("\n").trim().toWellFormed();
  return { name, description: text, inputSchema: toJsonValue(inputSchema) as JsonObject };
}

/** Returns the tools that match the patterns of a server's entry. */
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
  readonly calls: Set<CallInFlight>;
  readonly runtime: WorkerRuntime;
}

/** Sends one request for a call. Rejects with a `ToolFailure`, also when the call has made no progress for too long. */
async function perform(client: Client, request: ServerRequest, calling: Calling): Promise<JsonValue | ValueWithFiles> {
  const { setting, link, calls, runtime } = calling;
  const { name, server, host } = setting;
  const seconds = server.seconds ?? 60;
  const patience = createPatience(host.clock, seconds * 1000);
  const inFlight = { runtime, patience };
  calls.add(inFlight);
  const onprogress: ProgressCallback = ({ progress, total, message }) => {
    patience.renew();
    runtime.progress(clipText(message ?? `${progress}${total === undefined ? "" : ` of ${total}`}`, 200));
  };
  try {
    const signal = AbortSignal.any([runtime.signal, patience.spent]);
    return await send(client, { ...request, trace: runtime.traceContext() }, { signal, timeout: forever, onprogress });
  } catch (thrown) {
    runtime.signal.throwIfAborted();
    if (link.ended.aborted) {
      const why = `the MCP server \`${name}\` is gone: ${errorMessage(link.ended.reason)}`;
      throw toolFailure("unavailable", why, "the next call connects again; what the server kept in memory is lost");
    }
    if (patience.spent.aborted)
      throw toolFailure("timeout", `the MCP server \`${name}\` gave no answer and no progress in ${seconds} seconds`);
    throw describeThrown(thrown);
  } finally {
    calls.delete(inFlight);
    patience.end();
  }
}

type TracedRequest = ServerRequest & { readonly trace: TraceContext | undefined };

async function send(client: Client, request: TracedRequest, options: RequestOptions): Promise<JsonValue | ValueWithFiles> {
  const meta = request.trace ? { _meta: { ...request.trace } } : {};
  switch (request.type) {
    case "tool": {
      const result = await client.callTool({ name: request.name, arguments: request.args, ...meta }, options);
      const made = await toValue(result);
      if (result.isError !== true) return made;
      const value = hasFiles(made) ? made.value : made;
      throw toolFailure("tool_failed", typeof value === "string" && value !== "" ? value : JSON.stringify(value));
    }
    case "read-resource": {
      const { contents } = await client.readResource({ uri: request.uri, ...meta }, options);
      return toContents(contents);
    }
    case "list-resources": {
      const { resources } = await client.listResources(meta, options);
      // Not every server with resources has templates.
      const { resourceTemplates } = await client.listResourceTemplates(meta, options).catch((thrown: unknown) => {
        options.signal?.throwIfAborted();
        if (thrown instanceof Error && "code" in thrown && thrown.code === methodNotFound) return { resourceTemplates: [] };
        throw thrown;
      });
      const lines = [
        ...resources.map(({ uri, name, description = "" }) => `${uri}: ${name} ${description}`.trim()),
        ...resourceTemplates.map(({ uriTemplate, name, description = "" }) => `${uriTemplate}: ${name} ${description}`.trim()),
      ];
      return clip(lines.join("\n").toWellFormed());
    }
  }
}
