import type { Fact } from "../../protocol/fact.ts";

/**
 * Counts model requests that failed after their retries, one after another with the same code, in the order in which their
 * outcomes are recorded. An answer ends the row, whatever it says.
 */
export function createFailuresState() {
  let code: unknown;
  let length = 0;
  const apply = (fact: Fact): void => {
    if (fact.type !== "result" || fact.kind !== "model" || fact.outcome.type === "interrupted") return;
    const { outcome } = fact;
    if (outcome.type === "value") length = 0;
    else if (typeof outcome.error["streak"] === "number") {
      length = outcome.error["streak"];
      code = outcome.error["code"];
    }
  };
  /** How many have failed so where one more fails with this code. */
  const streakWith = (failed: string): number => (length > 0 && failed === code ? length + 1 : 1);
  return { apply, streakWith };
}
