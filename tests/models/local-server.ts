import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pathToFileURL } from "node:url";
import type { ProviderEnvironment } from "../../src/models/provider.ts";

export interface Recorded {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read freely by the tests
  readonly body: any;
}

export type Answer = (response: ServerResponse, request: Recorded, index: number) => void | Promise<void>;

export interface LocalServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: Recorded[];
  /** Resolves when a client has closed its connection before the answer was finished. */
  readonly dropped: Promise<void>;
  readonly server: Server;
}

/** A server on 127.0.0.1 that records each request and lets `answer` write what a provider would. `parse` reads a body. */
export async function startServer(answer: Answer, parse: (text: string) => unknown = JSON.parse): Promise<LocalServer> {
  const requests: Recorded[] = [];
  const dropped = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const recorded = { path: request.url ?? "", headers: request.headers, body: text === "" ? undefined : parse(text) };
    requests.push(recorded);
    response.on("close", () => {
      if (!response.writableFinished) dropped.resolve();
    });
    await answer(response, recorded, requests.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    dropped: dropped.promise,
    server,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      // After it takes no new one: a connection that came between would be waited for.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns whether a request asks for a stream: in its body, or by its path. */
export function asksForStream({ path, body }: Recorded): boolean {
  return body.stream === true || /:streamGenerateContent|\/converse-stream$/.test(path);
}

export function sendJson(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Server-sent events, or frames of AWS; with `end` false the connection stays open. */
export function sendEvents(response: ServerResponse, events: readonly (string | Uint8Array)[], end = true): void {
  const type = typeof events[0] === "object" ? "application/vnd.amazon.eventstream" : "text/event-stream";
  response.writeHead(200, { "content-type": type }).flushHeaders();
  for (const event of events) response.write(event);
  if (end) response.end();
}

/** The environment of a provider as a host would give it, over these variables. */
export function testEnvironment(variables: Readonly<Record<string, string>>): ProviderEnvironment {
  return {
    variable: (name) => variables[name] || undefined,
    fetch: globalThis.fetch,
    importScript: (path) => import(pathToFileURL(path).href),
    readText: (path) => readFile(path, "utf8"),
  };
}
