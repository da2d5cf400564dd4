import type { Patience } from "../../host/patience.ts";
import { clipText } from "../../util/clip-text.ts";
import { AnswerRefusal, boundBytes, bounds, cutBytes, type Pieces } from "./bounds.ts";
import { type AnswerRepair, repairEvents, repairWhole } from "./repair.ts";

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

/**
 * What stands between a provider's library and the network. Redirects are not followed: one would carry the key to another
 * address. Answers are bounded and repaired; the code that reads files of a provider bounds them.
 *
 * `repair`: that of its wire format. Absent: answers are bounded only.
 */
export function createWireFetch(fetch: Fetch, repair?: AnswerRepair): Fetch {
  const kept = new WeakMap<AbortSignal, Response>();
  return async (input, init) => {
    const { signal } = init ?? {};
    const known = signal && kept.get(signal);
    if (known && !asksForStream(init)) {
      kept.delete(signal);
      return known;
    }
    const patience = signal && patienceOf.get(signal);
    const response = await fetch(input, { ...init, redirect: "manual", ...(patience ? { patience } : {}) });
    if (isFile(input)) return response;
    if (!response.ok) return convert(response, (pieces) => cutBytes(pieces, bounds.errorBytes));
    if (!repair) return convert(response, (pieces) => boundBytes(pieces, bounds.streamBytes));
    if (!asksForStream(init)) return takeWhole(response, repair);
    const type = response.headers.get("content-type") ?? "";
    if (/\bhtml\b/.test(type)) throw new AnswerRefusal("bad_response", `a page came: ${await readStart(response)}`);
    if (!/\bjson\b/.test(type) || !signal) {
      return convert(response, (pieces) => repairEvents(boundBytes(pieces, bounds.streamBytes), repair));
    }
    kept.set(signal, takeWhole(response, repair));
    throw new WholeAnswer();
  };
}

function takeWhole(response: Response, repair: AnswerRepair): Response {
  return convert(response, (pieces) => repairWhole(boundBytes(pieces, bounds.bodyBytes), repair));
}

function asksForStream(init: RequestInit | undefined): boolean {
  return typeof init?.body === "string" && /"stream":\s*true/.test(init.body) && JSON.parse(init.body).stream === true;
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
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.delete("content-encoding");
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
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
