import type { ApprovalDecision, ApprovalRequest } from "../protocol/approval.ts";
import { isRecord } from "../protocol/json.ts";
import { abortable } from "../util/abortable.ts";
import type { Approver } from "./policy.ts";

export type Question = Omit<ApprovalRequest, "position">;

export interface QuestionOptions {
  /** Asked as the question's turn comes: an answer to another one may have settled it. */
  readonly known: () => ApprovalDecision | undefined;
  readonly signal: AbortSignal;
  readonly onAsk: (request: ApprovalRequest) => void;
  /** Told before the next question is put. Gives why there may be none, where the answer ends the run. */
  readonly onAnswer: (decision: ApprovalDecision) => Error | undefined;
}

/** Puts questions to one approver, one at a time, numbered `n of m`; the count begins anew when the queue is empty. */
export class QuestionQueue {
  readonly #approver: Approver;
  #tail: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #answered = 0;
  #ended: Error | undefined;

  constructor(approver: Approver) {
    this.#approver = approver;
  }

  /**
   * Resolves with a valid decision, or rejects: with the signal's reason on abort, with what `onAnswer` gave for an earlier
   * answer, with an error where the approver failed or answered something else. `onAsk` is told the numbered request as it
   * is put.
   */
  async ask(question: Question, options: QuestionOptions): Promise<ApprovalDecision> {
    const number = ++this.#asked;
    const turn = this.#tail.then(() => this.#put(question, number, options));
    this.#tail = turn.catch(() => undefined);
    try {
      return await abortable(turn, options.signal);
    } finally {
      if (++this.#answered === this.#asked) this.#asked = this.#answered = 0;
    }
  }

  async #put(question: Question, number: number, options: QuestionOptions): Promise<ApprovalDecision> {
    options.signal.throwIfAborted();
    if (this.#ended) throw this.#ended;
    const known = options.known();
    if (known) return known;
    const request: ApprovalRequest = { ...question, position: { n: number, m: this.#asked } };
    options.onAsk(request);
    const decision: unknown = await this.#approver(request, { signal: options.signal });
    options.signal.throwIfAborted();
    if (!isDecision(decision)) throw new TypeError("the approver must answer { type: 'approve' | 'deny' | 'stop' }");
    this.#ended = options.onAnswer(decision);
    return decision;
  }
}

function isDecision(value: unknown): value is ApprovalDecision {
  if (!isRecord(value)) return false;
  if (value["note"] !== undefined && typeof value["note"] !== "string") return false;
  if (value["type"] === "deny" || value["type"] === "stop") return true;
  return (
    value["type"] === "approve" &&
    [undefined, "run"].includes(value["remember"] as undefined) &&
    (value["args"] === undefined || isRecord(value["args"]))
  );
}
