import type { ApprovalRule } from "../protocol/approval.ts";

/** `--approve` and `--deny`, as often as they were given. */
export interface RuleFlags {
  readonly approve?: readonly string[];
  readonly deny?: readonly string[];
}

export function rulesOf({ approve = [], deny = [] }: RuleFlags): readonly ApprovalRule[] {
  return [
    ...approve.map((rule) => ({ effect: "allow" as const, rule, source: "--approve" })),
    ...deny.map((rule) => ({ effect: "block" as const, rule, source: "--deny" })),
  ];
}
