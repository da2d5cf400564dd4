import type { ApprovalDecision, ApprovalRequest, DecisionSource } from "../protocol/approval.ts";
import type { StepSeam } from "../protocol/journal-entry.ts";
import type { JsonObject } from "../protocol/json.ts";
import { errorMessage } from "../util/error-message.ts";
import { PolicyStop } from "./gate-types.ts";
import type { ApprovalMemory, AskedCall } from "./memory.ts";
import type { ApprovalPolicy, ApproverOptions } from "./policy.ts";
import { type Question, type QuestionQueue, UnansweredQuestion } from "./question-queue.ts";
import type { RememberedApprovals } from "./remembered-approvals.ts";

export interface Decision {
  readonly decision: ApprovalDecision;
  readonly source: DecisionSource;
}

export interface AskedQuestion {
  /** As the approver sees it. */
  readonly question: Question;
  /** As it is, for memory. */
  readonly call: AskedCall;
}

export interface DecideOptions {
  readonly policy: ApprovalPolicy;
  readonly memory: ApprovalMemory;
  /** The same, as an approver sees it. */
  readonly approvals: RememberedApprovals;
  /** Why edited arguments would be refused. */
  readonly checkArgs: ApproverOptions["checkArgs"];
  /** Absent where nobody can be asked. */
  readonly questions: QuestionQueue | undefined;
  readonly signal: AbortSignal;
  /** The seam that a question passes. */
  readonly step: StepSeam;
  readonly onAsk: (request: ApprovalRequest) => void;
  /** Told before the next question is put. Gives why there may be none, where the answer ends the run. */
  readonly onAnswer: (decision: ApprovalDecision) => PolicyStop | undefined;
}

/** After this many denials of one call the next is denied unasked: the model is going round in circles. */
const denialsBeforeSilence = 2;

/** Settles a call whose verdict is ask. Total: it always comes to a decision, or rejects because the run was aborted or stopped. */
export async function decide(asked: AskedQuestion, options: DecideOptions): Promise<Decision> {
  const { policy, questions } = options;
  if (policy.mode === "approve_all") return { decision: { type: "approve" }, source: "approve_all" };
  if (policy.mode === "reject_all")
    return { decision: { type: "deny", note: "this run rejects everything that asks" }, source: "reject_all" };
  if (!questions) return { decision: { type: "deny", note: "nobody can be asked in this run" }, source: "nobody" };
  return ask(asked, questions, options);
}

async function ask({ question, call }: AskedQuestion, questions: QuestionQueue, options: DecideOptions): Promise<Decision> {
  const { memory, signal, step } = options;
  let source: DecisionSource = "person";
  /** An answer to another question may have settled this one while it waited. */
  const known = (): ApprovalDecision | undefined => {
    if (memory.has(call)) source = "memory";
    else if (memory.denials(call) >= denialsBeforeSilence) source = "repeated";
    if (source === "repeated") return { type: "deny", note: "the same call was denied twice already" };
    return source === "memory" ? { type: "approve" } : undefined;
  };
  const onAnswer = (decision: ApprovalDecision) => {
    const isForRun = decision.type === "approve" && decision.remember === "run" && question.canRemember && !decision.args;
    if (isForRun) memory.remember(call);
    if (decision.type === "deny") memory.countDenial(call);
    return options.onAnswer(decision);
  };
  const describe = (answer: ApprovalDecision) => ({ answer: answer as unknown as JsonObject });
  const seam = {
    callPath: question.callPath,
    kind: "question" as const,
    detail: { tool: call.tool },
    sideEffect: false,
    describe,
  };
  try {
    const asked = () =>
      questions.ask(question, {
        signal,
        memory: options.approvals,
        checkArgs: options.checkArgs,
        known,
        onAsk: options.onAsk,
        onAnswer,
      });
    const decision = await step(seam, asked);
    return { decision, source };
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof PolicyStop) throw thrown;
    if (thrown instanceof UnansweredQuestion) return { decision: { type: "deny", note: thrown.message }, source: "timeout" };
    return { decision: { type: "deny", note: `the approver failed: ${errorMessage(thrown)}` }, source: "error" };
  }
}
