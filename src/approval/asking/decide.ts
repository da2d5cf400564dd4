import { questionKey } from "../../effects/keys.ts";
import { questionId, shownIn } from "../../effects/open-questions.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../protocol/approval.ts";
import type { FactKey, FactOf, RuleForRun } from "../../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { abortable } from "../../util/async/abortable.ts";
import type { Redactor } from "../../util/secrets/redactor.ts";
import type { GateRun } from "../gate-types.ts";
import type { ApprovalPolicy, Approver, ApproverOptions } from "../policy.ts";
import type { RuledCall } from "../rules/approval-rule.ts";
import { type AskedCall, approvedDigests, memoryId, shownDigest } from "../rules/memory.ts";
import { isAllowedForRun, proposeRules, toRuleForRun } from "../rules/run-rules.ts";
import { type Decision, putQuestion } from "./put-question.ts";
import type { StageReport } from "./question-queue.ts";

export interface AskedQuestion extends FactKey {
  /** As the approver sees it. */
  readonly question: Omit<ApprovalRequest, "position">;
  /** As it is, for memory. */
  readonly call: AskedCall;
  /** As rules see it. Absent if somebody made the call ask: no rule of the run allows it. */
  readonly ruled?: RuledCall;
  /** Digest of the prepared call, with all that the question shows. */
  readonly digest: string;
}

export interface DecideOptions
  extends ApproverOptions,
    Pick<GateRun, "policy" | "effects" | "redactor" | "questions" | "activity"> {
  /** Why nobody is asked, where the policy has no approver. Default: that it has none. */
  readonly whyUnasked?: string;
  /** Calls that asked so far, this one included: what proposed rules are measured by. */
  readonly earlier: readonly RuledCall[];
  /** Reports that the question is known. */
  readonly stage: StageReport;
  /** Called as the question comes up, before it is answered. */
  readonly onAsk: (request: ApprovalRequest) => void;
  /** Called where the question was answered while the run was suspended, and asks about something else now. */
  readonly onStale?: () => void;
  /** Called with the decision before the next question comes up. Records it. */
  readonly onDecided: (settled: SettledQuestion) => void;
}

/** `memory`, `remembered` and `allowed` as the fact of the decision has them. */
export interface SettledQuestion extends Decision, Pick<FactOf<"decision">, "memory" | "remembered" | "allowed"> {}

/** After this many denials of one call the next is denied unasked: the model is going round in circles. */
const denialsBeforeSilence = 2;

/** Settles a call whose verdict is ask. Total: it always comes to a decision, or rejects because the run was aborted or stopped. */
export async function decide(asked: AskedQuestion, options: DecideOptions): Promise<SettledQuestion> {
  const { effects, signal } = options;
  const intent = effects.recall("intent", { callPath: asked.callPath, key: questionKey(asked.key) });
  const decision = effects.recall("decision", asked);
  if (intent || decision) return repeatDecision(asked, { intent, decision }, options);
  await effects.requireLive({ callPath: asked.callPath, what: "a question", signal });
  return makeDecision(asked, options);
}

interface RecordedQuestion {
  readonly intent: FactOf<"intent"> | undefined;
  readonly decision: FactOf<"decision"> | undefined;
}

/** A recorded decision holds, whatever the state says by now; its question comes up again where there was one. */
async function repeatDecision(
  asked: AskedQuestion,
  { intent, decision: recorded }: RecordedQuestion,
  { effects, onAsk, onDecided, signal }: DecideOptions,
): Promise<SettledQuestion> {
  if (intent) {
    onAsk(intent.detail["request"] as unknown as ApprovalRequest);
    const nobody = () => Promise.reject(new Error("the record has a decision on a question, and no answer to it"));
    await effects.perform({ record: questionRecord(asked, intent.detail), codec, work: nobody }, signal);
  }
  if (!recorded) throw new Error("the record has an answer to a question, and no decision on it");
  await abortable(effects.turnOf(recorded), signal);
  const { decision, source, memory, remembered, allowed } = recorded;
  const forWholeRun = { ...(remembered ? { remembered } : {}), ...(allowed ? { allowed } : {}) };
  const settled = { decision, source, ...(memory === undefined ? {} : { memory }), ...forWholeRun };
  onDecided(settled);
  return settled;
}

async function makeDecision(asked: AskedQuestion, options: DecideOptions): Promise<SettledQuestion> {
  const { policy, questions, activity, signal } = options;
  signal.throwIfAborted();
  const given = givenAnswer(asked, options);
  const unasked = given ? undefined : answerOfMode(policy, options.whyUnasked);
  if (unasked) {
    options.onDecided(unasked);
    return unasked;
  }
  const approver = given ? async () => given : policy.approver;
  const memory = memoryId(asked.call, options.redactor);
  const place = await activity.ask(asked.callPath, questions.take(signal, options.stage));
  try {
    const known = knownAnswer(asked, options, memory);
    const request = () => ({ ...asked.question, ...proposals(asked, options), position: place.position() });
    const answer = known ?? (approver && (await putToApprover(asked, options, { request: request(), approver })));
    if (answer) return settle(asked, answer, { ...options, memory });
  } finally {
    place.release();
  }
  return settle(asked, await park(asked, options), { ...options, memory });
}

/** The answer that was given to this question while the run was suspended. */
function givenAnswer(
  { callPath, key, digest, question }: AskedQuestion,
  { effects, redactor, onStale }: DecideOptions,
): ApprovalDecision | undefined {
  const answer = effects.recall("answer", { callPath, key });
  if (!answer) return undefined;
  if (answer.digest === digest && answer.shown === redactor.digest(shownIn(question))) return answer.decision;
  onStale?.();
  return undefined;
}

function settle(
  asked: AskedQuestion,
  answer: Decision,
  { memory, redactor, onDecided }: Omit<DecideOptions, "memory"> & { readonly memory: string },
): SettledQuestion {
  const settled = { ...answer, memory, ...forRun(asked, answer, redactor) };
  onDecided(settled);
  return settled;
}

/** Waits for the suspension of the run: the question stays open. Resolves with an answer that a killed run did not come to decide by. */
function park(asked: AskedQuestion, { activity, effects, signal, onAsk }: DecideOptions): Promise<Decision> {
  const { callPath, key, digest, question } = asked;
  const request: ApprovalRequest = { ...question, position: { n: 1, m: 1 } };
  onAsk(request);
  // A given answer that holds would have settled it.
  const changed = effects.recall("answer", { callPath, key }) ? { isChanged: true as const } : {};
  const open = { id: questionId({ callPath, key, digest }), callPath, key, digest, request, ...changed };
  const record = questionRecord(asked, { request: request as unknown as JsonObject });
  return effects.perform({ record, codec, work: () => activity.park(open, signal) }, signal);
}

function answerOfMode(
  { mode, approver, onUnanswered }: ApprovalPolicy,
  why = "nobody can be asked in this run",
): Decision | undefined {
  if (mode === "approve_all") return { decision: { type: "approve" }, source: "approve_all" };
  if (mode === "reject_all")
    return { decision: { type: "deny", note: "this run rejects everything that asks" }, source: "reject_all" };
  return approver || onUnanswered === "hold" ? undefined : { decision: { type: "deny", note: why }, source: "nobody" };
}

/** The answer to an earlier question may settle this one. */
function knownAnswer({ call, ruled }: AskedQuestion, { effects, redactor }: DecideOptions, memory: string): Decision | undefined {
  const { state } = effects;
  if (state.isRemembered(memory, shownDigest(call, redactor))) return { decision: { type: "approve" }, source: "memory" };
  if (ruled && isAllowedForRun(state.rules(), ruled)) return { decision: { type: "approve" }, source: "rule" };
  if (state.denialsOf(memory) < denialsBeforeSilence) return undefined;
  return { decision: { type: "deny", note: "the same call was denied twice already" }, source: "repeated" };
}

interface PutQuestion {
  readonly request: ApprovalRequest;
  readonly approver: Approver;
}

function putToApprover(asked: AskedQuestion, options: DecideOptions, { request, approver }: PutQuestion): Promise<Decision> {
  const { policy, effects, activity, signal, memory, checkArgs } = options;
  const { timeoutSeconds: seconds } = policy;
  options.onAsk(request);
  const record = questionRecord(asked, { request: request as unknown as JsonObject });
  const checkRule = (rule: string) => void ruleForRun(asked, rule);
  const terms = { approver, seconds, sleep: effects.sleep, signal, memory, checkArgs, checkRule };
  const answer = effects.perform({ record, codec, work: () => putQuestion(request, terms) }, signal);
  return activity.ask(asked.callPath, answer);
}

function questionRecord({ callPath, key, digest }: AskedQuestion, detail: JsonObject) {
  const costs = { sideEffect: false, announced: true };
  return { callPath, key: questionKey(key), kind: "question" as const, digest, ...costs, detail };
}

const codec = {
  encode: (settled: Decision) => settled as unknown as JsonValue,
  decode: (value: JsonValue) => value as unknown as Decision,
};

/** A rule could contain what the question hides. */
function proposals({ question, call, ruled }: AskedQuestion, { earlier }: DecideOptions): Pick<ApprovalRequest, "rules"> {
  return ruled && question.notShown === undefined ? { rules: proposeRules(ruled, call.worker, earlier) } : {};
}

function ruleForRun({ call, ruled }: AskedQuestion, rule: string): RuleForRun {
  if (!ruled) throw new Error("no rule can allow a call that somebody made to ask");
  return toRuleForRun(rule, { worker: call.worker, call: ruled });
}

function forRun(
  asked: AskedQuestion,
  { decision, source }: Decision,
  redactor: Redactor,
): Pick<SettledQuestion, "remembered" | "allowed"> {
  const { question, call } = asked;
  if (source !== "person" || decision.type !== "approve") return {};
  if (decision.rule !== undefined) return { allowed: ruleForRun(asked, decision.rule) };
  if (!isForRun(decision) || !question.canRemember) return {};
  const { worker, reference, tool, args } = call;
  return { remembered: { worker, reference, tool, args, shown: approvedDigests(call, redactor) } };
}

/** Edited arguments are judged and asked for anew. */
function isForRun(decision: ApprovalDecision): boolean {
  return decision.type === "approve" && decision.remember === "run" && !decision.args;
}
