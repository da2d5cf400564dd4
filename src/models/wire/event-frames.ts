import { AnswerRefusal, bounds, type Pieces } from "./bounds.ts";

/**
 * Frames of `application/vnd.amazon.eventstream`: the length of all and that of the headers, a checksum of both, headers, a payload, and
 * a checksum of all. Numbers are big-endian.
 */
export interface Frame {
  /** As they were sent. */
  readonly headers: Uint8Array;
  readonly payload: Uint8Array;
}

const preludeBytes = 12;
const leastBytes = preludeBytes + 4;

/** Yields the frames of a body. Throws if one is damaged, or if the body ends within one: the stream is broken. */
export async function* readFrames(pieces: Pieces): AsyncIterable<Frame> {
  let rest: Uint8Array = new Uint8Array();
  for await (const piece of pieces) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    for (let frame = firstOf(rest); frame; frame = firstOf(rest)) {
      rest = rest.subarray(frame.length);
      yield toFrame(frame);
    }
  }
  if (rest.length > 0) throw broken("it ends within an event");
}

/** The bytes of the first frame, once all are there. */
function firstOf(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length < preludeBytes) return undefined;
  const length = viewOf(bytes).getUint32(0);
  if (viewOf(bytes).getUint32(8) !== checksum(bytes.subarray(0, 8)) || length < leastBytes)
    throw broken("an event of it is damaged");
  if (length > bounds.bodyBytes)
    throw new AnswerRefusal("too_large", `an event of the answer is larger than ${bounds.bodyBytes / 2 ** 20} MiB`);
  return bytes.length < length ? undefined : bytes.subarray(0, length);
}

function toFrame(bytes: Uint8Array): Frame {
  const end = bytes.length - 4;
  const headersEnd = preludeBytes + viewOf(bytes).getUint32(4);
  if (viewOf(bytes).getUint32(end) !== checksum(bytes.subarray(0, end)) || headersEnd > end)
    throw broken("an event of it is damaged");
  return { headers: bytes.subarray(preludeBytes, headersEnd), payload: bytes.subarray(headersEnd, end) };
}

function broken(why: string): AnswerRefusal {
  return new AnswerRefusal("broken_stream", why);
}

export function writeFrame({ headers, payload }: Frame): Uint8Array {
  const bytes = new Uint8Array(leastBytes + headers.length + payload.length);
  const view = viewOf(bytes);
  view.setUint32(0, bytes.length);
  view.setUint32(4, headers.length);
  view.setUint32(8, checksum(bytes.subarray(0, 8)));
  bytes.set(headers, preludeBytes);
  bytes.set(payload, preludeBytes + headers.length);
  view.setUint32(bytes.length - 4, checksum(bytes.subarray(0, -4)));
  return bytes;
}

const stringType = 7;

/** Headers by name, of those that are texts; providers send no others. */
export function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const decode = (from: number, length: number) => new TextDecoder().decode(bytes.subarray(from, from + length));
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    if (bytes[nameEnd] !== stringType || nameEnd + 3 > bytes.length) break;
    const length = viewOf(bytes).getUint16(nameEnd + 1);
    found.set(decode(at + 1, nameEnd - at - 1), decode(nameEnd + 3, length));
    at = nameEnd + 3 + length;
  }
  return found;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder;
});

/** CRC-32 as in gzip (RFC 1952, section 8). */
function checksum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (remainders[(sum ^ byte) & 0xff] ?? 0);
  return ~sum >>> 0;
}
