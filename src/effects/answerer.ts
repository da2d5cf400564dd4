import type { ApprovalRule, Verdict } from "../protocol/approval.ts";
import type { Fact, FactKey, FactOf, KeyedFactType, Outcome } from "../protocol/fact.ts";
import type { Effect, EffectRecord, Effects, OpenDecision, OutcomeCodec } from "./effects.ts";
import { createPerformer, createTimer, hasIntent, intentOf, type LiveOptions, resultOf } from "./live.ts";
import { createRunState, type RunState } from "./run-state.ts";
import { type FactIndex, type FindFact, indexFacts } from "./standing.ts";

/** The record of an effect, by its key. */
export interface KnownEffect {
  readonly intent: FactOf<"intent"> | undefined;
  readonly result: FactOf<"result"> | undefined;
  /** True if the recorded digest is today's. */
  readonly isSame: boolean;
}

/** The members of `Effects` that wait. A replay has its own, in which no time passes and the recorded order is kept. */
export type Pace = Pick<
  Effects,
  "requireLive" | "turnOf" | "finish" | "abortBelow" | "onInterruption" | "sleep" | "startTimer" | "interruptAll"
>;

/**
 * Says for one run what the facts of an earlier one are good for. All members are optional; without any of them the world answers.
 *
 * A policy is not bound to the keys of its record. One that compares programs answers by content: the digest of a tool call covers the
 * tool's name, its arguments and what was found out about them, and no path. Such an `answer` keeps a map from `KIND DIGEST` to the
 * recorded outcome, returns what it finds there, and where it finds nothing counts the call as missing and returns a failure
 * (`{ type: "value", value: { ok: false, error } }`) or throws a `RequestChanged`, which ends the run.
 */
export interface Answers {
  /**
   * Returns the outcome of an effect: a recorded one, or one that is made up. Undefined: the world answers. Throws what the effect rejects
   * with.
   */
  readonly answer?: (effect: EffectRecord, known: KnownEffect) => Outcome | undefined;
  /**
   * Returns the form in which an intent or a result is recorded that does not come from the world; `was` is the recorded one. Absent: it is
   * not recorded.
   */
  readonly copy?: (fact: FactOf<"intent"> | FactOf<"result">, was: FactOf<"intent"> | FactOf<"result"> | undefined) => Fact;
  /** Called with each fact before it is recorded; returns false for one that is left out. `isPerformed`: it is of an effect in the world. */
  readonly accept?: (fact: Fact, isPerformed: boolean) => boolean;
  readonly recall?: FindFact;
  /** Called with a recorded verdict that stands, and with what makes it anew. */
  readonly review?: (recorded: FactOf<"verdict">, again: (given: readonly ApprovalRule[]) => Verdict | undefined) => void;
  readonly begun?: Effects["begun"];
  readonly isReplayed?: Effects["isReplayed"];
  /** How much of its time a call used up in earlier attempts, in milliseconds. */
  readonly elapsed?: (callPath: string) => number;
  /** True if requests are never made again after a wait. */
  readonly isImpatient?: boolean;
  /** True if the record has every limit that was reached. */
  readonly knowsLimits?: boolean;
  /** Resolves when it is the turn of a recorded outcome. Rejects if it is missing, or was interrupted. */
  readonly arrival?: (effect: EffectRecord, known: KnownEffect, signal: AbortSignal) => Promise<void>;
  readonly pace?: Pace;
}

/** The run that a policy is for. */
export interface AnsweredRun {
  readonly state: RunState;
  /** As `Effects.record`. */
  readonly record: (fact: Fact) => void;
}

/** Called once for a run, before anything is recorded. */
export type AnswerPolicy = (record: FactIndex, run: AnsweredRun) => Answers;

export interface AnswererOptions {
  readonly live: LiveOptions;
  /** All facts of an earlier run, each at its number, with the content of their blobs. Default: none. */
  readonly facts?: readonly Fact[];
  /** Default: the world answers everything. */
  readonly policy?: AnswerPolicy;
}

/** Creates the answerer of a run's effects: of the world, of the facts of an earlier run, or of both. */
export function createAnswerer({ live, facts = [], policy = () => ({}) }: AnswererOptions): Effects {
  const { journal } = live;
  const state = createRunState();
  const put = (fact: Fact, isPerformed: boolean): void => {
    if (answers.accept?.(fact, isPerformed) === false) return;
    state.apply(fact);
    journal.append(fact);
  };
  const record = (fact: Fact): void => put(fact, false);
  const index = indexFacts(facts);
  const answers = policy(index, { state, record });
  const performer = createPerformer(journal, (fact) => put(fact, true));
  const recall: Effects["recall"] = answers.recall ?? (() => undefined);
  const perform = answers.answer ? createRecordedPerform(index, answers, { record, performer }) : performer.perform;
  return Object.freeze<Effects>({
    state,
    record,
    onDisk: async () => journal.written({ durable: true }),
    recall,
    decideOnce: createDecideOnce(answers, { record, recall }) as Effects["decideOnce"],
    isReviewing: answers.review !== undefined,
    begun: answers.begun ?? (() => undefined),
    isReplayed: answers.isReplayed ?? (() => false),
    ...livePace(live, answers, { record: (fact) => put(fact, true), recall }),
    ...performer,
    ...answers.pace,
    perform,
  });
}

interface Recorder {
  readonly record: (fact: Fact) => void;
}

/** Lets the world answer what the record does not. */
function createRecordedPerform(
  { find }: FactIndex,
  { answer, copy, arrival }: Answers,
  { record, performer }: Recorder & { readonly performer: Pick<Effects, "perform"> },
): Effects["perform"] {
  return async <T>(effect: Effect<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    const [intent, result] = [find("intent", effect.record), find("result", effect.record)];
    const known = { intent, result, isSame: (result?.digest ?? intent?.digest) === effect.record.digest };
    if (!intent && !result) await arrival?.(effect.record, known, signal);
    const outcome = answer?.(effect.record, known);
    if (!outcome) return performer.perform(effect, signal);
    if (copy) {
      if (hasIntent(effect)) record(copy(intentOf(effect), intent));
      await effect.repeat?.();
      await arrival?.(effect.record, known, signal);
      record(copy(resultOf(effect, outcome), result));
    }
    return decodeOutcome(effect.codec, outcome);
  };
}

function decodeOutcome<T>(codec: OutcomeCodec<T>, outcome: Outcome): T {
  if (outcome.type === "value") return codec.decode(outcome.value);
  throw outcome.type === "error"
    ? codec.decodeError?.(outcome.error)
    : new Error("invariant: an interrupted effect has no outcome");
}

function createDecideOnce({ review, knowsLimits }: Answers, { record, recall }: Recorder & Pick<Effects, "recall">) {
  return (type: KeyedFactType, { callPath, key }: FactKey, { decide, again }: OpenDecision<KeyedFactType>): Fact | undefined => {
    const recorded: Fact | undefined = recall(type, { callPath, key });
    if (recorded?.type === "verdict" && again) review?.(recorded, (given) => again(given, recorded));
    // A request that has its outcome was allowed.
    if (!recorded && type === "limit" && (knowsLimits || recall("result", { callPath, key }))) return undefined;
    const body = recorded ?? decide();
    const fact = recorded ?? (body && ({ type, callPath, key, ...body } as Fact));
    if (fact) record(fact);
    return fact;
  };
}

function livePace(
  { clock }: LiveOptions,
  { elapsed, isImpatient }: Answers,
  { record, recall }: Recorder & Pick<Effects, "recall">,
): Omit<Pace, "interruptAll"> {
  return {
    requireLive: () => undefined,
    turnOf: async () => undefined,
    finish: () => undefined,
    abortBelow: (callPath, signal) => {
      if (!signal.aborted) record({ type: "abort", callPath });
      return undefined;
    },
    onInterruption: () => undefined,
    sleep: (milliseconds, signal, next) =>
      next && (isImpatient || recall("intent", next)) ? Promise.resolve() : clock.sleep(milliseconds, signal),
    startTimer: (milliseconds, expire, limit) =>
      createTimer(clock, Math.max(0, milliseconds - (limit ? (elapsed?.(limit.callPath) ?? 0) : 0)), expire),
  };
}
