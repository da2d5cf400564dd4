import type { ApprovalRule, OpenQuestion, Verdict } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import type { EffectKind, Fact, FactKey, FactOf, KeyedFactType } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { LimitName, Usage } from "../protocol/usage.ts";
import type { RunState } from "./run-state.ts";

/*
 * Terminology. A *fact* is something that is true of a run, as plain data; the journal holds facts. The *state* of a run is a
 * fold over its facts. An *effect* is what a run does to the world or asks of it (a model request, the execution of a tool, a
 * question). The *answerer* decides where the outcome of an effect comes from: from the world and into the journal (`live`), from
 * nowhere (`rehearsed`: what a run would do first), or from the facts of an earlier run (`replayed`). Runtime and gate ask for
 * effects and never know which answerer they have.
 */

/** Describes an effect: plain data, known before it happens. */
export interface EffectRecord extends FactKey {
  readonly kind: EffectKind;
  /** Equal effects have equal digests; taken over the redacted form. */
  readonly digest: string;
  /** True where the world may change: the intent is then on disk before the work starts. */
  readonly sideEffect: boolean;
  /** True where an intent is recorded although the world does not change: the effect costs money, or a person's time. */
  readonly announced: boolean;
  readonly detail: JsonObject;
}

/** How an outcome travels through a journal. Both directions are pure. */
export interface OutcomeCodec<T> {
  encode(value: T): JsonValue;
  decode(value: JsonValue): T;
  /** Undefined for what is not an outcome of the effect: it unwinds the run. */
  encodeError?(thrown: unknown): JsonObject | undefined;
  decodeError?(error: JsonObject): unknown;
  /** Returns what an interrupted effect had produced; undefined for none. */
  encodePartial?(thrown: unknown): JsonValue | undefined;
}

export interface Effect<T> {
  readonly record: EffectRecord;
  readonly codec: OutcomeCodec<T>;
  /** Usage that the provider reported before it failed. Default: nothing. */
  readonly spentByFailure?: () => Usage | undefined;
  /** Does it. Called by the answerer `live` alone, once. */
  readonly work: () => Promise<T>;
  /** Records again what was recorded while the work ran. Called in the place of `work` where the outcome is recorded. Default: nothing. */
  readonly repeat?: () => Promise<void>;
}

/** The one seam between a run and the world. One object for each run. */
export interface Effects {
  readonly state: RunState;
  /** Applies a fact to the state at once, and appends it to the journal, after all earlier ones. Never throws. */
  record(fact: Fact): void;
  /** Records, and resolves when the fact is on disk. Rejects with a `JournalError`. */
  recordDurably(fact: Fact): Promise<void>;
  /**
   * Answers an effect. Rejects with what the work rejected with; with a `JournalError` where the journal cannot be written;
   * with a `ReplayMiss` where a replayed run asks for what the record does not hold.
   */
  perform<T>(effect: Effect<T>, signal: AbortSignal): Promise<T>;
  /** The recorded fact of a decision; undefined where the decision is to be made now. Asked before the state is read. */
  recall<Type extends KeyedFactType>(type: Type, key: FactKey): FactOf<Type> | undefined;
  /**
   * Asks whether a limit allows something: a decision that reads live bookkeeping. Returns the limit that does not, and records
   * it. A replayed run is refused what the recorded run was refused, and `check` is not called.
   */
  checkLimit(key: FactKey, check: () => ReachedLimit | undefined): ReachedLimit | undefined;
  /**
   * Called with a recorded verdict that stands. A replay has the call judged again, by the rules of today and those that the run was given
   * then, and notes where that comes to something else; nothing else does.
   */
  review(recorded: FactOf<"verdict">, judge: (given: readonly ApprovalRule[]) => Verdict | undefined): void;
  /** Resolves when all that came before a recalled fact has happened again. */
  turnOf(fact: Fact): Promise<void>;
  /**
   * Called when a call (`undefined`: the run) has come to its end. Undefined where it ends now; a replayed run waits for what came before
   * its end, and rejects where the recorded call was aborted before.
   */
  finish(callPath: CallPath | undefined, signal: AbortSignal): Promise<void> | undefined;
  /**
   * Called when a call below this one has failed, before what runs beside it is aborted: that is recorded, so that a replay aborts it at
   * the same point. Undefined where it is aborted now.
   */
  abortBelow(callPath: CallPath, signal: AbortSignal): Promise<void> | undefined;
  /** Records as interrupted all effects that are under way: called before the end of the run is recorded. */
  interruptAll(): void;
  /** Called before a call starts. Undefined where it can; a replay does not start a call that did not, as `requireLive`. */
  requireStart(callPath: CallPath, signal: AbortSignal): Promise<never> | undefined;
  /** The recorded start of a call; undefined where it starts now. */
  recallStart(callPath: CallPath): FactOf<"call-start"> | undefined;
  /** The recorded end of a call that is not entered again: its caller gets what it got. Undefined in a replay, which enters every call. */
  recallEnd(callPath: CallPath): FactOf<"call-end"> | undefined;
  /** The recorded end of a call that a replay enters; undefined outside of replays. */
  endToReach(callPath: CallPath): FactOf<"call-end"> | undefined;
  /**
   * The last verdict on a call that has begun in an earlier attempt of the run and of whose end nothing is recorded: it may have had its
   * effect. `key` is the call's prefix of keys.
   */
  begun(key: FactKey): FactOf<"verdict"> | undefined;
  /** True while all that a call does is taken from an earlier attempt of the run. */
  isReplayed(callPath: CallPath): boolean;
  /**
   * Called before something outside of any effect is read: the files that a call names, an approver. Undefined where it can be read. A
   * replayed run has all of it in its record: it waits for what ended the recorded call, or rejects with a `ReplayMiss`.
   */
  requireLive(need: LiveNeed): Promise<never> | undefined;
  /** Waits for what is outside of the record: an approver, a connection that closes. A replayed run does not. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Waits before a request is made again. `next` is its key: where its answer comes from a record, nothing waits. */
  waitToRetry(milliseconds: number, next: FactKey, signal: AbortSignal): Promise<void>;
  /** Sets what ends a call whose time was up in the recorded run, or the run that its user aborted. Live, nothing calls it. */
  onInterruption(end: (reason: Interruption) => void): void;
  /**
   * Calls `expire` when a time is over: of a call, of which earlier attempts are a part, or, without `limit`, from now on. In a replayed run time does not pass: `expire` is called where the fact `limit` was recorded.
   */
  startTimer(milliseconds: number, expire: () => void, limit?: FactKey): Timer;
}

/** Measures time while it goes; it goes from the start. */
export interface Timer {
  go(): void;
  pause(): void;
  /** Ends it for good. */
  stop(): void;
}

/** `owner`: the call whose limit it is; absent for the run's own. */
export interface ReachedLimit {
  readonly limit: LimitName;
  readonly allowed: number;
  readonly owner?: CallPath;
}

export type Interruption =
  /** `owner` is absent for the run's own time. */
  | { readonly type: "time-up"; readonly owner?: CallPath }
  | { readonly type: "aborted"; readonly message: string }
  | { readonly type: "suspended"; readonly questions: readonly OpenQuestion[] };

export interface LiveNeed {
  readonly callPath: CallPath;
  /** Names what is read, for messages: `the arguments of write_file`. */
  readonly what: string;
  readonly signal: AbortSignal;
}

/** For runs in which time does not pass. */
export const stillTimer: Timer = { go: () => undefined, pause: () => undefined, stop: () => undefined };
