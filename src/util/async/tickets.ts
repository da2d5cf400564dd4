import { abortable } from "./abortable.ts";

/**
 * The mode in which a ticket locks a key. `change` excludes every other ticket; `read` excludes those that change. The two `-below`
 * modes are for keys that contain the ones that are read or changed: they exclude only tickets that lock the whole key.
 */
export type HoldMode = "change" | "read" | "change-below" | "read-below";

export interface Hold {
  readonly key: string;
  readonly mode: HoldMode;
}

export interface Ticket {
  /** True if an earlier ticket excludes this one. */
  readonly waits: boolean;
  /** Resolves when no earlier ticket excludes this one; rejects with the signal's reason if it aborts first. */
  turn(signal?: AbortSignal): Promise<void>;
  /** Can be called several times, and before `turn` resolves. */
  release(): void;
}

/** Holds nothing. */
export const freeTicket: Ticket = { waits: false, turn: async (signal) => signal?.throwIfAborted(), release: () => undefined };

const excludes: Readonly<Record<HoldMode, readonly HoldMode[]>> = {
  change: ["change", "read", "change-below", "read-below"],
  read: ["change", "change-below"],
  "change-below": ["change", "read"],
  "read-below": ["change"],
};

type Holders = Map<HoldMode, Set<Promise<unknown>>>;

/**
 * Tickets for sets of keys. A ticket takes all its keys in one step, so tickets that share a key get their turn in the order
 * in which they were taken, and never wait for one another in a circle. Tickets that do not share a key run side by side.
 */
export class Tickets {
  readonly #keys = new Map<string, Holders>();

  take(holds: readonly Hold[]): Ticket {
    const earlier = new Set(holds.flatMap((hold) => this.#inTheWay(hold)));
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    // A ticket that is released before its turn still orders the later ones after the earlier ones.
    const ended = Promise.all([...earlier, released]);
    for (const hold of holds) this.#add(hold, ended);
    ended.then(() => this.#remove(holds, ended));
    return {
      waits: earlier.size > 0,
      turn: async (signal) => {
        signal?.throwIfAborted();
        if (earlier.size === 0) return;
        const before = Promise.all(earlier);
        await (signal ? abortable(before, signal) : before);
      },
      release,
    };
  }

  /** Runs a function while no other ticket has the key. */
  async alone<T>(key: string, fn: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const ticket = this.take([{ key, mode: "change" }]);
    try {
      await ticket.turn(signal);
      return await fn();
    } finally {
      ticket.release();
    }
  }

  #inTheWay({ key, mode }: Hold): readonly Promise<unknown>[] {
    const holders = this.#keys.get(key);
    return holders ? excludes[mode].flatMap((other) => [...(holders.get(other) ?? [])]) : [];
  }

  #add({ key, mode }: Hold, ended: Promise<unknown>): void {
    const holders: Holders = this.#keys.get(key) ?? new Map();
    // It ends after all of them: later tickets need to wait for this one alone.
    if (mode === "change") holders.clear();
    holders.set(mode, (holders.get(mode) ?? new Set()).add(ended));
    this.#keys.set(key, holders);
  }

  #remove(holds: readonly Hold[], ended: Promise<unknown>): void {
    for (const { key, mode } of holds) {
      const holders = this.#keys.get(key);
      const same = holders?.get(mode);
      same?.delete(ended);
      if (same?.size === 0) holders?.delete(mode);
      if (holders?.size === 0) this.#keys.delete(key);
    }
  }
}
