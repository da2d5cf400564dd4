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

/** Passes bytes on, up to a bound. A larger answer is rejected and its connection closed. */
export function boundBytes(most: number): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > most) throw new AnswerRefusal("too_large", `the answer is larger than ${most / mebibyte} MiB`);
      controller.enqueue(chunk);
    },
  });
}

/** Passes bytes on, and ends where a bound is reached. */
export function cutBytes(most: number): TransformStream<Uint8Array, Uint8Array> {
  let left = most;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.byteLength;
      if (left <= 0) controller.terminate();
    },
  });
}

/** Throws an `AnswerRefusal` for JSON that is nested too deep to be walked. Looks at the text, before anything parses it. */
export function checkDepth(json: string, most: number = bounds.depth): void {
  if (json.length <= most) return;
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

/** An answer that is kept from the provider library because of its size or form. Asking again would not help. */
export class AnswerRefusal extends Error {
  readonly code: "too_large" | "bad_response";

  constructor(code: AnswerRefusal["code"], message: string) {
    super(message);
    this.name = "AnswerRefusal";
    this.code = code;
  }
}
