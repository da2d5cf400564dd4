import { abortable } from "../util/abortable.ts";

/** A place at the head of the queue: the only question that is being settled. */
export interface QuestionPlace {
  /** `n of m`: this question's number, and how many have come up so far. The count begins anew when the queue is empty. */
  position(): { readonly n: number; readonly m: number };
  /** Lets the next question come up. Called once, after the answer is part of the run's state. */
  release(): void;
}

/** Lets questions come up one at a time, in the order in which they were asked. */
export class QuestionQueue {
  #tail: Promise<void> = Promise.resolve();
  #asked = 0;
  #answered = 0;

  /** Resolves when it is this question's turn. Rejects with the signal's reason on abort, and holds no place then. */
  async take(signal: AbortSignal): Promise<QuestionPlace> {
    const n = ++this.#asked;
    const before = this.#tail;
    let free = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      free = resolve;
    });
    this.#tail = before.then(() => released);
    const release = (): void => {
      free();
      if (++this.#answered === this.#asked) this.#asked = this.#answered = 0;
    };
    try {
      await abortable(before, signal);
      signal.throwIfAborted();
    } catch (thrown) {
      release();
      throw thrown;
    }
    return { position: () => ({ n, m: this.#asked }), release };
  }
}
