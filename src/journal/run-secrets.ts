import { createHmac } from "node:crypto";

/** In hex digits: enough to tell a run's secrets apart; a second value with the same start gets a longer id. */
const shortestId = 6;

/**
 * The ids of a run's secrets: equal values have equal ids, and nobody without the key can find a value by trying. The key is the
 * run's own, so that two journals cannot be compared, and a key that gets out opens one of them.
 */
export class RunSecrets {
  readonly #ids = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #createKey: () => string;
  #key: string | undefined;

  /** `createKey` is called when the first id is needed; the key is 32 bytes in hex. */
  constructor(createKey: () => string) {
    this.#createKey = createKey;
  }

  get key(): string {
    this.#key ??= this.#createKey();
    return this.#key;
  }

  /** The id of a value that has the shape of a credential. */
  readonly identify = (_shape: string, value: string): string => {
    const known = this.#ids.get(value);
    if (known !== undefined) return known;
    const whole = this.digest(value);
    let length = shortestId;
    while (this.#taken.has(whole.slice(0, length))) length++;
    const id = whole.slice(0, length);
    this.#taken.add(id);
    this.#ids.set(value, id);
    return id;
  };

  /** Takes over the id that an earlier run gave a value. */
  restore(value: string, id: string): void {
    this.#ids.set(value, id);
    this.#taken.add(id);
  }

  /** 64 hex digits that say nothing of the content to those without the key. */
  digest(content: string | Uint8Array): string {
    return createHmac("sha256", Buffer.from(this.key, "hex")).update(content).digest("hex");
  }
}
