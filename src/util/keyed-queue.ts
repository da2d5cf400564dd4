/** Runs functions that share a key one after another, and all others side by side. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  isBusy(keys: readonly string[]): boolean {
    return keys.some((key) => this.#tails.has(key));
  }

  async run<T>(keys: readonly string[], fn: () => Promise<T>): Promise<T> {
    const before = keys.map((key) => this.#tails.get(key)).filter((tail) => tail !== undefined);
    const mine = Promise.allSettled(before).then(fn);
    const tail = mine.catch(() => undefined);
    for (const key of keys) this.#tails.set(key, tail);
    try {
      return await mine;
    } finally {
      for (const key of keys) if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}
