import { abortable } from "./abortable.ts";

/** Runs functions that share a key one after another, and all others side by side. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  isBusy(keys: readonly string[]): boolean {
    return keys.some((key) => this.#tails.has(key));
  }

  /** Waiting ends when the signal aborts; what runs is waited for. */
  async run<T>(keys: readonly string[], fn: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = Promise.allSettled(keys.map((key) => this.#tails.get(key)));
    const mine = (signal ? abortable(before, signal) : before).then(fn);
    const tail = Promise.allSettled([before, mine]);
    for (const key of keys) this.#tails.set(key, tail);
    try {
      return await mine;
    } finally {
      for (const key of keys) if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}
