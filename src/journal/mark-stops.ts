import type { Fact } from "../protocol/fact.ts";

/**
 * Marks the decisions that stopped a run, in a journal from before decisions said so: each `stop`, and the first denial of an attempt that
 * ended as denied where its policy stops for one.
 */
export function markStops(facts: readonly Fact[]): readonly Fact[] {
  if (facts.some((fact) => fact.type === "decision" && fact.stops)) return facts;
  const stops = new Set<Fact>();
  let [isStopping, first]: [boolean, Fact | undefined] = [false, undefined];
  for (const fact of facts) {
    if (fact.type === "run-start" || fact.type === "attempt") [isStopping, first] = [fact.onDenied === "stop", undefined];
    if (fact.type === "decision" && fact.denied) first ??= fact;
    if (fact.type === "decision" && fact.decision.type === "stop") stops.add(fact);
    if (fact.type === "run-end" && fact.stopReason === "denied" && isStopping && first) stops.add(first);
  }
  return facts.map((fact) => (stops.has(fact) ? ({ ...fact, stops: true } as Fact) : fact));
}
