/** Gives out at most `width` slots at a time, first come first served. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(width: number) {
    this.#free = width;
  }

  /** Waits for a slot, and resolves with what gives it back: to be called once. Rejects with the signal's reason on abort. */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const taken = this.tryTake();
    if (taken) return taken;
    await this.#wait(signal);
    return this.#leave;
  }

  /** Takes a slot that is free now, and returns what gives it back; undefined if there is none. */
  tryTake(): (() => void) | undefined {
    if (this.#free === 0) return undefined;
    this.#free--;
    return this.#leave;
  }

  readonly #leave = () => {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  };

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(next), 1);
        reject(signal?.reason);
      };
      this.#waiting.push(next);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }
}
