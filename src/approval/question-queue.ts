import type { ApprovalDecision, ApprovalRequest } from "../protocol/approval.ts";
import { isRecord } from "../protocol/json.ts";
import { abortable } from "../util/abortable.ts";
import type { Approver, ApproverOptions } from "./policy.ts";

export type Question = Omit<ApprovalRequest, "position">;

export interface QuestionOptions extends ApproverOptions {
  /** Asked as the question's turn comes: an answer to another one may have settled it. */
  readonly known: () => ApprovalDecision | undefined;
  readonly onAsk: (request: ApprovalRequest) => void;
  /** Told before the next question is put. Gives why there may be none, where the answer ends the run. */
  readonly onAnswer: (decision: ApprovalDecision) => Error | undefined;
}

export interface QuestionTimeout {
  /** For each question, from when it is put. Undefined: no limit. */
  readonly seconds: number | undefined;
  /** The run's clock: rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** A question that nobody answered in time; the signal of its approver aborts with it. */
export class UnansweredQuestion extends Error {
  constructor(seconds: number) {
    super(`nobody answered within ${seconds} ${seconds === 1 ? "second" : "seconds"}`);
    this.name = "UnansweredQuestion";
  }
}

/** An approver that was told to give up has this long to leave the terminal to the next question. */
const graceMilliseconds = 1000;

/** Puts questions to one approver, one at a time, numbered `n of m`; the count begins anew when the queue is empty. */
export class QuestionQueue {
  readonly #approver: Approver;
  readonly #timeout: QuestionTimeout;
  #tail: Promise<unknown> = Promise.resolve();
  #asked = 0;
  #answered = 0;
  #ended: Error | undefined;

  constructor(approver: Approver, timeout: QuestionTimeout) {
    this.#approver = approver;
    this.#timeout = timeout;
  }

  /**
   * Resolves with a valid decision, or rejects: with the signal's reason on abort, with an `UnansweredQuestion` where time
   * is up, with what `onAnswer` gave for an earlier answer, with an error where the approver failed or answered something
   * else. `onAsk` is told the numbered request as it
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
    const decision: unknown = await this.#answer(request, options);
    options.signal.throwIfAborted();
    if (!isDecision(decision)) throw new TypeError("the approver must answer { type: 'approve' | 'deny' | 'stop' }");
    this.#ended = options.onAnswer(decision);
    return decision;
  }

  async #answer(request: ApprovalRequest, { signal, memory, checkArgs }: QuestionOptions): Promise<unknown> {
    const { seconds, sleep } = this.#timeout;
    if (seconds === undefined) return this.#approver(request, { signal, memory, checkArgs });
    const late = new AbortController();
    const done = new AbortController();
    const either = AbortSignal.any([signal, late.signal]);
    sleep(seconds * 1000, done.signal).then(
      () => late.abort(new UnansweredQuestion(seconds)),
      () => undefined,
    );
    const answer = (async () => this.#approver(request, { signal: either, memory, checkArgs }))();
    try {
      return await abortable(answer, late.signal);
    } catch (thrown) {
      const settled = answer.catch(() => undefined);
      if (late.signal.aborted) await Promise.race([settled, sleep(graceMilliseconds, done.signal).catch(() => undefined)]);
      throw late.signal.aborted ? late.signal.reason : thrown;
    } finally {
      done.abort();
    }
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
