import type { Patience, PatientInit } from "../../host/patience.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { AnswerRefusal, boundBytes, bounds, cutBytes, type Pieces } from "./bounds.ts";
import { type AnswerRepair, repairEvents, repairFrames, repairWhole, wholeAsEvents } from "./repair.ts";

type Fetch = typeof globalThis.fetch;

export interface WireFacts {
  /** Repairs the answers of the wire format. Absent: answers are bounded only. */
  readonly repair?: AnswerRepair | undefined;
  /** How long the server of a request may be silent. */
  readonly patience: Patience;
}

/**
 * The stage between a provider's library and the network. Redirects are not followed: one would carry the key to another address.
 * Answers are bounded and repaired; the code that reads files of a provider bounds them. A whole answer that comes in the place of a
 * stream is passed on as events.
 */
export function createWireFetch(fetch: Fetch, { repair, patience }: WireFacts): Fetch {
  return async (input, init) => {
    const request: PatientInit = { ...init, redirect: "manual", patience };
    const response = await fetch(input, request);
    if (isFile(input)) return response;
    if (!response.ok) return convert(response, (pieces) => cutBytes(pieces, bounds.errorBytes));
    if (!repair) return convert(response, (pieces) => boundBytes(pieces, bounds.streamBytes));
    if (!asksForStream(input, init?.body)) return withBody(response, repairWhole(await readWhole(response), repair));
    const type = response.headers.get("content-type") ?? "";
    if (/\bhtml\b/.test(type)) throw new AnswerRefusal("bad_response", `a page came: ${await readStart(response)}`);
    if (/\bjson\b/.test(type)) return withBody(response, wholeAsEvents(await readWhole(response), repair));
    const repairStream = repair.inFrames ? repairFrames : repairEvents;
    return convert(response, (pieces) => repairStream(boundBytes(pieces, bounds.streamBytes), repair));
  };
}

/**
 * Google and Bedrock have streams at paths of their own. Others say it in the body, and mostly at its end: a body, which can be long, is
 * parsed only where it stands elsewhere.
 */
function asksForStream(input: Parameters<Fetch>[0], body: RequestInit["body"]): boolean {
  if (/(:streamGenerateContent|\/converse-stream)$/.test(pathOf(input))) return true;
  if (typeof body !== "string") return false;
  if (/[{,]"stream":true\}$/.test(body.slice(-20))) return true;
  return /"stream":\s*true/.test(body) && JSON.parse(body).stream === true;
}

function isFile(input: Parameters<Fetch>[0]): boolean {
  return pathOf(input).endsWith("/content");
}

function pathOf(input: Parameters<Fetch>[0]): string {
  return new URL(input instanceof Request ? input.url : input).pathname;
}

/** Reads a body of at most 32 MiB. Rejects with an `AnswerRefusal`. */
export async function readWhole({ body }: Response): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  try {
    if (body) for await (const piece of boundBytes(piecesOf(body), bounds.bodyBytes)) all.push(piece);
  } catch (cause) {
    if (cause instanceof AnswerRefusal) throw cause;
    throw new AnswerRefusal("broken_stream", "the connection ended before the answer was complete", cause);
  }
  return all.length === 1 && all[0] ? all[0] : Buffer.concat(all);
}

/** The response with another body, which is read as it is taken. */
function convert(response: Response, stage: (pieces: Pieces) => Pieces): Response {
  const { body: given } = response;
  if (!given) return response;
  const pieces = stage(piecesOf(given))[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => given.cancel(reason),
  });
  return withBody(response, body);
}

function withBody({ status, statusText, headers: given }: Response, body: string | ReadableStream): Response {
  const headers = new Headers(given);
  headers.delete("content-length");
  headers.delete("content-encoding");
  return new Response(body, { status, statusText, headers });
}

/** Closes the connection when its reader stops. */
async function* piecesOf(body: ReadableStream<Uint8Array>): Pieces {
  const reader = body.getReader();
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
