import type { ApprovalDecision, ApprovalMode, ApprovalRequest, ApprovalRule } from "../protocol/approval.ts";
import type { JsonObject } from "../protocol/json.ts";
import {
  checkOptions,
  flagOption,
  functionOption,
  listOption,
  type OptionTable,
  oneOf,
  secondsOption,
  textOption,
} from "../util/check-options.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { parseRule } from "./rules/approval-rule.ts";
import type { RememberedApprovals } from "./rules/remembered-approvals.ts";

/**
 * Answers one question. Called once per question, never two at a time. May reject (the call is then denied); must
 * settle when `signal` aborts. Only an `ApprovalDecision` counts: a boolean or anything else is an error and denies.
 */
export type Approver = (request: ApprovalRequest, options: ApproverOptions) => Promise<ApprovalDecision>;

export interface ApproverOptions {
  /** Aborts when the run does, and when the time for the answer is up. */
  readonly signal: AbortSignal;
  /** Approvals of the run so far, to be shown and revoked. */
  readonly memory: RememberedApprovals;
  /** Why arguments would not be taken in the place of those shown, in words for a person; undefined if they would. */
  readonly checkArgs: (args: JsonObject) => Promise<string | undefined>;
}

/** Policy of a run's approvals. Required of every run: there is no default. */
export interface ApprovalPolicy {
  /** `prompt` asks the approver; without one, what would be asked is denied at once. No mode unblocks what is blocked. */
  readonly mode: ApprovalMode;
  readonly approver?: Approver;
  /**
   * Decides about a call of a resumed run that may have run already: `approve` runs it again, `deny` takes it as done, with the note as its
   * result. The approver is not asked that: what allows a call does not say that it may happen twice. Default: the question waits; the
   * run rejects with a `RunError` `uncertain` that has it, and `answerQuestions` answers it.
   */
  readonly settle?: Approver;
  /** Default `return`: the model is told of the denial and goes on. `stop` ends the run at the first denial. */
  readonly onDenied?: "return" | "stop";
  /**
   * The answer to a question where there is no approver, in the mode `prompt`. Default `deny`. With `hold`, which takes no approver, its call
   * waits, and what does not depend on it goes on; then the run is suspended: it rejects with a `RunError` `suspended` that has the open
   * questions. They are answered by `answerQuestions`, and `resume` goes on with the run.
   */
  readonly onUnanswered?: "deny" | "hold";
  /**
   * Seconds, from when a question is put, after which it is denied: more than 0, at most 2 000 000. That denial is not remembered, and the
   * next question is put. Default: a question waits as long as the run.
   */
  readonly timeoutSeconds?: number;
  /** The strictest of those that match a call decides; none of them moves what a toolset or an author made to ask or blocks. */
  readonly rules?: readonly ApprovalRule[];
  /**
   * Programs may run as rules and pre-approvals allow also where this machine cannot isolate them. Default false: there each of them
   * asks, and nothing that a file or a rule says lifts it. Only the caller of a run can set it.
   */
  readonly unisolated?: boolean;
  /**
   * The start of the entry asks, as a call of the entry's name with its input, which the approver can edit. A denial ends the run. Default
   * false: whoever starts a run has approved that.
   */
  readonly gateEntry?: boolean;
}

const policyOptions: OptionTable<ApprovalPolicy> = {
  mode: oneOf("prompt", "approve_all", "reject_all"),
  approver: functionOption,
  settle: functionOption,
  onDenied: oneOf("return", "stop"),
  onUnanswered: oneOf("deny", "hold"),
  timeoutSeconds: secondsOption,
  rules: listOption,
  unisolated: flagOption,
  gateEntry: flagOption,
};

const renamed: Readonly<Record<string, string>> = {
  interactive: "`interactive` is now `prompt`",
  strict: "`strict` is now `reject_all`",
  return_permission_errors: "it is now `onDenied`: `return` in place of `true`, `stop` in place of `false`",
  returnPermissionErrors: "it is now `onDenied`: `return` in place of `true`, `stop` in place of `false`",
};

/** Throws a `TypeError` that names the right words if a policy is not one, or a rule of it cannot be read. */
export function checkPolicy(policy: ApprovalPolicy): ApprovalPolicy {
  checkPolicyOptions(policy);
  for (const { rule } of policy.rules ?? []) checkRule(rule);
  return policy;
}

/** The same, but for the texts of rules, which compiling a program reports at their places. */
export function checkPolicyOptions(policy: ApprovalPolicy): void {
  if (policy === undefined || policy === null)
    throw new TypeError('`approval` is missing: a policy says who may do what, such as `approval: { mode: "prompt", approver }`');
  checkOptions(policy, { path: "approval", table: policyOptions, required: ["mode"], renamed });
  if (policy.approver && policy.onUnanswered === "hold") {
    const way = "leave it out, and answer what code decides with `answerQuestions`; the rest waits";
    throw new TypeError(
      `\`approval.onUnanswered: "hold"\` is without effect beside an \`approver\`, which answers every question: ${way}`,
    );
  }
  checkRuleOptions(policy.rules, "approval.rules");
}

/** Throws a `TypeError` if one of the rules is of another form. `path` names the option that holds them. */
export function checkRuleOptions(rules: readonly ApprovalRule[] = [], path: string): void {
  for (const rule of rules)
    checkOptions(rule, { path, table: ruleOptions, required: ["effect", "rule"], renamed: renamedEffects });
}

const ruleOptions: OptionTable<ApprovalRule> = { effect: oneOf("allow", "ask", "block"), rule: textOption, source: textOption };

const renamedEffects = { deny: "`deny` is called `block`", approve: "`approve` is called `allow`" };

function checkRule(rule: string): void {
  try {
    parseRule(rule);
  } catch (thrown) {
    throw new TypeError(`the rule \`${rule}\` cannot be read: ${errorMessage(thrown)}`);
  }
}
