import type { CallPath } from "../protocol/call.ts";
import type { LimitName, Limits } from "../protocol/usage.ts";
import { Semaphore } from "../util/semaphore.ts";
import { LimitReached } from "./run-error.ts";

/**
 * What a call and everything below it may spend. Accounts form a chain up to the run's: a spending is charged to all of
 * them, and refused before it happens when one of them cannot bear it. Of bounds, the strictest of the chain holds.
 */
export class LimitAccount {
  readonly #limits: Limits;
  readonly #owner: CallPath | undefined;
  readonly #parent: LimitAccount | undefined;
  readonly #places: Semaphore | undefined;
  #toolCalls = 0;
  #tokens = 0;
  #reserved = 0;

  constructor(limits: Limits, owner?: CallPath, parent?: LimitAccount) {
    this.#limits = limits;
    this.#owner = owner;
    this.#parent = parent;
    this.#places = limits.parallel === undefined ? undefined : new Semaphore(limits.parallel);
  }

  /** Throws `LimitReached` where the call would cross a limit. */
  spendToolCall(): void {
    for (const account of this.#chain()) account.#check("tool_calls", account.#toolCalls + 1);
    for (const account of this.#chain()) account.#toolCalls++;
  }

  /** Sets tokens aside before a request; the answer says what was spent in fact. */
  reserveTokens(estimate: number): { commit(spent: number): void; release(): void } {
    for (const account of this.#chain()) account.#check("tokens", account.#tokens + account.#reserved + estimate);
    for (const account of this.#chain()) account.#reserved += estimate;
    const release = () => {
      for (const account of this.#chain()) account.#reserved -= estimate;
    };
    const commit = (spent: number) => {
      release();
      for (const account of this.#chain()) account.#tokens += spent;
    };
    return { commit, release };
  }

  /** The fewest tokens that any account of the chain has left; undefined where none is limited. */
  tokensLeft(): number | undefined {
    return least([...this.#chain()].map((account) => account.#left()));
  }

  /** The deepest worker call that is allowed below here; the entry is 0. */
  maxDepth(): number {
    return least([...this.#chain()].map((account) => account.#limits.depth)) ?? Number.POSITIVE_INFINITY;
  }

  /** Runs a model request or a leaf tool when there is a place for it in this account and in all above. */
  bounded<T>(fn: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const outer = this.#parent ? () => (this.#parent as LimitAccount).bounded(fn, signal) : fn;
    return this.#places ? this.#places.hold(outer, signal) : outer();
  }

  #left(): number | undefined {
    return this.#limits.tokens === undefined ? undefined : this.#limits.tokens - this.#tokens - this.#reserved;
  }

  *#chain(): Iterable<LimitAccount> {
    for (let account: LimitAccount | undefined = this; account; account = account.#parent) yield account;
  }

  #check(limit: LimitName, wanted: number): void {
    const allowed = this.#limits[limit];
    if (allowed !== undefined && wanted > allowed) throw new LimitReached({ limit, allowed, owner: this.#owner });
  }
}

function least(numbers: readonly (number | undefined)[]): number | undefined {
  const given = numbers.filter((number) => number !== undefined);
  return given.length > 0 ? Math.min(...given) : undefined;
}
