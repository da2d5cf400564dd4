import type { ApprovalDecision, ApprovalRequest, DecisionSource } from "../../protocol/approval.ts";
import { isRecord } from "../../protocol/json.ts";
import { abortable } from "../../util/async/abortable.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { Approver, ApproverOptions } from "../policy.ts";

/** How a question was settled. */
export interface Decision {
  readonly decision: ApprovalDecision;
  readonly source: DecisionSource;
}

export interface QuestionTerms extends ApproverOptions {
  readonly approver: Approver;
  /** Throws an `Error` if a rule cannot be allowed for the run. */
  readonly checkRule: (rule: string) => void;
  /** Seconds, from when the question is put. Undefined: no limit. */
  readonly seconds: number | undefined;
  /** The run's clock: rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** The question timed out; the approver's signal aborts with it. */
export class UnansweredQuestion extends Error {
  constructor(seconds: number) {
    super(`nobody answered within ${seconds} ${seconds === 1 ? "second" : "seconds"}`);
    this.name = "UnansweredQuestion";
  }
}

/** An approver that was told to give up has this long to leave the terminal to the next question. */
const graceMilliseconds = 1000;

/** Puts one question to the approver. Every failure of the approver is a denial; rejects with the signal's reason on abort. */
export async function putQuestion(request: ApprovalRequest, terms: QuestionTerms): Promise<Decision> {
  // The call counts as one that waits for a person before the approver is called.
  await undefined;
  try {
    const decision = await answerOf(request, terms);
    terms.signal.throwIfAborted();
    if (!isDecision(decision)) throw new TypeError("the approver must answer { type: 'approve' | 'deny' | 'stop' }");
    if (decision.type === "approve" && decision.rule !== undefined) terms.checkRule(decision.rule);
    return { decision, source: "person" };
  } catch (thrown) {
    terms.signal.throwIfAborted();
    if (thrown instanceof UnansweredQuestion) return { decision: { type: "deny", note: thrown.message }, source: "timeout" };
    return { decision: { type: "deny", note: `the approver failed: ${errorMessage(thrown)}` }, source: "error" };
  }
}

async function answerOf(request: ApprovalRequest, terms: QuestionTerms): Promise<unknown> {
  const { approver, seconds, sleep, signal, checkRule: _, ...options } = terms;
  if (seconds === undefined) return abortable((async () => approver(request, { signal, ...options }))(), signal);
  const late = new AbortController();
  const done = new AbortController();
  const either = AbortSignal.any([signal, late.signal]);
  sleep(seconds * 1000, done.signal).then(
    () => late.abort(new UnansweredQuestion(seconds)),
    () => undefined,
  );
  const answer = (async () => approver(request, { signal: either, ...options }))();
  try {
    return await abortable(answer, either);
  } catch (thrown) {
    const settled = answer.catch(() => undefined);
    if (late.signal.aborted) await Promise.race([settled, sleep(graceMilliseconds, done.signal).catch(() => undefined)]);
    throw late.signal.aborted ? late.signal.reason : thrown;
  } finally {
    done.abort();
  }
}

export function isDecision(value: unknown): value is ApprovalDecision {
  if (!isRecord(value)) return false;
  if (value["note"] !== undefined && typeof value["note"] !== "string") return false;
  if (value["type"] === "deny" || value["type"] === "stop") return true;
  return (
    value["type"] === "approve" &&
    [undefined, "run"].includes(value["remember"] as undefined) &&
    (value["args"] === undefined || (isRecord(value["args"]) && value["rule"] === undefined)) &&
    (value["rule"] === undefined || typeof value["rule"] === "string")
  );
}
