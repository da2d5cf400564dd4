import type { Redactor } from "./redactor.ts";

/** Redacts a text that comes in pieces: what could be the beginning of a secret is held back until it is known. */
export class RedactedStream {
  readonly #redactor: Redactor;
  /** The last character that was shown: whether a credential begins after it depends on it. */
  #shown = "";
  #held = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What can be shown by now. */
  push(piece: string): string {
    const text = this.#shown + this.#held + piece;
    return this.#show(text, this.#redactor.closedLength(text, this.#shown.length));
  }

  /** The rest. */
  end(): string {
    const text = this.#shown + this.#held;
    return this.#show(text, text.length);
  }

  #show(text: string, end: number): string {
    const told = this.#redactor.text(text.slice(0, end), this.#shown.length);
    this.#shown = text.slice(0, end).slice(-1);
    this.#held = text.slice(end);
    return told;
  }
}
