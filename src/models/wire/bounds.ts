const mebibyte = 2 ** 20;

/** Bounds on one answer. */
export const bounds = {
  /** Bytes of an answer that is not streamed, and of one event of a stream. */
  bodyBytes: 32 * mebibyte,
  /** Bytes of a whole stream: each event repeats some hundred bytes for a few letters of text. */
  streamBytes: 256 * mebibyte,
  /** Bytes of an error's body; the rest is not read. */
  errorBytes: 64 * 1024,
  /** Levels of JSON. */
  depth: 1000,
  /** Tool calls: the library of chat completions looks at all of them for each piece of one. */
  calls: 1000,
} as const;

/** Throws an `AnswerRefusal` for more calls than an answer may make. */
export function checkCalls(count: number): void {
  if (count > bounds.calls) throw new AnswerRefusal("too_large", `the answer makes more than ${bounds.calls} tool calls`);
}

/** The pieces of an answer's body as they come. */
export type Pieces = AsyncIterable<Uint8Array>;

/** Passes bytes on, up to a bound. A larger answer is rejected and its connection closed. */
export async function* boundBytes(pieces: Pieces, most: number): Pieces {
  let seen = 0;
  for await (const piece of pieces) {
    seen += piece.byteLength;
    if (seen > most) throw tooLarge(most);
    yield piece;
  }
}

/** The error for an answer of more bytes than a bound. */
export function tooLarge(most: number): AnswerRefusal {
  return new AnswerRefusal("too_large", `the answer is larger than ${most / mebibyte} MiB`);
}

/** Passes bytes on, and ends if a bound is reached. */
export async function* cutBytes(pieces: Pieces, most: number): Pieces {
  let left = most;
  for await (const piece of pieces) {
    yield piece.subarray(0, left);
    left -= piece.byteLength;
    if (left <= 0) return;
  }
}

/** Throws an `AnswerRefusal` for JSON that is nested too deep to be walked. Looks at the text, before anything parses it. */
export function checkDepth(json: string): void {
  const most = bounds.depth;
  // Mostly there are not so many brackets in all, which is seen at once.
  if (json.length <= most || countUpTo(json, "{", most) + countUpTo(json, "[", most) <= most) return;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < json.length; index++) {
    const character = json[index];
    if (inString) {
      if (character === "\\") index++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") {
      if (++depth > most) throw new AnswerRefusal("too_large", `the answer is nested more than ${most} levels deep`);
    } else if (character === "}" || character === "]") depth--;
  }
}

function countUpTo(text: string, part: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0 && count <= most; at = text.indexOf(part, at + 1)) count++;
  return count;
}

/** An answer that is kept from the provider library because of its size or form, or because it broke off. */
export class AnswerRefusal extends Error {
  readonly code: "too_large" | "bad_response" | "broken_stream";

  constructor(code: AnswerRefusal["code"], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "AnswerRefusal";
    this.code = code;
  }
}
