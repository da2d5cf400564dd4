import type { ReachedLimit } from "../../effects/effects.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { LimitName, Limits, Usage } from "../../protocol/usage.ts";
import { Semaphore } from "../../util/async/semaphore.ts";

/** The share of a budget that a model request reserves. */
export interface Amount {
  readonly tokens: number;
  readonly usd: number;
}

export interface BudgetPlace {
  /** The call whose budget it is. Absent for the run's. */
  readonly owner?: CallPath;
  readonly parent?: Budget;
  /** The spending of earlier attempts of the run, which the parent counts by itself. Default: nothing. */
  readonly spent?: Amount;
}

/** Requests whose outcome was lost count with all that they could take. */
export function amountOf({ inputTokens, outputTokens, unknownTokens = 0, usd = 0, unknownUsd = 0 }: Usage): Amount {
  return { tokens: inputTokens + outputTokens + unknownTokens, usd: usd + unknownUsd };
}

/** Set aside before a request; the answer says what was spent in fact. */
export interface Reservation {
  commit(spent: Amount): void;
  release(): void;
}

const metered = ["tokens", "usd"] as const;
/** Sums of dollars are not exact. */
const rounding = 1e-9;
const nothing: Amount = { tokens: 0, usd: 0 };

/**
 * The amount that a call and everything below it may spend. Budgets form a chain up to the run's: a spending is charged to all of
 * them, and refused before it happens when one of them cannot bear it. Of bounds, the strictest of the chain holds.
 */
export class Budget {
  readonly #limits: Limits;
  readonly #owner: CallPath | undefined;
  /** This one, and all above it. */
  readonly #chain: readonly Budget[];
  /** Those of the chain that bound what executes. */
  readonly #slots: readonly Semaphore[];
  readonly #maxDepth: number;
  #toolCalls = 0;
  #spent: Amount;
  #reserved = nothing;

  constructor(limits: Limits, { owner, parent, spent = nothing }: BudgetPlace = {}) {
    this.#limits = limits;
    this.#spent = spent;
    this.#owner = owner;
    this.#chain = parent ? [this, ...parent.#chain] : [this];
    const own = limits.parallel === undefined ? [] : [new Semaphore(limits.parallel)];
    this.#slots = parent ? [...own, ...parent.#slots] : own;
    this.#maxDepth = Math.min(...this.#chain.map((budget) => budget.#limits.depth ?? Number.POSITIVE_INFINITY));
  }

  /** Counts a tool call, unless it would cross the limit that is returned. */
  spendToolCall(): ReachedLimit | undefined {
    for (const budget of this.#chain) {
      const reached = budget.#check("tool_calls", budget.#toolCalls + 1);
      if (reached) return reached;
    }
    this.countToolCalls(1);
    return undefined;
  }

  /** Counts tool calls that were made in an earlier attempt of the run. */
  countToolCalls(calls: number): void {
    for (const budget of this.#chain) budget.#toolCalls += calls;
  }

  /** The limit that a request would cross. */
  limitFor(estimate: Amount): ReachedLimit | undefined {
    for (const budget of this.#chain) {
      for (const name of metered) {
        const reached = budget.#check(name, budget.#spent[name] + budget.#reserved[name] + estimate[name]);
        if (reached) return reached;
      }
    }
    return undefined;
  }

  reserve(estimate: Amount): Reservation {
    const release = this.#reserve(estimate);
    const commit = (spent: Amount) => {
      release();
      for (const budget of this.#chain) budget.#spent = add(budget.#spent, spent);
    };
    return { commit, release };
  }

  /** Reserves what is left of an amount. Returns what releases it, which can be called several times. */
  setAside(wanted: Amount): () => void {
    const { tokens = wanted.tokens, usd = wanted.usd } = this.left();
    return this.#reserve({ tokens: clamp(wanted.tokens, tokens), usd: clamp(wanted.usd, usd) });
  }

  /** The least that any budget of the chain has left; undefined if none is limited. */
  left(): Partial<Amount> {
    const [tokens, usd] = metered.map((name) => least(this.#chain.map((budget) => budget.#left(name))));
    return { ...(tokens === undefined ? {} : { tokens }), ...(usd === undefined ? {} : { usd }) };
  }

  /** Limit of the budget with the least left; of equal ones, the highest in the chain. */
  strictest(limit: keyof Amount): ReachedLimit | undefined {
    const left = this.left()[limit];
    const strictest = this.#chain.filter((budget) => left !== undefined && budget.#left(limit) === left);
    return strictest.map((budget) => ({ limit, allowed: budget.#limits[limit] ?? 0 })).at(-1);
  }

  /** The deepest worker call that is allowed below here; the entry is 0. */
  maxDepth(): number {
    return this.#maxDepth;
  }

  /** Waits for a slot for a model request or a leaf tool, here and in all budgets above. Returns what gives it back, to be called once. */
  takeSlot(signal: AbortSignal): (() => void) | Promise<() => void> {
    signal.throwIfAborted();
    const [first, ...others] = this.#slots;
    const taken = first?.tryTake();
    return taken && others.length === 0 ? taken : this.#takeSlots(signal, taken);
  }

  /** Goes on after the first one, where that is taken. */
  async #takeSlots(signal: AbortSignal, first: (() => void) | undefined): Promise<() => void> {
    const taken = first ? [first] : [];
    const leave = () => {
      for (const free of taken.reverse()) free();
    };
    try {
      for (const slots of this.#slots.slice(taken.length)) taken.push(slots.tryTake() ?? (await slots.take(signal)));
      return leave;
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }

  #left(name: keyof Amount): number | undefined {
    const allowed = this.#limits[name];
    return allowed === undefined ? undefined : allowed - this.#spent[name] - this.#reserved[name];
  }

  #reserve(amount: Amount): () => void {
    for (const budget of this.#chain) budget.#reserved = add(budget.#reserved, amount);
    let isSet = true;
    return () => {
      if (!isSet) return;
      isSet = false;
      for (const budget of this.#chain) budget.#reserved = add(budget.#reserved, { tokens: -amount.tokens, usd: -amount.usd });
    };
  }

  #check(limit: LimitName, wanted: number): ReachedLimit | undefined {
    const allowed = this.#limits[limit];
    if (allowed === undefined || wanted <= allowed + rounding) return undefined;
    return { limit, allowed, ...(this.#owner === undefined ? {} : { owner: this.#owner }) };
  }
}

function add(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, usd: a.usd + b.usd };
}

function clamp(wanted: number, left: number): number {
  return Math.max(0, Math.min(wanted, left));
}

function least(numbers: readonly (number | undefined)[]): number | undefined {
  const given = numbers.filter((number) => number !== undefined);
  return given.length > 0 ? Math.min(...given) : undefined;
}
