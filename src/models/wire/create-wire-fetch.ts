import type { AnswerBody, BareAnswer, Patience, PatientInit } from "../../host/patience.ts";
import { clipText } from "../../util/clip-text.ts";
import { AnswerRefusal, boundBytes, bounds, cutBytes, type Pieces, tooLarge } from "./bounds.ts";
import { type AnswerRepair, type Body, repairBody, repairEvents, repairWhole } from "./repair.ts";

type Fetch = typeof globalThis.fetch;

/** How long the server of one call may be silent. Keyed by the call's signal, which is all of a call that the libraries pass on to `fetch`. */
export const patienceOf = new WeakMap<AbortSignal, Patience>();

/** A whole answer came where a stream was asked for. The next request under the same signal gets it, without being sent. */
export class WholeAnswer extends Error {
  constructor() {
    super("a whole answer came in the place of a stream");
    this.name = "WholeAnswer";
  }
}

/** The JSON of a request's messages, without brackets, where the library is given none: it takes the place of the empty list in the body. */
export const readyMessages = new WeakMap<AbortSignal, string>();

/** Answers that came before the library asked for them. The next request under the same signal that is not for a stream gets one, without being sent. */
export const keptAnswers = new WeakMap<AbortSignal, Promise<Response>>();

/** The stage between a provider's library and the network. */
export interface Wire {
  /** For the library. Redirects are not followed: one would carry the key to another address. Answers are bounded and repaired. */
  readonly fetch: Fetch;
  /** Sends a request for a whole answer. Rejects where there is no response. */
  ask(input: URL, init: RequestInit): Promise<Asked>;
}

/** The response to a request. */
export interface Asked {
  /** The repaired answer. Absent: it is none that could be converted without being looked at by the library's client. */
  readonly body?: Body;
  /** The response as the library's client would have got it; called once. */
  toResponse(): Promise<Response>;
}

/**
 * The code that reads files of a provider bounds them.
 *
 * `repair`: that of the wire format. Absent: answers are bounded only.
 */
export function createWire(fetch: Fetch, repair?: AnswerRepair): Wire {
  const send = (input: Parameters<Fetch>[0], init?: PatientInit) => {
    const patience = init?.signal && patienceOf.get(init.signal);
    return fetch(input, { ...init, redirect: "manual", ...(patience ? { patience } : {}) });
  };
  const templateOf = createTemplates();
  return {
    async fetch(input, init) {
      const { signal, body } = init ?? {};
      const stream = typeof body === "string" && asksForStream(body);
      const known = signal && keptAnswers.get(signal);
      if (known && !stream) {
        keptAnswers.delete(signal);
        return known;
      }
      const response = await send(input, withMessages(init, templateOf));
      if (isFile(input)) return response;
      if (!response.ok) return convert(response, (pieces) => cutBytes(pieces, bounds.errorBytes));
      if (!repair) return convert(response, (pieces) => boundBytes(pieces, bounds.streamBytes));
      if (!stream) return takeWhole(response, repair);
      const type = response.headers.get("content-type") ?? "";
      if (/\bhtml\b/.test(type)) throw new AnswerRefusal("bad_response", `a page came: ${await readStart(response)}`);
      if (!/\bjson\b/.test(type) || !signal) {
        return convert(response, (pieces) => repairEvents(boundBytes(pieces, bounds.streamBytes), repair));
      }
      keptAnswers.set(signal, Promise.resolve(takeWhole(response, repair)));
      throw new WholeAnswer();
    },
    async ask(input, init) {
      const answer = toBare(await send(input, { ...init, bare: bounds.bodyBytes }));
      if (!answer.whole || !repair)
        return { toResponse: async () => convert(await answer.toResponse(), (pieces) => cutBytes(pieces, bounds.errorBytes)) };
      const toResponse = async (body: AnswerBody) => withBody(await answer.toResponse(body), body);
      try {
        const bytes = await answer.whole;
        if (!bytes) throw tooLarge(bounds.bodyBytes);
        const { body, isPlain } = repairBody(bytes, repair);
        return { ...(body && isPlain ? { body } : {}), toResponse: () => toResponse(body ? JSON.stringify(body) : bytes) };
      } catch (error) {
        return { toResponse: () => toResponse(new ReadableStream({ start: (controller) => controller.error(error) })) };
      }
    },
  };
}

/** Returns what writes the JSON of a request's body with the JSON of other messages, as `JSON.stringify` does. */
export function bodyWriter(body: Readonly<Record<string, unknown>>): (messages: string) => string {
  const write = (some: readonly [string, unknown][]) => {
    const texts = some.map(([name, value]) => [JSON.stringify(name), JSON.stringify(value)]);
    return texts.filter(([, text]) => text !== undefined).map((member) => member.join(":"));
  };
  const all = Object.entries(body);
  const at = all.findIndex(([name]) => name === "messages");
  const before = `{${[...write(all.slice(0, at)), '"messages":['].join()}`;
  const after = `${["]", ...write(all.slice(at + 1))].join()}}`;
  return (messages) => before + messages + after;
}

type Template = ReturnType<typeof bodyWriter>;

/** Parses a body without messages once for the requests of a call, which differ in nothing else. The last one is kept. */
function createTemplates(): (body: string) => Template {
  let last: { readonly body: string; readonly write: Template } | undefined;
  return (body) => {
    last = last?.body === body ? last : { body, write: bodyWriter(JSON.parse(body)) };
    return last.write;
  };
}

function withMessages(init: RequestInit | undefined, templateOf: (body: string) => Template): RequestInit | undefined {
  const messages = init?.signal && readyMessages.get(init.signal);
  if (messages === undefined || messages === null || typeof init?.body !== "string") return init;
  return { ...init, body: templateOf(init.body)(messages) };
}

/** The answer of any `fetch`. */
function toBare(answer: Response | BareAnswer): BareAnswer {
  if (!("body" in answer)) return answer;
  return { ...(answer.ok ? { whole: readBody(answer) } : {}), toResponse: async () => answer };
}

async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const all: Uint8Array[] = [];
  if (body) for await (const piece of boundBytes(read(body.getReader()), bounds.bodyBytes)) all.push(piece);
  return Buffer.concat(all);
}

function takeWhole(response: Response, repair: AnswerRepair): Response {
  return convert(response, (pieces) => repairWhole(boundBytes(pieces, bounds.bodyBytes), repair));
}

/** Libraries mostly write it last: a body, which can be long, is parsed only where it stands elsewhere. */
function asksForStream(body: string): boolean {
  if (/[{,]"stream":true\}$/.test(body.slice(-20))) return true;
  return /"stream":\s*true/.test(body) && JSON.parse(body).stream === true;
}

function isFile(input: Parameters<Fetch>[0]): boolean {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  return pathname.endsWith("/content");
}

/** The response with another body, which is read as it is taken. */
function convert(response: Response, stage: (pieces: Pieces) => Pieces): Response {
  if (!response.body) return response;
  const reader = response.body.getReader();
  const pieces = stage(read(reader))[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return withBody(response, body);
}

function withBody({ status, statusText, headers: given }: Response, body: AnswerBody): Response {
  const headers = new Headers(given);
  headers.delete("content-length");
  headers.delete("content-encoding");
  return new Response(body, { status, statusText, headers });
}

/** Closes the connection when its reader stops. */
async function* read(reader: ReadableStreamDefaultReader<Uint8Array>): Pieces {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function readStart(response: Response): Promise<string> {
  const text = await convert(response, (pieces) => cutBytes(pieces, 1000)).text();
  return clipText(text.replace(/\s+/g, " ").trim(), 80);
}
