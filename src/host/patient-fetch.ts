import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type * as zlib from "node:zlib";
import { onAbort } from "../util/async/abortable.ts";
import type { Patience, PatientInit } from "./patience.ts";
import { fetchThrough, findSetDispatcher } from "./set-dispatcher.ts";

/** How long a server may be silent, before or during its answer. A long answer that is not streamed takes minutes. */
const defaultPatience: Patience = { connect: 10_000, firstByte: 30 * 60_000, idle: 30 * 60_000 };

/** How long a connection without a request is kept, in milliseconds, where its server names no shorter time. */
const idlePatience = 4000;

/** Redirects that are followed in a row, as the standard has it. */
const mostRedirects = 20;

/** Longer texts are sent as bytes, which takes less time. Shorter ones go out in one piece with the head. */
const longText = 16_384;

/** Bytes of an answer that are read before somebody takes them. */
const readAhead = 65_536;

const nodesFetch = globalThis.fetch;

/** A request in the form in which it is sent, and sent again where it is redirected. */
interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
  readonly patience: Patience;
}

/**
 * Creates a `fetch` over `node:http` and `node:https`, which takes less processor time than Node's own and waits for half an hour
 * where that gives up after five minutes. It speaks HTTP/1.1 and keeps connections open. A dispatcher that somebody set for the
 * `fetch` of this process (a proxy, the connections of a program that uses llm-do), or another `fetch`, is used in its place.
 */
export function createPatientFetch(usual: Partial<Patience> = {}): typeof globalThis.fetch {
  return async (input, init?: PatientInit) => {
    const { patience: given, ...standard } = init ?? {};
    const patience = { ...defaultPatience, ...usual, ...given };
    const dispatcher = findSetDispatcher();
    if (dispatcher || globalThis.fetch !== nodesFetch) return fetchThrough(dispatcher, input, { ...standard, patience });
    const first = await toOutgoing(input, { ...standard, patience });
    if (!/^https?:$/.test(first.url.protocol)) return globalThis.fetch(input, standard);
    const redirect = init?.redirect ?? (isAddress(input) ? "follow" : input.redirect);
    let outgoing = first;
    for (let redirects = 0; ; redirects++) {
      const message = await send(outgoing);
      const next = redirect === "manual" ? undefined : followed(outgoing, message);
      if (!next) return toResponse(outgoing, message, redirects);
      message.destroy();
      if (redirect === "error" || redirects === mostRedirects)
        throw failed(new Error(redirect === "error" ? "unexpected redirect" : "redirect count exceeded"));
      outgoing = next;
    }
  };
}

/** Bodies other than texts and bytes are read whole first. */
async function toOutgoing(input: Parameters<typeof fetch>[0], init: RequestInit & Pick<Outgoing, "patience">): Promise<Outgoing> {
  const { patience, ...standard } = init;
  const { body } = init;
  const isPlain = isAddress(input) && (typeof body === "string" || (body ?? undefined) === undefined);
  const request = isPlain
    ? undefined
    : new Request(input as string, { ...standard, ...(body ? { duplex: "half" } : {}) } as RequestInit);
  const url = input instanceof URL ? input : new URL(request?.url ?? String(input));
  const headers: Record<string, string> = { accept: "*/*", "accept-encoding": "gzip, deflate, br", "user-agent": "node" };
  if (typeof body === "string") headers["content-type"] = "text/plain;charset=UTF-8";
  for (const [name, value] of request?.headers ?? entriesOf(init.headers)) headers[name.toLowerCase()] = value;
  return {
    ...{ url, headers, patience },
    method: request?.method ?? (init.method ?? "GET").toUpperCase(),
    body: request?.body ? new Uint8Array(await request.arrayBuffer()) : typeof body === "string" ? body : undefined,
    signal: init.signal ?? request?.signal,
  };
}

/** Does not name `Request`, as most requests need not: Node loads the class with the whole client of its `fetch`. */
function isAddress(input: Parameters<typeof fetch>[0]): input is string | URL {
  return typeof input === "string" || input instanceof URL;
}

/** The same for `Headers`. */
function entriesOf(headers: RequestInit["headers"] = {}): Iterable<readonly [string, string]> {
  const isRecord = !(Symbol.iterator in headers);
  return isRecord ? Object.entries(headers as Readonly<Record<string, string>>) : new Headers(headers);
}

type Requester = typeof import("node:http").request;

/** Agents keep the connections of all runs of this process. */
const requesters = new Map<string, Promise<Requester>>();

async function loadRequester(protocol: string): Promise<Requester> {
  const { Agent, request } = protocol === "https:" ? await import("node:https") : await import("node:http");
  const agent = new Agent({ keepAlive: true, timeout: idlePatience, ALPNProtocols: ["http/1.1"] });
  return ((options: object) => request({ agent, ...options })) as Requester;
}

/** Resolves with the head of the answer. Rejects as `fetch` does: with the reason of the abort, or with a `TypeError` and its cause. */
async function send({ url, method, headers, body, signal, patience }: Outgoing): Promise<IncomingMessage> {
  signal?.throwIfAborted();
  const { protocol, hostname, port, pathname, search, username, password } = url;
  if (username !== "" || password !== "")
    throw new TypeError(`the address of a request holds a user or a password: ${url.origin}`);
  const requester = requesters.get(protocol) ?? loadRequester(protocol);
  requesters.set(protocol, requester);
  const request = await requester;
  return new Promise((resolve, reject) => {
    // Node takes longer for an address than for its parts.
    const to = { protocol, hostname: hostname.replace(/^\[|\]$/g, ""), port, path: `${pathname}${search}` };
    const sent = request({ ...to, method, headers, timeout: patience.firstByte });
    let message: IncomingMessage | undefined;
    let stopListening: (() => void) | undefined;
    const end = (error: Error) => (message ?? sent).destroy(error);
    const abort = () => end(signal?.reason);
    const onSilence = () => {
      // Connecting has a time of its own. Where nobody takes what came, the server is not the one that is silent.
      if (!sent.socket?.connecting && !message?.isPaused()) end(silence(message ? "BODY" : "HEADERS"));
    };
    // The request itself would emit the first silence alone, and that may be one that does not count.
    sent.on("socket", (socket) => {
      socket.on("timeout", onSilence);
      if (socket.connecting) boundConnecting(sent, socket, patience);
    });
    sent.on("close", () => {
      stopListening?.();
      sent.socket?.off("timeout", onSilence);
    });
    sent.on("error", (error) => reject(signal?.aborted ? signal.reason : failed(error)));
    sent.on("response", (response) => {
      message = response;
      if (patience.idle !== patience.firstByte) sent.setTimeout(patience.idle);
      resolve(message);
    });
    // The answer will need it, and loading it takes long: now the server has the request.
    sent.once("finish", () => Reflect.get(globalThis, "Response"));
    sent.end(typeof body === "string" && body.length > longText ? Buffer.from(body) : body);
    stopListening = signal && onAbort(signal, abort);
  });
}

function boundConnecting(sent: ClientRequest, socket: Socket, { connect, firstByte }: Patience): void {
  const timer = setTimeout(() => sent.destroy(silence("CONNECT")), connect);
  socket.once("encrypted" in socket ? "secureConnect" : "connect", () => {
    clearTimeout(timer);
    socket.setTimeout(firstByte);
  });
  sent.once("close", () => clearTimeout(timer));
}

/** Has the code of Node's own `fetch`, by which readers of errors know a silence. */
function silence(of: "CONNECT" | "HEADERS" | "BODY"): Error {
  return Object.assign(new Error(`${of.toLowerCase()} timeout`), { code: `UND_ERR_${of}_TIMEOUT` });
}

function failed(error: NodeJS.ErrnoException): TypeError {
  return new TypeError("fetch failed", { cause: describe(error) });
}

function describe(error: NodeJS.ErrnoException): Error {
  const { code = "" } = error;
  if (code === "HPE_HEADER_OVERFLOW") return Object.assign(error, { code: "UND_ERR_HEADERS_OVERFLOW" });
  if (!code.startsWith("HPE_") && !error.message.includes("alert no application protocol")) return error;
  return Object.assign(new Error("the server does not answer in HTTP/1.1", { cause: error }), { code });
}

/** The request that a redirect asks for; undefined for any other answer. A key stays with its origin. */
function followed({ url, method, headers, body, ...same }: Outgoing, { statusCode = 0, headers: { location } }: IncomingMessage) {
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined;
  if (!URL.canParse(location, url.href)) throw failed(new Error("the redirect names no address"));
  const to = new URL(location, url);
  if (!/^https?:$/.test(to.protocol)) throw failed(new Error("the redirect names no address of HTTP"));
  if (to.hash === "") to.hash = url.hash;
  const isGet = (statusCode === 303 && method !== "HEAD") || (statusCode < 303 && method === "POST");
  const isSame = to.origin === url.origin;
  const kept = Object.entries(headers).filter(([name]) => {
    if (isGet && name.startsWith("content-")) return false;
    return isSame || !["authorization", "proxy-authorization", "cookie", "host"].includes(name);
  });
  return { ...same, url: to, method: isGet ? "GET" : method, body: isGet ? undefined : body, headers: Object.fromEntries(kept) };
}

async function toResponse(outgoing: Outgoing, message: IncomingMessage, redirects: number): Promise<Response> {
  const { statusCode: status = 0, statusMessage: statusText = "", headers: found } = message;
  const { "set-cookie": cookies = [], ...rest } = found;
  const isEmpty = outgoing.method === "HEAD" || [204, 205, 304].includes(status);
  if (isEmpty) message.resume();
  const body = isEmpty ? null : toStream(message, await decoded(message), outgoing);
  const response = new Response(body, { status, statusText, headers: rest as Record<string, string> });
  for (const cookie of cookies) response.headers.append("set-cookie", cookie);
  return Object.defineProperties(response, { url: { value: outgoing.url.href }, redirected: { value: redirects > 0 } });
}

function brokenOff(signal: AbortSignal | undefined, error: Error): unknown {
  return signal?.aborted ? signal.reason : new TypeError("terminated", { cause: describe(error) });
}

/** Undoes what the server did to send less. */
function decoded(message: IncomingMessage): Readable | Promise<Readable> {
  const { "content-encoding": coding } = message.headers;
  return coding === undefined ? message : decodedFrom(coding, message);
}

async function decodedFrom(coding: string, message: IncomingMessage): Promise<Readable> {
  const codings = coding
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  if (codings.every((name) => !Object.hasOwn(decoders, name))) return message;
  const [{ pipeline }, library] = await Promise.all([import("node:stream"), import("node:zlib")]);
  return codings.reverse().reduce<Readable>((from, name) => {
    const decoder = decoders[name]?.(library);
    return decoder ? pipeline(from, decoder, () => undefined) : from;
  }, message);
}

/** Events that came are passed on before the rest of the stream is there, and what was cut off up to where it was. */
const decoders: Readonly<Record<string, (library: typeof zlib) => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createUnzip,
  "x-gzip": createUnzip,
  deflate: createUnzip,
  br: ({ createBrotliDecompress, constants: { BROTLI_OPERATION_FLUSH: flush } }) =>
    createBrotliDecompress({ flush, finishFlush: flush }),
};

function createUnzip({ createUnzip: create, constants: { Z_SYNC_FLUSH: flush } }: typeof zlib) {
  return create({ flush, finishFlush: flush });
}

/** Reads as fast as the stream is read. */
function toStream(message: IncomingMessage, from: Readable, { signal, patience }: Pick<Outgoing, "signal" | "patience">) {
  let isOver = false;
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    from.on("data", (chunk: Buffer) => {
      if (isOver) return;
      controller.enqueue(chunk);
      if ((controller.desiredSize ?? 0) <= 0) from.pause();
    });
    from.on("end", () => {
      if (!isOver) controller.close();
      isOver = true;
    });
    from.on("error", (error) => {
      if (!isOver) controller.error(brokenOff(signal, error));
      isOver = true;
    });
  };
  const pull = () => {
    if (from.isPaused()) message.socket.setTimeout(patience.idle);
    from.resume();
  };
  const cancel = () => {
    isOver = true;
    message.destroy();
  };
  return new ReadableStream({ start, pull, cancel }, { highWaterMark: readAhead, size: ({ byteLength }) => byteLength });
}
