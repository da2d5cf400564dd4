import type { OpenQuestion } from "../protocol/approval.ts";
import { type CallPath, comparePaths, isAtOrBelow } from "../protocol/call.ts";
import { abortable } from "../util/async/abortable.ts";
import { inOrder } from "./open-questions.ts";

/** The reason of the abort of a run in which all that is left waits for answers that nobody gives now. Nothing that unwinds is recorded. */
export class Suspended extends Error {
  readonly questions: readonly OpenQuestion[];
  /** Calls that wait for one before them. Empty in a replay. */
  readonly behind: readonly CallPath[];

  constructor(questions: readonly OpenQuestion[], behind: readonly CallPath[] = []) {
    super("the run is suspended: calls of it wait for an answer");
    this.name = "Suspended";
    this.questions = questions;
    this.behind = behind;
  }
}

/**
 * Knows which calls of a run are at work, and which wait. A call is at work but while it waits for calls of its own, for a call before it,
 * or for a person. Code counts as at work until a call below it is parked: nothing says whether it awaits its calls.
 *
 * Live bookkeeping, and no fact: a replay takes the suspension from its record.
 */
export class Activity {
  readonly #suspend: (reason: Error) => void;
  readonly #nextTurn: () => Promise<void>;
  /** How many threads of work there are at a call. */
  readonly #busy = new Map<CallPath, number>();
  readonly #code = new Set<{ readonly path: CallPath }>();
  readonly #asking = new Set<{ readonly path: CallPath }>();
  readonly #parked = new Set<OpenQuestion>();
  readonly #held = new Set<{ readonly path: CallPath; readonly reason: Error }>();
  readonly #behind = new Set<CallPath>();
  readonly #listeners = new Set<() => void>();
  #isChecking = false;

  /**
   * `suspend` is called once nothing is at work and a call is parked or held: with a `Suspended`, or, where nothing waits for an answer, with
   * the reason of a held call. `nextTurn` resolves when all that only waits for promises has gone on.
   */
  constructor(suspend: (reason: Error) => void, nextTurn: () => Promise<void>) {
    this.#suspend = suspend;
    this.#nextTurn = nextTurn;
  }

  /** Begins work of a call beside what its caller does. Returns what ends it, to be called once. */
  begin(path: CallPath): () => void {
    this.#add(path, 1);
    return () => this.#add(path, -1);
  }

  /** Notes that a call waits for other calls. Returns what ends that, which can be called several times. */
  rest(path: CallPath): () => void {
    this.#add(path, -1);
    let isResting = true;
    return () => {
      if (isResting) this.#add(path, 1);
      isResting = false;
    };
  }

  /** Waits for other calls. */
  wait<T>(path: CallPath, others: Promise<T>): Promise<T> {
    return others.finally(this.rest(path));
  }

  /** Waits for the turn of a call that has others before it. */
  waitBehind(path: CallPath, turn: Promise<void>): Promise<void> {
    this.#behind.add(path);
    return this.wait(
      path,
      turn.finally(() => this.#behind.delete(path)),
    );
  }

  /** Waits for a person who is asked, or for the questions before this one. */
  ask<T>(path: CallPath, answer: Promise<T>): Promise<T> {
    const asking = { path };
    this.#asking.add(asking);
    return this.wait(
      path,
      answer.finally(() => this.#asking.delete(asking)),
    );
  }

  /** Notes that code which makes calls is entered. Returns what ends that, to be called once. */
  enterCode(path: CallPath): () => void {
    const entered = { path };
    this.#code.add(entered);
    const goOn = this.rest(path);
    return () => {
      this.#code.delete(entered);
      goOn();
    };
  }

  /** Waits until the run is suspended: rejects with the signal's reason. */
  park(question: OpenQuestion, signal: AbortSignal): Promise<never> {
    this.#parked.add(question);
    const answered = abortable(new Promise<never>(() => undefined), signal);
    return this.wait(
      question.callPath,
      answered.finally(() => this.#parked.delete(question)),
    );
  }

  /** Waits for what this process does not get, while others go on: rejects with the signal's reason once the run ends. */
  hold(path: CallPath, reason: Error, signal: AbortSignal): Promise<never> {
    const held = { path, reason };
    this.#held.add(held);
    const ended = abortable(new Promise<never>(() => undefined), signal);
    return this.wait(
      path,
      ended.finally(() => this.#held.delete(held)),
    );
  }

  /** True while all that a call and everything below it does is to wait for a person. */
  isWaitingForPerson(path: CallPath): boolean {
    const isBelow = (other: { readonly path: CallPath }) => isAtOrBelow(other.path, path);
    const asking = [...this.#asking].filter(isBelow);
    if (asking.length === 0 || [...this.#busy.keys()].some((busy) => isAtOrBelow(busy, path))) return false;
    return [...this.#code].filter(isBelow).every((code) => asking.some((one) => isAtOrBelow(one.path, code.path)));
  }

  /** Calls the listener whenever what is at work may have changed. Returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #add(path: CallPath, more: number): void {
    const count = (this.#busy.get(path) ?? 0) + more;
    if (count === 0) this.#busy.delete(path);
    else this.#busy.set(path, count);
    for (const listener of this.#listeners) listener();
    if (!this.#isChecking && this.#isIdle()) this.#check();
  }

  /** Code that makes one call after another is idle for a moment between them. */
  async #check(): Promise<void> {
    this.#isChecking = true;
    await this.#nextTurn();
    this.#isChecking = false;
    if (!this.#isIdle()) return;
    const [held] = this.#held;
    const isAsking = this.#parked.size > 0 || !held;
    this.#suspend(isAsking ? new Suspended(inOrder([...this.#parked]), [...this.#behind].sort(comparePaths)) : held.reason);
  }

  #isIdle(): boolean {
    if (this.#busy.size > 0) return false;
    const waiting = [...[...this.#parked].map(({ callPath }) => callPath), ...[...this.#held].map(({ path }) => path)];
    return waiting.length > 0 && [...this.#code].every(({ path }) => waiting.some((one) => isAtOrBelow(one, path)));
  }
}
