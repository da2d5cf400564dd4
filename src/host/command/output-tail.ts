/** Keeps the end of a stream, up to `limit` bytes, in bounded memory. */
export class OutputTail {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #held = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Uint8Array): void {
    this.#total += chunk.length;
    this.#held += chunk.length;
    this.#chunks.push(chunk);
    while (this.#held - (this.#chunks[0]?.length ?? 0) >= this.#limit && this.#chunks.length > 0) {
      this.#held -= this.#chunks.shift()?.length ?? 0;
    }
    if (this.#chunks.length > 1000) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  /** Returns text that begins with a whole character; bytes that are not UTF-8 become U+FFFD. */
  read(): { readonly text: string; readonly dropped: number } {
    const held = Buffer.concat(this.#chunks);
    let start = Math.max(0, held.length - this.#limit);
    if (start > 0 || this.#total > held.length) start = skipContinuation(held, start);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(held.subarray(start));
    return { text, dropped: this.#total - (held.length - start) };
  }
}

/** Skips at most three bytes: more continuation bytes in a row are not a cut character. */
function skipContinuation(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && at < start + 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80 ? start : at;
}

export function clipToTail(text: string, limit: number): ReturnType<OutputTail["read"]> {
  const tail = new OutputTail(limit);
  tail.add(Buffer.from(text));
  return tail.read();
}
