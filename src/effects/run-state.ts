import type { DeniedCall } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import type { Fact, RuleForRun } from "../protocol/fact.ts";
import type { Usage } from "../protocol/usage.ts";
import { createApprovalsState, type RememberedApproval } from "./state/approvals.ts";
import { createFailuresState } from "./state/failures.ts";
import { createUsageState } from "./state/usage.ts";

/**
 * The state of a run so far: a fold over its facts. Reducers are deterministic and own what they hold. Live bookkeeping is
 * no part of it: places (`parallel`), tickets, timers, reservations of limits, abort signals, open toolsets and scopes.
 */
export interface RunState {
  apply(fact: Fact): void;
  /** Applies what a fact spent, and nothing else of it: it is void. */
  spend(fact: Fact): void;
  /** Calls of tools and workers that a call and everything below it made. */
  toolCallsOf(callPath: CallPath): number;
  /** Usage of a call and everything below it. */
  usageOf(callPath: CallPath): Usage;
  /** How many model requests in a row have failed after their retries with this code, where one more does. */
  streakWith(code: string): number;
  /** Approvals for the run that nobody took back, oldest first. */
  remembered(): readonly RememberedApproval[];
  /** Rules that a person allowed for the run and nobody took back, oldest first. */
  rules(): readonly RuleForRun[];
  /** Returns true if equal calls were approved with exactly what is shown now. */
  isRemembered(memory: string, shown: string): boolean;
  denialsOf(memory: string): number;
  /** Calls whose approval was denied, in the order of the denials. */
  denied(): readonly DeniedCall[];
}

export function createRunState(): RunState {
  const usage = createUsageState();
  const approvals = createApprovalsState();
  const failures = createFailuresState();
  return Object.freeze<RunState>({
    apply: (fact) => {
      usage.apply(fact);
      approvals.apply(fact);
      failures.apply(fact);
    },
    spend: usage.apply,
    toolCallsOf: usage.toolCallsOf,
    usageOf: usage.of,
    streakWith: failures.streakWith,
    remembered: approvals.remembered,
    rules: approvals.rules,
    isRemembered: approvals.isRemembered,
    denialsOf: approvals.denialsOf,
    denied: approvals.denied,
  });
}
