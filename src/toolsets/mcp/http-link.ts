import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";
import { isRecord } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { RemoteServer } from "./config.ts";
import { repairText } from "./read-message.ts";
import { maxMessageBytes, type ServerHost, type ServerLink } from "./server-link.ts";

/** Longest wait for the answer to the end of a session. */
const partingMilliseconds = 2000;

/**
 * Reaches a server by streamable HTTP. Redirects to another origin are not followed, so that headers go to the address alone. The link
 * ends when the server cannot be reached or does not know the session any more.
 */
export async function openHttpLink(server: RemoteServer, host: ServerHost): Promise<ServerLink> {
  const { url, headers = {} } = server;
  const fetch = await findFetch(server, host);
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const ended = new AbortController();
  const fail = (why: string) => {
    if (ended.signal.aborted) return;
    ended.abort(new Error(why));
    inner.close().catch(() => undefined);
  };
  const inner = new StreamableHTTPClientTransport(new URL(url), {
    fetch: boundMessages(fetch, fail),
    requestInit: { headers },
  });
  const stop = async () => {
    const parted = new AbortController();
    const patience = host.clock.sleep(partingMilliseconds, parted.signal).catch(() => undefined);
    if (!ended.signal.aborted) await Promise.race([inner.terminateSession().catch(() => undefined), patience]);
    parted.abort();
    fail("the run has closed it");
  };
  return { transport: answerLostRequests(inner, { server, fail }), ended: ended.signal, stop };
}

async function findFetch({ url, login = false }: RemoteServer, host: ServerHost): Promise<ServerHost["fetch"]> {
  if (!login) return host.fetch;
  const fetch = await host.fetchWithLogin?.(new URL(url).href);
  if (!fetch) throw new Error(`it needs your login: ${loginLine(url)}`);
  return fetch;
}

function loginLine(url: string): string {
  return `run \`llm-do oauth login ${new URL(url).href}\``;
}

interface Answering {
  readonly server: RemoteServer;
  readonly fail: (why: string) => void;
}

/** Answers requests whose stream has ended with an error. The library would wait for them forever. */
function answerLostRequests(inner: Transport, { server, fail }: Answering): Transport {
  const waiting = new Set<RequestId>();
  const lose = (id: RequestId | undefined) => {
    if (id === undefined || !waiting.delete(id)) return;
    transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: -32000, message: "the connection was lost before its answer" } });
  };
  const send: Transport["send"] = async (message, options) => {
    const id = "method" in message && "id" in message ? message.id : undefined;
    if (id !== undefined) waiting.add(id);
    try {
      await inner.send(message, { ...options, onRequestStreamEnd: () => lose(id) });
    } catch (thrown) {
      if (id !== undefined) waiting.delete(id);
      const { status, why: said } = describeFailure(thrown);
      const why = status === 401 ? `${said}; ${describeUnauthorized(server)}` : said;
      // Servers answer 404, and some 400, to a session that they do not know.
      if (status === undefined || status === 404 || (status === 400 && inner.sessionId !== undefined)) fail(why);
      throw new Error(why);
    }
  };
  const transport: Transport = {
    ...{ send, start: () => inner.start(), close: () => inner.close() },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  };
  inner.onclose = () => transport.onclose?.();
  inner.onmessage = (message: JSONRPCMessage) => {
    if (!("method" in message) && message.id !== undefined) waiting.delete(message.id);
    transport.onmessage?.(message);
  };
  return transport;
}

/** Says what lets the user in. A header of the entry can be what is wrong. */
function describeUnauthorized({ url, login = false, headers = {} }: RemoteServer): string {
  if (login) return loginLine(url);
  const given = Object.keys(headers).length > 0 ? "correct its `headers`, or " : "";
  return `${given}write \`login: true\` in its entry, and ${loginLine(url)}`;
}

/** Describes a failed request. `status`: absent without a usable response. */
function describeFailure(thrown: unknown): { readonly status?: number; readonly why: string } {
  if (!(thrown instanceof Error)) return { why: String(thrown) };
  const status = "status" in thrown ? thrown.status : undefined;
  const data = "data" in thrown && isRecord(thrown.data) ? thrown.data : {};
  const text = typeof data["text"] === "string" ? clipText(data["text"], 300) : "";
  if (typeof status === "number") {
    const said = status >= 300 && status < 400 ? "a redirect to another address is not followed" : text;
    return { status, why: `it answered with HTTP ${status}${said === "" ? "" : `: ${said}`}` };
  }
  // `fetch failed` says nothing; its cause does.
  return { why: errorMessage(thrown instanceof TypeError && thrown.cause instanceof Error ? thrown.cause : thrown) };
}

/** Ends the link at a message that is too long. A stream of events has no limit as a whole. */
function boundMessages(fetch: typeof globalThis.fetch, fail: (why: string) => void): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.body) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    const bound = boundBytes(isStream, () => fail(`it sent a message of more than ${maxMessageBytes} bytes`));
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bound).pipeThrough(repairBytes(isStream)), { status, statusText, headers });
  };
}

function boundBytes(isStream: boolean, onTooLong: () => void) {
  let held = 0;
  let isLineEmpty = true;
  const count = (byte: number) => {
    held++;
    if (byte === lineFeed && isLineEmpty && isStream) held = 0;
    if (byte === lineFeed) isLineEmpty = true;
    else if (byte !== carriageReturn) isLineEmpty = false;
  };
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      for (const byte of chunk) count(byte);
      if (held <= maxMessageBytes) return controller.enqueue(chunk);
      onTooLong();
      controller.error(new Error("too long"));
    },
  });
}

/** Repairs the messages of a response, each of which is a line of a stream of events. The library reads no others. */
function repairBytes(isStream: boolean) {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let held = "";
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      const text = decoder.decode(chunk, { stream: true });
      const end = isStream ? text.lastIndexOf("\n") + 1 : 0;
      if (end > 0) controller.enqueue(encoder.encode(repairLines(held + text.slice(0, end))));
      held = end > 0 ? text.slice(end) : held + text;
    },
    flush: (controller) => controller.enqueue(encoder.encode(isStream ? held : repairText(held))),
  });
}

function repairLines(text: string): string {
  return text.replace(/^data:([^\r\n]*)/gm, (line, data: string) => (data.includes("null") ? `data: ${repairText(data)}` : line));
}

const lineFeed = 10;
const carriageReturn = 13;
