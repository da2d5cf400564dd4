import type { Clock } from "../host/host.ts";
import type { Fact } from "../protocol/fact.ts";
import { idOf } from "./standing.ts";

/**
 * A replay in which nothing has happened for so long is one that its record does not fit: it goes on without the order. Slots of the
 * run can bring that about, too: what holds one may wait for a fact of what waits for one.
 */
const patienceMilliseconds = 1000;

/**
 * The order of a recorded run's facts, kept by its replay: what comes of an effect is held back until every fact before it has
 * happened again. Without it, a stop would meet the calls beside it at another point than it did.
 */
export class FactOrder {
  readonly #clock: Clock;
  readonly #places = new Map<string, number[]>();
  readonly #open: Set<number>;
  readonly #length: number;
  readonly #waiting = new Map<number, () => void>();
  #next = 0;
  #happened = 0;
  #isWatched = false;

  constructor(facts: readonly Fact[], clock: Clock) {
    this.#clock = clock;
    this.#open = new Set(facts.keys());
    this.#length = facts.length;
    for (const [index, fact] of facts.entries()) {
      const places = this.#places.get(idOf(fact));
      if (places) places.push(index);
      else this.#places.set(idOf(fact), [index]);
      // Nothing in a replay takes an approval back, or answers a question between two attempts.
      if (fact.type === "revocation" || fact.type === "answer") this.#open.delete(index);
    }
  }

  /** Notes that a fact has happened again. */
  happened(fact: Fact): void {
    this.#happened++;
    const index = this.#places.get(idOf(fact))?.shift();
    if (index !== undefined) this.#open.delete(index);
    this.#release();
  }

  /** Resolves when all that came before the fact has happened again. */
  async turnOf(fact: Fact): Promise<void> {
    const index = this.#places.get(idOf(fact))?.[0];
    if (index === undefined) return;
    const turn = new Promise<void>((resolve) => {
      const earlier = this.#waiting.get(index);
      this.#waiting.set(index, () => {
        earlier?.();
        resolve();
      });
    });
    this.#release();
    this.#watch();
    await turn;
  }

  /** Resolves when nothing has happened for some time: what was to end a wait does not come. */
  async stalled(milliseconds = patienceMilliseconds): Promise<void> {
    for (let seen = -1; seen !== this.#happened; ) {
      seen = this.#happened;
      await this.#clock.sleep(milliseconds);
    }
  }

  #release(): void {
    while (this.#next < this.#length && !this.#open.has(this.#next)) this.#next++;
    for (const [index, resolve] of this.#waiting) if (index <= this.#next) this.#resolve(index, resolve);
  }

  #resolve(index: number, resolve: () => void): void {
    this.#waiting.delete(index);
    resolve();
  }

  async #watch(): Promise<void> {
    if (this.#isWatched) return;
    this.#isWatched = true;
    for (let seen = -1; this.#waiting.size > 0; ) {
      if (seen === this.#happened) {
        const first = Math.min(...this.#waiting.keys());
        this.#resolve(first, this.#waiting.get(first) as () => void);
      }
      seen = this.#happened;
      await this.#clock.sleep(patienceMilliseconds);
    }
    this.#isWatched = false;
  }
}
