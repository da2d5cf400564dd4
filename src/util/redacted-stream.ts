import type { Redactor } from "./redactor.ts";

/** Redacts a text that comes in pieces: what could be the beginning of a secret is held back until it is known. */
export class RedactedStream {
  readonly #redactor: Redactor;
  #held = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What can be shown by now. */
  push(piece: string): string {
    const text = this.#redactor.text(this.#held + piece);
    const keep = this.#redactor.openEnd(text);
    this.#held = text.slice(text.length - keep);
    return text.slice(0, text.length - keep);
  }

  /** The rest. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }
}
