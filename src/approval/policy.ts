import type { ApprovalDecision, ApprovalMode, ApprovalRequest, ApprovalRule } from "../protocol/approval.ts";
import type { JsonObject } from "../protocol/json.ts";
import { errorMessage } from "../util/error-message.ts";
import { parseRule } from "./approval-rule.ts";
import type { RememberedApprovals } from "./remembered-approvals.ts";

/**
 * Answers one question. Called once per question, never two at a time. May reject (the call is then denied); must
 * settle when `signal` aborts. Only an `ApprovalDecision` counts: a boolean or anything else is an error and denies.
 */
export type Approver = (request: ApprovalRequest, options: ApproverOptions) => Promise<ApprovalDecision>;

export interface ApproverOptions {
  /** Aborts when the run does, and when the time for the answer is up. */
  readonly signal: AbortSignal;
  /** What was approved for the run so far, to be shown and taken back. */
  readonly memory: RememberedApprovals;
  /** Why arguments would not be taken in the place of those shown, in words for a person; undefined where they would. */
  readonly checkArgs: (args: JsonObject) => Promise<string | undefined>;
}

/** Who may do what in a run. Required of every run: there is no default. */
export interface ApprovalPolicy {
  /** `prompt` asks the approver; without one, what would be asked is denied at once. No mode unblocks what is blocked. */
  readonly mode: ApprovalMode;
  readonly approver?: Approver;
  /** Default `return`: the model is told of the denial and goes on. `stop` ends the run at the first denial. */
  readonly onDenied?: "return" | "stop";
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
}

const renamed: Readonly<Record<string, ApprovalMode>> = { interactive: "prompt", strict: "reject_all" };

/** Throws a `TypeError` that names the right words where a policy is not one. */
export function checkPolicy(policy: ApprovalPolicy): ApprovalPolicy {
  const mode: string = policy?.mode;
  checkTimeout(policy?.timeoutSeconds);
  if (policy?.unisolated !== undefined && typeof policy.unisolated !== "boolean")
    throw new TypeError("`approval.unisolated` must be `true` or `false`");
  for (const { rule, effect } of policy?.rules ?? []) checkRule(rule, effect);
  if (mode === "prompt" || mode === "approve_all" || mode === "reject_all") return policy;
  const hint = renamed[mode] ? `; \`${mode}\` is now \`${renamed[mode]}\`` : "";
  throw new TypeError(`\`approval.mode\` must be \`prompt\`, \`approve_all\` or \`reject_all\`${hint}`);
}

/** What timers can wait for. */
const longestTimeout = 2_000_000;

function checkTimeout(seconds: unknown): void {
  if (seconds === undefined || (typeof seconds === "number" && seconds > 0 && seconds <= longestTimeout)) return;
  throw new TypeError(`\`approval.timeoutSeconds\` must be a number of seconds, more than 0 and at most ${longestTimeout}`);
}

function checkRule(rule: string, effect: string): void {
  if (effect !== "allow" && effect !== "ask" && effect !== "block")
    throw new TypeError(`the effect of the rule \`${rule}\` must be \`allow\`, \`ask\` or \`block\``);
  try {
    parseRule(rule);
  } catch (thrown) {
    throw new TypeError(`the rule \`${rule}\` cannot be read: ${errorMessage(thrown)}`);
  }
}
