import type { DeniedCall } from "../../protocol/approval.ts";
import { isInCheck } from "../../protocol/call.ts";
import type { ApprovalForRun, Fact, RuleForRun } from "../../protocol/fact.ts";

/** An approval for the run. `memory` is the id that equal calls have in common. */
export interface RememberedApproval extends ApprovalForRun {
  readonly memory: string;
}

/** Holds approvals for the run, counts denials of equal calls, and lists what was denied. */
export function createApprovalsState() {
  const remembered = new Map<string, RememberedApproval>();
  const rules = new Map<string, RuleForRun>();
  const denials = new Map<string, number>();
  const denied: DeniedCall[] = [];
  const apply = (fact: Fact): void => {
    if (fact.type === "revocation") {
      remembered.delete(fact.memory);
      rules.delete(fact.memory);
    }
    if (fact.type !== "decision") return;
    const { decision, source, memory } = fact;
    // A check is none of the run's work.
    if (fact.denied && !isInCheck(fact.denied.callPath)) denied.push(fact.denied);
    if (source !== "person" || memory === undefined) return;
    if (decision.type === "deny") denials.set(memory, (denials.get(memory) ?? 0) + 1);
    if (fact.allowed) rules.set(fact.allowed.memory, fact.allowed);
    if (fact.remembered) {
      const shown = [...(remembered.get(memory)?.shown ?? []), ...fact.remembered.shown];
      remembered.set(memory, { memory, ...fact.remembered, shown });
    }
  };
  return {
    apply,
    remembered: () => [...remembered.values()],
    rules: () => [...rules.values()],
    isRemembered: (memory: string, shown: string) => remembered.get(memory)?.shown.includes(shown) ?? false,
    denialsOf: (memory: string) => denials.get(memory) ?? 0,
    denied: () => denied,
  };
}
