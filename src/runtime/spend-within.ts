import type { Effects } from "../effects/effects.ts";
import type { FactKey } from "../protocol/fact.ts";
import { LimitReached } from "./run-error.ts";

/**
 * Spends on an account, as a decision of the run. Throws the account's `LimitReached`, which is recorded, and which a replayed
 * run meets at the same place. Returns undefined in a replayed run: it spends nothing.
 */
export function spendWithin<T>(effects: Effects, key: FactKey, spend: () => T): T | undefined {
  let spent: T | undefined;
  const reached = effects.checkLimit(key, () => {
    try {
      spent = spend();
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof LimitReached)) throw thrown;
      const { limit, allowed, owner } = thrown;
      return { limit, allowed, ...(owner === undefined ? {} : { owner }) };
    }
  });
  if (reached) throw new LimitReached({ owner: undefined, ...reached });
  return spent;
}
