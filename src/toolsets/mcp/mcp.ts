import type { JsonObject } from "../../protocol/json.ts";
import type { ToolsEstimate } from "../../protocol/outline.ts";
import { abortable } from "../../util/async/abortable.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { serverSeparator as separator } from "../tool-name.ts";
import {
  type ConfigWarning,
  type ConnectAccess,
  type Connection,
  type ConnectionChange,
  type ConnectionNote,
  type Tool,
  type Toolset,
  toolFailure,
  toolMark,
  toolsetMark,
} from "../toolset.ts";
import { describeServers, isRemote, type McpConfig, type McpServer, mcpConfig } from "./config.ts";
import {
  type DefinitionsHost,
  type KnownDefinitions,
  knownDefinitions,
  printDefinitions,
  sameDefinitions,
} from "./known-definitions.ts";
import {
  type RunningServer,
  type ServerRequest,
  type ServerSetting,
  startServer,
  type ToolFacts,
  wantedTools,
} from "./server.ts";
import type { ServerHost } from "./server-link.ts";

export type McpHost = ServerHost & DefinitionsHost;

/** Creates the toolset for the tools of MCP servers. Connections last as long as the run. No claim of a server changes a verdict. */
export function createMcpToolset(host: McpHost): Toolset<McpConfig> {
  return {
    [toolsetMark]: true,
    name: "mcp",
    config: mcpConfig,
    requires: ["trust"],
    rules: (_config, written) => describeServers(written),
    warnings: (config, { worker, isolationRequired }) => (isolationRequired ? unisolatedServers(config, worker) : []),
    lifetime: "run",
    session: true,
    tools: () => [],
    estimate: (config, { folder }) => estimateTools(config, folder, host),
    connect: (config, access) => connectServers(config, access, host),
    describeCall: ({ tool }) => {
      const [server, name] = splitName(tool);
      return `Call the tool ${name} of the MCP server ${server}`;
    },
  };
}

/** Reports servers without isolation to a worker that requires it. */
function unisolatedServers({ servers }: McpConfig, worker: string): readonly ConfigWarning[] {
  return Object.entries(servers).flatMap(([name, server]) => {
    if (isRemote(server) || server.isolated !== false) return [];
    const message = `the server \`${name}\` has \`isolated: false\`, and \`${worker}\` has \`sandbox.required\``;
    return [{ path: ["servers", name, "isolated"], message, isError: true }];
  });
}

async function connectServers({ servers }: McpConfig, access: ConnectAccess, host: McpHost): Promise<Connection> {
  const { folder, signal } = access;
  const starting = Object.entries(servers).map(([name, server]) => connectServer({ name, server, host, folder, signal }, host));
  const settled = await Promise.allSettled(starting);
  const connected = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const close = async () => {
    await Promise.all(connected.map((one) => one.close()));
  };
  for (const one of settled) {
    if (one.status === "fulfilled") continue;
    await close();
    throw one.reason;
  }
  return {
    tools: connected.flatMap(({ tools }) => tools),
    deferred: connected.flatMap(({ tools, isDeferred }) => (isDeferred ? tools.map(({ name }) => name) : [])),
    notes: connected.flatMap(({ notes }) => notes),
    fingerprint: canonicalJson(connected.map(({ identity }) => identity)),
    changes: connected.flatMap(({ change }) => change ?? []),
    close,
  };
}

interface ConnectedServer {
  readonly tools: readonly Tool[];
  readonly isDeferred: boolean;
  readonly notes: readonly ConnectionNote[];
  readonly identity: string;
  readonly change: ConnectionChange | undefined;
  readonly close: () => Promise<void>;
}

async function connectServer(setting: ServerSetting, host: McpHost): Promise<ConnectedServer> {
  const first = await startServer(setting);
  const restarting = createRestarting(setting, first);
  try {
    return {
      tools: toTools(setting, first, restarting.call),
      notes: first.instructions === "" ? [] : [{ from: `the MCP server ${setting.name}`, text: first.instructions }],
      isDeferred: isDeferred(setting.server, first.tools),
      identity: first.identity,
      change: await findChange(setting, first, host),
      close: restarting.close,
    };
  } catch (thrown) {
    await restarting.close();
    throw thrown;
  }
}

/** Returns the store of a server's definitions. Each program, command line and address has its own. */
function definitionsOf(
  { name, folder, server }: Pick<ServerSetting, "name" | "folder" | "server">,
  host: McpHost,
): KnownDefinitions {
  const reached = isRemote(server) ? [server.url] : [server.command, server.args ?? []];
  return knownDefinitions(host, folder, canonicalJson([name, ...reached]));
}

/** Returns the change of a server's definitions since the last approval. The first ones are accepted: the program was just trusted. */
async function findChange(setting: ServerSetting, server: RunningServer, host: McpHost): Promise<ConnectionChange | undefined> {
  const { name, server: config } = setting;
  const known = definitionsOf(setting, host);
  const kept = await known.read();
  const before = kept && { ...kept, tools: wantedTools(kept.tools, config) };
  const all = { tools: server.allTools, instructions: server.instructions };
  if (before && sameDefinitions(before, server)) return undefined;
  if (before) {
    const [shownBefore, shownAfter] = [printDefinitions(before), printDefinitions(server)];
    return { name, before: shownBefore, after: shownAfter, accept: () => known.keep(all) };
  }
  await known.keep(all).catch((thrown: unknown) => {
    throw new Error(`the definitions of the MCP server \`${name}\` cannot be kept: ${errorMessage(thrown)}`);
  });
  return undefined;
}

const maxRestarts = 3;

/** Connects a server again at the next call after it has ended, unless its definitions have changed. */
function createRestarting(setting: ServerSetting, first: RunningServer) {
  let running = Promise.resolve(first);
  /** Restarts since the last successful call. */
  let restarts = 0;
  let isClosed = false;
  const restart = async (): Promise<RunningServer> => {
    const next = await startServer(setting);
    if (sameDefinitions(next, first)) return next;
    await next.close();
    throw new Error(`the MCP server \`${setting.name}\` has other tools than before it ended`);
  };
  const current = oneAtATime(async (): Promise<RunningServer> => {
    const server = await running.catch(() => undefined);
    if (server && !server.hasEnded()) return server;
    if (isClosed || ++restarts > maxRestarts)
      throw toolFailure("unavailable", `the MCP server \`${setting.name}\` has ended ${maxRestarts + 1} times in a row`);
    running = restart();
    return running.catch((thrown: unknown) => {
      throw toolFailure("unavailable", errorMessage(thrown));
    });
  });
  const call: RunningServer["call"] = async (request, runtime) => {
    const value = await (await abortable(current(), runtime.signal)).call(request, runtime);
    restarts = 0;
    return value;
  };
  const close = async () => {
    isClosed = true;
    await (await running.catch(() => undefined))?.close();
  };
  return { call, close };
}

/** Shares one pending answer among all callers. */
function oneAtATime<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | undefined;
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** Length in characters (about four for each token) from which on definitions of a server are deferred. */
const longDefinitions = 40_000;

function isDeferred({ defer }: McpServer, tools: readonly ToolFacts[]): boolean {
  return defer ?? JSON.stringify(tools).length > longDefinitions;
}

/** Estimates by the definitions of the last run. Undefined if a server was never connected. */
async function estimateTools({ servers }: McpConfig, folder: string, host: McpHost): Promise<ToolsEstimate | undefined> {
  const kept = await Promise.all(
    Object.entries(servers).map(async ([name, server]) => {
      const known = await definitionsOf({ name, server, folder }, host).read();
      if (!known) return undefined;
      const tools = wantedTools(known.tools, server);
      const deferred = isDeferred(server, tools) ? tools.length : 0;
      const characters = JSON.stringify(deferred > 0 ? tools.map((tool) => tool.name) : tools).length;
      return { tools: tools.length, tokens: Math.ceil(characters / 4), deferred };
    }),
  );
  return kept.reduce((sum, one) => {
    if (!sum || !one) return undefined;
    return { tools: sum.tools + one.tools, tokens: sum.tokens + one.tokens, deferred: sum.deferred + one.deferred };
  });
}

function splitName(tool: string): readonly [server: string, name: string] {
  const at = tool.indexOf(separator);
  return [tool.slice(0, at), tool.slice(at + separator.length)];
}

function toTools(
  { name: server, server: entry }: ServerSetting,
  first: RunningServer,
  call: RunningServer["call"],
): readonly Tool[] {
  const own = first.hasResources ? wantedTools(resourceTools, entry) : [];
  const added = own.filter(({ name }) => first.tools.every((tool) => tool.name !== name));
  return [...first.tools, ...added].map((facts) => {
    const toRequest = added.includes(facts) ? resourceRequests[facts.name] : undefined;
    const { name, description, inputSchema } = facts;
    return {
      [toolMark]: true,
      name: `${server}${separator}${name.replace(/[^A-Za-z0-9_-]/g, "_")}`,
      description,
      // The server checks the arguments: its schema is not run here.
      input: { jsonSchema: inputSchema, validate: async (value) => ({ ok: true, value }) },
      settlesOnAbort: true,
      execute: (args, runtime) => call(toRequest?.(args) ?? { type: "tool", name, args }, runtime),
    };
  });
}

const uri = { type: "string", description: "The address of a resource, as a tool of the server gave it." };

/** Tools that are added for a server with resources. */
const resourceTools: readonly ToolFacts[] = [
  {
    name: "list_resources",
    description: "Lists the resources of the server, and templates of their addresses.",
    inputSchema: { type: "object", properties: {} },
  },
  {
    name: "read_resource",
    description: "Reads a resource of the server.",
    inputSchema: { type: "object", properties: { uri }, required: ["uri"] },
  },
];

const resourceRequests: Readonly<Record<string, (args: JsonObject) => ServerRequest>> = {
  list_resources: () => ({ type: "list-resources" }),
  read_resource: (args) => ({ type: "read-resource", uri: String(args["uri"]) }),
};
