/** A shorter output keeps its end alone: a line between two pieces would take the place of what it separates. */
const shortestWithHead = 1000;

/** Keeps the beginning (a fifth) and the end of a stream, up to `limit` bytes together, in bounded memory. */
export class OutputEnds {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #held = 0;
  #total = 0;

  constructor(limit: number) {
    this.#headLimit = limit < shortestWithHead ? 0 : Math.floor(limit / 5);
    this.#tailLimit = limit - this.#headLimit;
  }

  add(chunk: Uint8Array): void {
    this.#total += chunk.length;
    const forHead = chunk.subarray(0, this.#headLimit - this.#headBytes);
    if (forHead.length > 0) this.#head.push(forHead);
    this.#headBytes += forHead.length;
    if (forHead.length < chunk.length) this.#addToTail(chunk.subarray(forHead.length));
  }

  /** Returns whole characters, with a line in the place of what was dropped; bytes that are not UTF-8 become U+FFFD. */
  read(): { readonly text: string; readonly dropped: number } {
    const [head, tail] = [Buffer.concat(this.#head), Buffer.concat(this.#tail)];
    if (head.length + tail.length === this.#total && tail.length <= this.#tailLimit) {
      return { text: decode(Buffer.concat([head, tail])), dropped: 0 };
    }
    const first = head.subarray(0, endOfCharacters(head));
    const last = tail.subarray(skipContinuation(tail, Math.max(0, tail.length - this.#tailLimit)));
    const dropped = this.#total - first.length - last.length;
    const text = first.length === 0 ? decode(last) : `${decode(first)}\n[${dropped} bytes are left out here]\n${decode(last)}`;
    return { text, dropped };
  }

  #addToTail(chunk: Uint8Array): void {
    this.#held += chunk.length;
    this.#tail.push(chunk);
    while (this.#held - (this.#tail[0]?.length ?? 0) >= this.#tailLimit && this.#tail.length > 0) {
      this.#held -= this.#tail.shift()?.length ?? 0;
    }
    if (this.#tail.length > 1000) this.#tail = [Buffer.concat(this.#tail)];
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Returns where the last character ends that is not cut off. */
function endOfCharacters(bytes: Uint8Array): number {
  const { length } = bytes;
  let start = length - 1;
  while (start > length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start >= 0 && start + needed > length ? start : length;
}

/** Skips at most three bytes: more continuation bytes in a row are not a cut character. */
function skipContinuation(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && at < start + 3 && isContinuation(bytes[at])) at++;
  return at < bytes.length && isContinuation(bytes[at]) ? start : at;
}

/** Clips a whole output as a command's is clipped. */
export function clipOutput(text: string, limit: number): ReturnType<OutputEnds["read"]> {
  const ends = new OutputEnds(limit);
  ends.add(Buffer.from(text));
  return ends.read();
}
