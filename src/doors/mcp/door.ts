import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { JsonObject } from "../../protocol/json.ts";
import { version } from "../../version.ts";
import { longestLine } from "../bound-lines.ts";
import type { OfferedWorker } from "../offered-worker.ts";
import { type CallOptions, McpCalls } from "./calls.ts";
import { createKeptFiles } from "./files.ts";
import { toTool } from "./results.ts";

type StdioInput = NonNullable<ConstructorParameters<typeof StdioServerTransport>[0]>;
type StdioOutput = NonNullable<ConstructorParameters<typeof StdioServerTransport>[1]>;

export interface McpDoorOptions extends CallOptions {
  readonly workers: readonly OfferedWorker[];
  readonly input: StdioInput;
  /** Gets the protocol's messages and nothing else. */
  readonly output: StdioOutput;
  /** Receives problems with the client, which the protocol does not tell. */
  readonly onProblem: (error: Error) => void;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

/**
 * Offers workers as tools of an MCP server on a pair of streams. A call is a run of its own, recorded as any other. A question of its gate
 * comes back as an `input_required` result (MCP 2026-07-28), or is an elicitation for clients of 2025. Resolves when
 * the client is gone and all runs have ended.
 */
export async function serveMcp(options: McpDoorOptions): Promise<void> {
  const { workers, input, output, onProblem, signal } = options;
  const files = createKeptFiles();
  const calls = new McpCalls(options, files);
  const byName = new Map(workers.map((worker) => [worker.name, worker]));
  const create = () => {
    const server = new Server(
      { name: "llm-do", version },
      { capabilities: { tools: {}, resources: {}, logging: {} }, inputRequired: { legacyShim: false } },
    );
    server.setRequestHandler("tools/list", () => ({ tools: workers.map(toTool) }));
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const worker = byName.get(params.name);
      if (!worker) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool \`${params.name}\``);
      return calls.answer(worker, (params.arguments ?? {}) as JsonObject, { server, context });
    });
    server.setRequestHandler("resources/list", () => ({ resources: files.list() }));
    server.setRequestHandler("resources/read", ({ params }) => files.read(params.uri));
    return server;
  };
  const transport = new StdioServerTransport(input, output, { maxBufferSize: longestLine + 1 });
  const handle = serveStdio(create, { transport, onerror: onProblem });
  const { onmessage } = transport;
  transport.onmessage = (message) => {
    if ("method" in message && message.method === "notifications/cancelled") calls.cancel(message.params?.["requestId"]);
    onmessage?.(message);
  };
  await Promise.race([ended(input), closed(transport), aborted(signal)]);
  await handle.close();
  await calls.close();
}

/** A client that reads no more closes the connection, too. */
function closed(transport: StdioServerTransport): Promise<void> {
  return new Promise((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
}

function ended(input: StdioInput): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["end", "close", "error"]) input.once(event, () => resolve());
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
