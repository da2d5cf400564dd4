import type { CallPath } from "../../protocol/call.ts";
import type { Fact } from "../../protocol/fact.ts";

/**
 * Folds the ordinals that calls of code took. Code that is entered again makes calls that its record has beside ones that it does not
 * have: a new one must not take the path of a recorded one that is still to come.
 */
export function createOrdinalsState() {
  const next = new Map<CallPath, number>();
  return {
    apply: (fact: Fact): void => {
      if (fact.type !== "code-call") return;
      const ordinal = Number.parseInt(fact.path.slice(fact.callPath.length + 1), 10);
      next.set(fact.callPath, Math.max(next.get(fact.callPath) ?? 0, ordinal + 1));
    },
    /** The first ordinal that is free below a call of code, and all after it. */
    freeBelow: (callPath: CallPath): number => next.get(callPath) ?? 0,
  };
}
