import type { Patience, PatientInit } from "../../host/patience.ts";
import { clipText } from "../../util/clip-text.ts";
import { AnswerRefusal, boundBytes, bounds, cutBytes, type Pieces } from "./bounds.ts";
import { type AnswerRepair, repairEvents, repairWhole, wholeAsEvents } from "./repair.ts";

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
    if (!asksForStream(init?.body))
      return convert(response, (pieces) => repairWhole(boundBytes(pieces, bounds.bodyBytes), repair));
    const type = response.headers.get("content-type") ?? "";
    if (/\bhtml\b/.test(type)) throw new AnswerRefusal("bad_response", `a page came: ${await readStart(response)}`);
    if (!/\bjson\b/.test(type)) {
      return convert(response, (pieces) => repairEvents(boundBytes(pieces, bounds.streamBytes), repair));
    }
    return convert(response, (pieces) => wholeAsEvents(boundBytes(pieces, bounds.bodyBytes), repair));
  };
}

/** Libraries mostly write it last: a body, which can be long, is parsed only where it stands elsewhere. */
function asksForStream(body: RequestInit["body"]): boolean {
  if (typeof body !== "string") return false;
  if (/[{,]"stream":true\}$/.test(body.slice(-20))) return true;
  return /"stream":\s*true/.test(body) && JSON.parse(body).stream === true;
}

function isFile(input: Parameters<Fetch>[0]): boolean {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  return pathname.endsWith("/content");
}

/** The response with another body, which is read as it is taken. */
function convert({ body: given, status, statusText, headers }: Response, stage: (pieces: Pieces) => Pieces): Response {
  if (!given) return new Response(given, { status, statusText, headers });
  const reader = given.getReader();
  const pieces = stage(read(reader))[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const others = new Headers(headers);
  others.delete("content-length");
  others.delete("content-encoding");
  return new Response(body, { status, statusText, headers: others });
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
