import type { Clock } from "../../host/host.ts";
import type { Fact } from "../../protocol/fact.ts";
import { idOf } from "../standing.ts";

/**
 * A replay in which nothing has happened for so many turns of the event loop is one that its record does not fit: it goes on without the
 * order. Slots of the run can bring that about, too: what holds one may wait for a fact of what waits for one.
 */
const patientTurns = 100;

/** Least time of such a turn. A busy machine makes turns longer, and not fewer: what can go on goes on in each. */
const turnMilliseconds = 10;

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
  /** Those who wait until nothing has happened for so many turns. */
  readonly #patient = new Set<{ readonly turns: number; readonly resolve: () => void }>();
  /** Turns since anything has happened. */
  #quiet = 0;
  #isWatched = false;

  constructor(facts: readonly Fact[], clock: Clock) {
    this.#clock = clock;
    this.#open = new Set(facts.keys());
    this.#length = facts.length;
    for (const [index, fact] of facts.entries()) {
      const places = this.#places.get(idOf(fact));
      if (places) places.push(index);
      else this.#places.set(idOf(fact), [index]);
      // Nothing in a replay takes an approval back, or answers a question between two attempts. A created worker follows from its call.
      if (fact.type === "revocation" || fact.type === "answer" || fact.type === "worker") this.#open.delete(index);
    }
  }

  /** Notes that a fact has happened again. */
  happened(fact: Fact): void {
    this.#quiet = 0;
    const index = this.#places.get(idOf(fact))?.shift();
    if (index !== undefined) this.#open.delete(index);
    this.#release();
    if (fact.type === "run-end") this.#endPatience(Number.POSITIVE_INFINITY);
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

  /** Resolves when nothing has happened for so many turns, or the run has ended: what was to end a wait does not come. */
  stalled(turns = patientTurns): Promise<void> {
    return new Promise((resolve) => {
      this.#patient.add({ turns, resolve });
      this.#quiet = 0;
      this.#watch();
    });
  }

  #release(): void {
    while (this.#next < this.#length && !this.#open.has(this.#next)) this.#next++;
    for (const [index, resolve] of this.#waiting) if (index <= this.#next) this.#resolve(index, resolve);
  }

  #releaseFirst(): void {
    const first = Math.min(...this.#waiting.keys());
    const resolve = this.#waiting.get(first);
    if (resolve) this.#resolve(first, resolve);
  }

  #resolve(index: number, resolve: () => void): void {
    this.#waiting.delete(index);
    resolve();
  }

  #endPatience(turns: number): void {
    for (const one of this.#patient) {
      if (one.turns > turns) continue;
      this.#patient.delete(one);
      one.resolve();
    }
  }

  async #watch(): Promise<void> {
    if (this.#isWatched) return;
    this.#isWatched = true;
    while (this.#waiting.size + this.#patient.size > 0) {
      await this.#clock.sleep(turnMilliseconds);
      this.#quiet++;
      this.#endPatience(this.#quiet);
      if (this.#quiet % patientTurns === 0) this.#releaseFirst();
    }
    this.#isWatched = false;
  }
}
