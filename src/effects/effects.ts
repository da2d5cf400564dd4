import type { ApprovalRule, OpenQuestion, Verdict } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import type { EffectKind, Fact, FactKey, FactOf, FactPlace, KeyedFactType, PlacedFactType } from "../protocol/fact.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Usage } from "../protocol/usage.ts";
import type { RunState } from "./run-state.ts";

/*
 * Terminology. A *fact* is something that is true of a run, as plain data; the journal holds facts. The *state* of a run is a
 * fold over its facts. An *effect* is what a run does to the world or asks of it (a model request, the execution of a tool, a
 * question). The *answerer* decides where the outcome of an effect comes from: from the world and into the journal, or from the facts of
 * an earlier run. Its *policy* says which. Runtime and gate ask for effects and never know which policy their answerer has.
 */

/** Describes an effect: plain data, known before it happens. */
export interface EffectRecord extends FactKey {
  readonly kind: EffectKind;
  /** Equal effects have equal digests; taken over the redacted form. */
  readonly digest: string;
  /** True if the world may change: the intent is then on disk before the work starts. */
  readonly sideEffect: boolean;
  /** True if an intent is recorded although the world does not change: the effect costs money, or a person's time. */
  readonly announced: boolean;
  readonly detail: JsonObject;
  /** The file whose instructions a request carries, relative to the program's folder. Not recorded. */
  readonly source?: string;
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
  /** Does it. Called by `live.ts` alone, once. */
  readonly work: () => Promise<T>;
  /** Records again what was recorded while the work ran. Called in the place of `work` where the outcome is recorded. Default: nothing. */
  readonly repeat?: () => Promise<void>;
}

/** The one seam between a run and the world. One object for each run; `createAnswerer` makes it. */
export interface Effects {
  readonly state: RunState;
  /** Applies a fact to the state at once, and appends it to the journal, after all earlier ones. Never throws. */
  record(fact: Fact): void;
  /** Resolves when all facts so far are on disk. Rejects with a `JournalError`. */
  onDisk(): Promise<void>;
  /**
   * Answers an effect. Rejects with what the work rejected with; with a `JournalError` where the journal cannot be written;
   * with a `ReplayMiss` where a replayed run asks for what the record does not hold.
   */
  perform<T>(effect: Effect<T>, signal: AbortSignal): Promise<T>;
  /**
   * The recorded fact of a decision, or of a call that starts or ends: undefined if that is decided, entered or ended now. Asked before
   * the state is read. The end of a call that a replay enters is not recalled.
   */
  recall<Type extends PlacedFactType>(type: Type, at: FactPlace): FactOf<Type> | undefined;
  /**
   * Returns the recorded fact of a decision, or makes it and records it: the one way of decisions that read the state or live bookkeeping,
   * so that they hold in every replay. `decide` returns the fact without its place, or undefined if there is nothing to record. A
   * limit that a replay does not have in its record is not reached, and not checked. `again` makes a recorded verdict anew, by the rules of
   * today and those that the run was given then: a replay notes where that comes to something else, and goes on with the recorded one.
   */
  decideOnce<Type extends KeyedFactType>(type: Type, key: FactKey, decision: Decision<Type>): FactOf<Type>;
  decideOnce<Type extends KeyedFactType>(type: Type, key: FactKey, decision: OpenDecision<Type>): FactOf<Type> | undefined;
  /** True in a replay, which makes recorded verdicts anew. */
  readonly isReviewing: boolean;
  /**
   * Called before something outside of any effect is read (the files that a call names, an approver) and before a call starts. Undefined
   * if it can be done. A replayed run has all of it in its record: it waits for what ended the recorded call, or rejects with a
   * `ReplayMiss`.
   */
  requireLive(need: LiveNeed): Promise<never> | undefined;
  /**
   * The last verdict on a call that has begun in an earlier attempt of the run and of whose end nothing is recorded: it may have had its
   * effect. `key` is the call's prefix of keys.
   */
  begun(key: FactKey): FactOf<"verdict"> | undefined;
  /** True while all that a call does is taken from an earlier attempt of the run. */
  isReplayed(callPath: CallPath): boolean;
  /** Resolves when all that came before a recalled fact has happened again. */
  turnOf(fact: Fact): Promise<void>;
  /**
   * Called when a call (`undefined`: the run) has come to its end. Undefined if it ends now. A replayed run waits for what came before
   * its end, and resolves with that; it rejects if the recorded call was aborted before.
   */
  finish(callPath: CallPath | undefined, signal: AbortSignal): Promise<FactOf<"call-end"> | undefined> | undefined;
  /**
   * Called when a call below this one has failed, before what runs beside it is aborted: that is recorded, so that a replay aborts it at
   * the same point. Undefined if it is aborted now.
   */
  abortBelow(callPath: CallPath, signal: AbortSignal): Promise<void> | undefined;
  /** Records as interrupted all effects that are under way: called before the end of the run is recorded. */
  interruptAll(): void;
  /** Sets what ends a call whose time was up in the recorded run, or the run that its user aborted. Live, nothing calls it. */
  onInterruption(end: (reason: Interruption) => void): void;
  /**
   * Waits for what is outside of the record: an approver, a connection that closes. A replayed run does not. `next`: the key of the effect
   * that the wait is for; where its answer comes from a record, nothing waits.
   */
  sleep(milliseconds: number, signal: AbortSignal, next?: FactKey): Promise<void>;
  /**
   * Calls `expire` when a time is over: of a call, of which earlier attempts are a part, or, without `limit`, from now on. In a replayed run time does not pass: `expire` is called where the fact `limit` was recorded.
   */
  startTimer(milliseconds: number, expire: () => void, limit?: FactKey): Timer;
}

/** A fact without its type and place. */
export type FactBody<Type extends KeyedFactType> = Omit<FactOf<Type>, "type" | keyof FactKey>;

export interface OpenDecision<Type extends KeyedFactType> {
  readonly decide: () => FactBody<Type> | undefined;
  readonly again?: (given: readonly ApprovalRule[], recorded: FactOf<"verdict">) => Verdict | undefined;
}

export interface Decision<Type extends KeyedFactType> extends OpenDecision<Type> {
  readonly decide: () => FactBody<Type>;
}

/** Measures time while it goes; it goes from the start. */
export interface Timer {
  go(): void;
  pause(): void;
  /** Ends it for good. */
  stop(): void;
}

/** `owner`: the call whose limit it is; absent for the run's own. */
export type ReachedLimit = Pick<FactOf<"limit">, "limit" | "allowed" | "owner">;

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
  /** The fact that stands for it, at `key` of the call: where that is recorded, nothing is needed. Default: none does. */
  readonly unless?: PlacedFactType;
  readonly key?: string;
}

/** The need of a call to start. */
export function toStart(callPath: CallPath, signal: AbortSignal): LiveNeed {
  return { callPath, unless: "call-start", what: "its start", signal };
}

/** For runs in which time does not pass. */
export const stillTimer: Timer = { go: () => undefined, pause: () => undefined, stop: () => undefined };
