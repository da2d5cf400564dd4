import type { ApprovalRule } from "../../protocol/approval.ts";
import type { ApprovalPolicy } from "../policy.ts";

/** A manifest can take approvals away, and never give any. A program that was compiled before may not know the run's rules. */
export function tightenPolicy(
  policy: ApprovalPolicy,
  { approval, rules: known }: { readonly approval?: "prompt" | "reject_all"; readonly rules: readonly ApprovalRule[] },
): ApprovalPolicy {
  const rules = [...known, ...(policy.rules ?? []).filter((rule) => !known.some((one) => isSameRule(one, rule)))];
  return { ...policy, rules, ...(approval === "reject_all" ? { mode: approval } : {}) };
}

function isSameRule(one: ApprovalRule, other: ApprovalRule): boolean {
  return one.effect === other.effect && one.rule === other.rule;
}
