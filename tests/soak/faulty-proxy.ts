import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export const faults = ["reset", "stall", "error", "slow", "truncated"] as const;
export type Fault = (typeof faults)[number];

export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  /** Faults that were played so far. */
  readonly played: Readonly<Record<Fault, number>>;
  /** Ends the connections on both sides that no request uses. */
  closeIdle(): void;
}

/** A proxy on 127.0.0.1 before the server at `upstream`. `next` chooses the fault of each request, if any. */
export async function startFaultyProxy(upstream: string, next: () => Fault | undefined): Promise<FaultyProxy> {
  const played: Record<Fault, number> = { reset: 0, stall: 0, error: 0, slow: 0, truncated: 0 };
  const server = createServer((request, response) => {
    const fault = next();
    if (fault) played[fault]++;
    // A client that goes away is what the tests are about.
    for (const stream of [request, response]) stream.on("error", () => undefined);
    if (fault === "reset") request.socket.resetAndDestroy();
    else if (fault === "error") request.resume().on("end", () => response.writeHead(500).end("{}"));
    else if (fault === "stall") request.resume();
    else forward(upstream, { request, response, fault });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    played,
    closeIdle: () => server.closeIdleConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly fault: Fault | undefined;
}

function forward(upstream: string, { request, response, fault }: Exchange): void {
  const { method, headers } = request;
  const asked = ask(`${upstream}${request.url}`, { method, headers: { ...headers, connection: "close" }, agent: false });
  asked.on("error", () => response.destroy());
  response.on("close", () => asked.destroy());
  asked.on("response", async (answer) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      const { connection: _, "transfer-encoding": _length, ...rest } = answer.headers;
      await send(response.writeHead(answer.statusCode ?? 500, rest), Buffer.concat(chunks), fault);
    } catch {
      response.destroy();
    }
  });
  request.pipe(asked);
}

async function send(response: ServerResponse, body: Buffer, fault: Fault | undefined): Promise<void> {
  if (fault === "truncated") {
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
    return;
  }
  const pieces = fault === "slow" ? 16 : 1;
  const size = Math.ceil(body.length / pieces);
  for (let at = 0; at < body.length; at += size) {
    if (at > 0) await delay(1);
    response.write(body.subarray(at, at + size));
  }
  response.end();
}
