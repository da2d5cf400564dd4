import type { DeniedCall } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import type { Fact, RuleForRun } from "../protocol/fact.ts";
import { addUsage, type Usage } from "../protocol/usage.ts";
import { createApprovalsState, type RememberedApproval } from "./state/approvals.ts";
import { type CodeAnswer, createCodeAnswersState } from "./state/code-answers.ts";
import { createFailuresState } from "./state/failures.ts";
import { createOrdinalsState } from "./state/ordinals.ts";
import { checksAccount, createUsageState } from "./state/usage.ts";

/**
 * The state of a run so far: a fold over its facts. Reducers are deterministic and own what they hold. Live bookkeeping is
 * no part of it: places (`parallel`), tickets, timers, reservations of limits, abort signals, open toolsets and scopes.
 */
export interface RunState {
  apply(fact: Fact): void;
  /** Applies what a fact spent, and the path that it took, and nothing else of it: it is void. */
  spend(fact: Fact): void;
  /** Applies the path alone that a fact took: the run is a fork, and goes on beside the one that recorded it. */
  reserve(fact: Fact): void;
  /** The first ordinal that no call of a code call has, in this attempt or an earlier one. */
  freeOrdinal(callPath: CallPath): number;
  /** Calls of tools and workers that a call and everything below it made. */
  toolCallsOf(callPath: CallPath): number;
  /** Usage of a call and everything below it, checks left out. */
  usageOf(callPath: CallPath): Usage;
  /** Usage of the run, whose entry has this path, checks included. */
  usageOfRun(entry: CallPath): Usage;
  /** Answers of code that the prompt is asked for, too. */
  codeAnswers(): readonly CodeAnswer[];
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
  const ordinals = createOrdinalsState();
  const answers = createCodeAnswersState();
  return Object.freeze<RunState>({
    apply: (fact) => {
      usage.apply(fact);
      approvals.apply(fact);
      failures.apply(fact);
      ordinals.apply(fact);
      answers.apply(fact);
    },
    spend: (fact) => {
      usage.apply(fact);
      ordinals.apply(fact);
    },
    reserve: ordinals.apply,
    freeOrdinal: ordinals.freeBelow,
    toolCallsOf: usage.toolCallsOf,
    usageOf: usage.of,
    usageOfRun: (entry) => addUsage(usage.of(entry), usage.of(checksAccount)),
    codeAnswers: answers.list,
    streakWith: failures.streakWith,
    remembered: approvals.remembered,
    rules: approvals.rules,
    isRemembered: approvals.isRemembered,
    denialsOf: approvals.denialsOf,
    denied: approvals.denied,
  });
}
