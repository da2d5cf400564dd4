import type { ApprovalDecision, ApprovalRequest, DecisionSource } from "../protocol/approval.ts";
import type { StepSeam } from "../protocol/journal-entry.ts";
import type { JsonObject } from "../protocol/json.ts";
import { errorMessage } from "../util/error-message.ts";
import type { ApprovalMemory } from "./memory.ts";
import type { ApprovalPolicy } from "./policy.ts";
import type { Question, QuestionQueue } from "./question-queue.ts";

export interface Decision {
  readonly decision: ApprovalDecision;
  readonly source: DecisionSource;
}

export interface DecideOptions {
  readonly policy: ApprovalPolicy;
  readonly memory: ApprovalMemory;
  /** Absent where nobody can be asked. */
  readonly questions: QuestionQueue | undefined;
  readonly signal: AbortSignal;
  /** The seam that a question passes. */
  readonly step: StepSeam;
  /** Takes secrets out of what the approver is shown; memory keeps the call as it is. */
  readonly redact: <T>(value: T) => T;
  readonly onAsk: (request: ApprovalRequest) => void;
}

/** After this many denials of one call the next is denied unasked: the model is going round in circles. */
const denialsBeforeSilence = 2;

/** Settles a call whose verdict is ask. Total: it always comes to a decision, or rejects because the run was aborted. */
export async function decide(question: Question, options: DecideOptions): Promise<Decision> {
  const { policy, memory, questions } = options;
  if (policy.mode === "approve_all") return { decision: { type: "approve" }, source: "approve_all" };
  if (policy.mode === "reject_all")
    return { decision: { type: "deny", note: "this run rejects everything that asks" }, source: "reject_all" };
  if (memory.has(question)) return { decision: { type: "approve" }, source: "memory" };
  if (!questions) return { decision: { type: "deny", note: "nobody can be asked in this run" }, source: "nobody" };
  if (memory.denials(question) >= denialsBeforeSilence) {
    return { decision: { type: "deny", note: "the same call was denied twice already" }, source: "repeated" };
  }
  return ask(question, questions, options);
}

async function ask(
  question: Question,
  questions: QuestionQueue,
  { memory, signal, redact, step, onAsk }: DecideOptions,
): Promise<Decision> {
  try {
    const describe = (answer: ApprovalDecision) => ({ answer: answer as unknown as JsonObject });
    const seam = {
      callPath: question.callPath,
      kind: "question" as const,
      detail: { tool: question.tool },
      sideEffect: false,
      describe,
    };
    const decision = await step(seam, () => questions.ask(redact(question), { signal, onAsk }));
    if (decision.type === "approve" && decision.remember === "run" && question.canRemember && !decision.args)
      memory.remember(question);
    if (decision.type === "deny") memory.countDenial(question);
    return { decision, source: "person" };
  } catch (thrown) {
    signal.throwIfAborted();
    return { decision: { type: "deny", note: `the approver failed: ${errorMessage(thrown)}` }, source: "error" };
  }
}
