import type { Redactor } from "./redactor.ts";
import { longestBefore } from "./secret-shapes.ts";

/** What is held back is looked at with each piece up to here, and then when it has grown by a quarter: all in all in linear time. */
const shortHeld = 2048;

/** Redacts a text that comes in pieces: what could be the beginning of a secret is held back until it is known. */
export class RedactedStream {
  readonly #redactor: Redactor;
  /** The last characters that were shown: whether a credential begins after them depends on them. */
  #shown = "";
  #held = "";
  #lookAt = 0;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What can be shown by now. */
  push(piece: string): string {
    this.#held += piece;
    if (this.#held.length < this.#lookAt) return "";
    const text = this.#shown + this.#held;
    const told = this.#show(text, this.#redactor.closedLength(text, this.#shown.length));
    const { length } = this.#held;
    this.#lookAt = length > shortHeld ? length * 1.25 : 0;
    return told;
  }

  /** The rest. */
  end(): string {
    const text = this.#shown + this.#held;
    return this.#show(text, text.length);
  }

  #show(text: string, end: number): string {
    const told = this.#redactor.text(text.slice(0, end), this.#shown.length);
    this.#shown = text.slice(0, end).slice(-longestBefore);
    this.#held = text.slice(end);
    return told;
  }
}
