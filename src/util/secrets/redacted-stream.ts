import type { Redactor } from "./redactor.ts";
import { longestBefore } from "./secret-shapes.ts";

/** Held text up to this length is searched with each piece; longer text when it has grown by a quarter. So the whole takes linear time. */
const shortHeld = 2048;

/** Redacts a text that comes in pieces. The possible beginning of a secret is held back until it is decided. */
export class RedactedStream {
  readonly #redactor: Redactor;
  /** The last characters that were shown: they decide whether a credential begins after them. */
  #shown = "";
  #held = "";
  #lookAt = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Returns the text that can be shown so far. */
  push(piece: string): string {
    this.#held += piece;
    if (this.#held.length < this.#lookAt) return "";
    const text = this.#shown + this.#held;
    const shown = this.#show(text, this.#redactor.closedLength(text, this.#shown.length));
    const { length } = this.#held;
    this.#lookAt = length > shortHeld ? length * 1.25 : 0;
    return shown;
  }

  /** Returns the rest. */
  end(): string {
    const text = this.#shown + this.#held;
    return this.#show(text, text.length);
  }

  #show(text: string, end: number): string {
    const shown = this.#redactor.text(text.slice(0, end), this.#shown.length);
    this.#shown = text.slice(0, end).slice(-longestBefore);
    this.#held = text.slice(end);
    return shown;
  }
}
