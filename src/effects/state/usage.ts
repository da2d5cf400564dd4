import { type CallPath, parentCallPath } from "../../protocol/call.ts";
import type { Fact, Outcome } from "../../protocol/fact.ts";
import { isRecord } from "../../protocol/json.ts";
import { addUsage, noUsage, type Usage } from "../../protocol/usage.ts";

/** Sums the usage of model requests, for each call with everything below it. Failed attempts count what they reported. */
export function createUsageState() {
  const spent = new Map<CallPath, Usage>();
  const of = (callPath: CallPath): Usage => spent.get(callPath) ?? noUsage;
  const apply = (fact: Fact): void => {
    const usage = fact.type === "result" && fact.kind === "model" ? reported(fact.outcome) : undefined;
    if (fact.type !== "result" || usage === undefined) return;
    for (let path: CallPath | undefined = fact.callPath; path !== undefined; path = parentCallPath(path))
      spent.set(path, addUsage(of(path), usage));
  };
  return { apply, of };
}

function reported(outcome: Outcome): Usage | undefined {
  if (outcome.type !== "value") return outcome.usage;
  const usage = isRecord(outcome.value) ? outcome.value["usage"] : undefined;
  return isRecord(usage) ? (usage as unknown as Usage) : undefined;
}
