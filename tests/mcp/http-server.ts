import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { type LocalServer, type Recorded, sendEvents, sendJson, startServer } from "../models/local-server.ts";

export interface HttpServer {
  readonly url: string;
  readonly requests: LocalServer["requests"];
  /** Methods of the requests so far, without the stream of the server's own messages. */
  methods(): readonly string[];
  /** The server forgets all sessions, as one that was started again. */
  forget(): void;
  /** A call of `hold` came. */
  readonly held: Promise<void>;
}

/** An MCP server on 127.0.0.1, which behaves as badly as its tools are asked to. */
export async function startHttpServer(): Promise<HttpServer> {
  const sessions = new Set<string>();
  const held = Promise.withResolvers<void>();
  let count = 0;
  let resumed: unknown;
  const text = (value: string) => ({ content: [{ type: "text", text: value }] });
  const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
  const actions: Record<string, (response: ServerResponse, request: Recorded) => void> = {
    echo: (response, { body }) => sendJson(response, answer(body.id, text(String(body.params.arguments.message)))),
    steps: (response, { body }) => {
      const { progressToken } = body.params._meta;
      const progress = { method: "notifications/progress", params: { progressToken, progress: 1, total: 2, message: "half" } };
      sendEvents(response, [event(progress), event(answer(body.id, text("done")))]);
    },
    resume: (response, { body }) => {
      resumed = body.id;
      sendEvents(response, ["id: 7\nretry: 10\ndata:\n\n"]);
    },
    lose: (response) => sendEvents(response, [": hello\n\n"]),
    flood: (response) => sendEvents(response, [`data: ${"x".repeat(11_000_000)}`], false),
    refuse: (response) => sendJson(response, { error: "slow down" }, 429),
    hold: () => held.resolve(),
  };
  const inputSchema = { type: "object" };
  const methods: Record<string, (response: ServerResponse, request: Recorded) => void> = {
    initialize: (response, { body }) => {
      const session = `session-${++count}`;
      sessions.add(session);
      const { protocolVersion } = body.params;
      const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "http", version: "1" } };
      sendJson(response, answer(body.id, result), 200, { "mcp-session-id": session });
    },
    "tools/list": (response, { body }) =>
      sendJson(response, answer(body.id, { tools: Object.keys(actions).map((name) => ({ name, inputSchema })) })),
    "tools/call": (response, request) => actions[request.body.params.name]?.(response, request),
  };
  const server = await startServer((response, request) => {
    const { body, headers } = request;
    if (body === undefined && headers["last-event-id"] === "7")
      return sendEvents(response, [event(answer(resumed, text("resumed")))]);
    if (body === undefined) return void response.writeHead(405).end();
    const isKnown = body.method === "initialize" || sessions.has(String(headers["mcp-session-id"]));
    if (!isKnown) return sendJson(response, { error: "no such session" }, 404);
    const method = methods[body.method];
    return method ? method(response, request) : void response.writeHead(202).end();
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return {
    url: `${server.url}/mcp`,
    requests: server.requests,
    methods: () => server.requests.flatMap(({ body }) => (body === undefined ? [] : [body.method])),
    forget: () => sessions.clear(),
    held: held.promise,
  };
}

function answer(id: unknown, result: object) {
  return { jsonrpc: "2.0", id, result };
}
