import type { QuestionPosition } from "../../protocol/approval.ts";
import { abortable } from "../../util/async/abortable.ts";

/** A place at the head of the queue: the only question that is being settled. */
export interface QuestionPlace {
  /** The count begins anew when the queue is empty. */
  position(): QuestionPosition;
  /** Lets the next question come up. Called once, after the answer is part of the run's state. */
  release(): void;
}

/** A call is on its way to a verdict, waits for a call before it, or is past both: it has asked, executes, or has a result. */
export type CallStage = "on the way" | "waiting" | "past";
export type StageReport = (stage: CallStage) => void;

/** Lets questions come up one at a time, in the order in which they were asked. */
export class QuestionQueue {
  #tail: Promise<void> = Promise.resolve();
  #asked = 0;
  #answered = 0;
  readonly #stages = { "on the way": 0, waiting: 0, past: 0 };
  #notify: (() => void) | undefined;

  /** Registers a call that may come to ask, on its way to a verdict. Its last stage has to be `past`. */
  register(): StageReport {
    let now: CallStage = "past";
    const move = (stage: CallStage) => {
      this.#stages[now]--;
      this.#stages[stage]++;
      now = stage;
      if (this.#stages["on the way"] === 0) this.#notify?.();
    };
    move("on the way");
    return move;
  }

  /** Resolves when it is this question's turn. Rejects with the signal's reason on abort, and holds no place then. */
  async take(signal: AbortSignal, report: StageReport): Promise<QuestionPlace> {
    const n = ++this.#asked;
    report("past");
    const before = this.#tail;
    let free = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      free = resolve;
    });
    this.#tail = before.then(() => released);
    const release = (): void => {
      free();
      if (++this.#answered === this.#asked) this.#asked = this.#answered = 0;
    };
    try {
      await abortable(before, signal);
      await abortable(this.#known(), signal);
      signal.throwIfAborted();
    } catch (thrown) {
      release();
      throw thrown;
    }
    const position = () => {
      const { waiting } = this.#stages;
      return { n, m: this.#asked, ...(waiting > 0 ? { waiting } : {}) };
    };
    return { position, release };
  }

  /** Resolves when no call is on its way: each has asked, waits, or will not ask. Only the head of the queue awaits it. */
  #known(): Promise<void> {
    if (this.#stages["on the way"] === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }
}
