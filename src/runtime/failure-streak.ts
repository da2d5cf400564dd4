import type { ModelErrorCode } from "../models/model.ts";

/** Failures in a row from which on no other request is expected to fare better. */
export const longestStreak = 3;

/**
 * Model requests of a run that failed after their retries, one after another with the same code, in the order in which their
 * outcomes are recorded. An answer ends the row, whatever it says.
 */
export class FailureStreak {
  #code: ModelErrorCode | undefined;
  #length = 0;

  answered(): void {
    this.#code = undefined;
    this.#length = 0;
  }

  /** Returns how many have failed so, this one included. */
  failed(code: ModelErrorCode): number {
    this.#length = code === this.#code ? this.#length + 1 : 1;
    this.#code = code;
    return this.#length;
  }
}
