import type { Clock } from "../host/host.ts";
import type { Verdict } from "../protocol/approval.ts";
import { type CallPath, withCallers } from "../protocol/call.ts";
import type { Fact, FactOf } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import { abortable } from "../util/abortable.ts";
import { describeChange, findChangedInstruction, type InstructionLine } from "./describe-change.ts";
import { type Effect, type EffectRecord, type Effects, type Interruption, type LiveNeed, stillTimer } from "./effects.ts";
import { FactOrder } from "./fact-order.ts";
import { againKey, runTimeKey, timeKey } from "./keys.ts";
import { openQuestions } from "./open-questions.ts";
import type { RequestChanged } from "./resumed.ts";
import { createRunState } from "./run-state.ts";
import { createFinder, standingFacts } from "./standing.ts";

/**
 * A replayed run asked for something that the record does not hold. It becomes the failure of its call, as any error does, and the
 * difference that the replay reports.
 */
export class ReplayMiss extends Error {
  constructor(callPath: CallPath, what: string) {
    super(`the record holds no answer for ${what} (${callPath})`);
    this.name = "ReplayMiss";
  }
}

/**
 * A model request or a connection whose digest is not the recorded one: the program, or what it computes, is different today. Calls of
 * tools and questions are taken from the record with their digests; another call is a difference of facts.
 */
export interface Drift {
  readonly callPath: CallPath;
  readonly key: string;
  readonly kind: EffectRecord["kind"];
  /** The effect as the run would perform it today. */
  readonly today: JsonObject;
  /** In words: `main, turn 3: the instructions changed at line 12`. Absent where an earlier request of the call is different already. */
  readonly change?: string;
  /** The first line of the instructions that is different, where these are. */
  readonly instruction?: InstructionLine;
}

/** A call that would be allowed, asked or blocked otherwise today. Its outcome was taken from the record all the same. */
export interface ChangedVerdict {
  readonly callPath: CallPath;
  readonly tool: string;
  readonly recorded: Verdict;
  readonly today: Verdict;
}

/** In turns, as `FactOrder` counts them: an effect that something is known to have interrupted waits longer for it. */
const interruptedPatience = 1000;

export interface ReplayedEffects extends Effects {
  /** The facts that the replay recorded, in its own order. */
  readonly facts: readonly Fact[];
  readonly drifts: readonly Drift[];
  readonly verdicts: readonly ChangedVerdict[];
}

/**
 * Answers every effect from the facts of an earlier run, and never from the world. What the record lacks was not reached: where
 * a call above did not come to its end, the effect waits for the signal, as long as anything happens; otherwise it rejects with a
 * `ReplayMiss`.
 * `recorded` are the facts of the earlier run, with the content of their blobs; `clock` is a real one.
 */
export function createReplayedEffects(recorded: readonly Fact[], clock: Clock): ReplayedEffects {
  const { facts: standing, lost } = standingFacts(recorded);
  const index = indexFacts(standing);
  const state = createRunState();
  for (const fact of lost) state.spend(fact);
  const facts: Fact[] = [];
  const drifts: Drift[] = [];
  const verdicts: ChangedVerdict[] = [];
  /** The rules that the run was given, by its attempts. */
  const attempts = recorded.flatMap((fact) => (fact.type === "run-start" || fact.type === "attempt" ? [fact.rules ?? []] : []));
  let interrupt = (_reason: Interruption): void => undefined;
  const order = new FactOrder(standing, clock);
  let isEnded = false;
  const record = (fact: Fact): void => {
    if (isEnded) return;
    isEnded = fact.type === "run-end";
    facts.push(fact);
    state.apply(fact);
    order.happened(fact);
  };
  /**
   * The recorded run did not get further here: something else ended it, or ended what is above. That comes again by itself (the failure
   * of a call beside it), or is brought about (an abort, a time that was up). A program that does something else today may wait in vain.
   */
  const unwind = async ({ callPath, what, signal }: LiveNeed, patience?: number): Promise<never> => {
    const found = index.interruptionOf(callPath);
    if (found) order.turnOf(found.fact).then(() => interrupt(found.reason));
    await abortable(order.stalled(patience), signal);
    throw new ReplayMiss(callPath, what);
  };
  const miss = (need: LiveNeed): Promise<never> =>
    index.isCutShort(need.callPath) ? unwind(need) : Promise.reject(new ReplayMiss(need.callPath, need.what));
  const interrupted = new Set<() => void>();
  const perform = async <T>(effect: Effect<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    const { callPath, key, kind, digest, sideEffect, announced, detail } = effect.record;
    const found = index.find("result", effect.record);
    const intent = index.find("intent", effect.record);
    if (!found && !intent) return miss({ callPath, what: key, signal });
    if ((found?.digest ?? intent?.digest) !== digest)
      drifts.push({ callPath, key, kind, today: detail, ...describeDrift(drifts, { recorded: intent, today: effect.record }) });
    if (sideEffect || announced)
      record({ type: "intent", callPath, key, kind, digest, sideEffect, detail: { ...detail, ...boundsOf(intent) } });
    await effect.repeat?.();
    if (!found) return miss({ callPath, what: key, signal });
    const { outcome } = found;
    const end = () => record(found.digest === undefined ? found : { ...found, digest });
    if (outcome.type === "interrupted") {
      const interruptOnce = () => void (interrupted.delete(interruptOnce) && end());
      interrupted.add(interruptOnce);
      return unwind({ callPath, what: key, signal }, interruptedPatience).finally(interruptOnce);
    }
    // A completed effect was consumed, even if the run was stopped meanwhile.
    await abortable(order.turnOf(found), signal).catch(() => undefined);
    end();
    if (outcome.type === "value") return effect.codec.decode(outcome.value);
    throw effect.codec.decodeError?.(outcome.error);
  };
  return Object.freeze<ReplayedEffects>({
    state,
    facts,
    drifts,
    verdicts,
    record,
    recordDurably: async (fact) => record(fact),
    perform,
    checkLimit: (key) => {
      const reached = index.find("limit", key);
      if (reached) record(reached);
      return reached;
    },
    recall: (type, key) => index.find(type, key),
    review: (fact, judge) => {
      const today = attempts.map((given) => judge(given));
      const verdict = today.at(-1);
      if (!verdict || today.some((one) => one?.type === fact.verdict.type)) return;
      verdicts.push({ callPath: fact.callPath, tool: fact.tool, recorded: fact.verdict, today: verdict });
    },
    turnOf: (fact) => order.turnOf(fact),
    finish: (callPath, signal) => {
      if (callPath === undefined) return index.lastFact && abortable(order.turnOf(index.lastFact), signal);
      const end = index.ended.get(callPath);
      // One that came to its end did so also if the run was stopped meanwhile.
      if (end && end.stopReason !== "aborted") return order.turnOf(end);
      return index.isCutShort(callPath) ? unwind({ callPath, what: "its end", signal }) : undefined;
    },
    abortBelow: (callPath, signal) => {
      const found = index.aborts.get(callPath);
      if (found) return order.turnOf(found).then(() => record(found));
      // It was aborted from above.
      return signal.aborted ? undefined : miss({ callPath, what: "its abort", signal }).catch(() => undefined);
    },
    interruptAll: () => {
      for (const end of interrupted) end();
    },
    requireStart: (callPath, signal) => (index.starts.has(callPath) ? undefined : miss({ callPath, what: "its start", signal })),
    recallStart: (callPath) => index.starts.get(callPath),
    recallEnd: () => undefined,
    endToReach: (callPath) => index.ended.get(callPath),
    begun: () => undefined,
    isReplayed: () => false,
    onInterruption: (end) => {
      interrupt = end;
    },
    requireLive: miss,
    sleep: async (_milliseconds, signal) => signal.throwIfAborted(),
    waitToRetry: async (_milliseconds, _next, signal) => signal.throwIfAborted(),
    // Code that waits for something else than an effect is ended when nothing else happens.
    startTimer: (_milliseconds, expire, limit) => {
      const reached = limit && index.find("limit", limit);
      let isStopped = false;
      if (reached) order.turnOf(reached).then(() => order.stalled().then(() => isStopped || expire()));
      const stop = () => {
        isStopped = true;
      };
      return { ...stillTimer, stop };
    },
  });
}

function describeDrift(earlier: readonly Drift[], change: Pick<RequestChanged, "recorded" | "today">) {
  if (earlier.some(({ callPath }) => callPath === change.today.callPath)) return {};
  const instruction = findChangedInstruction(change);
  return { change: describeChange(change), ...(instruction ? { instruction } : {}) };
}

function indexFacts(facts: readonly Fact[]) {
  const find = createFinder(facts);
  const starts = new Map<CallPath, FactOf<"call-start">>();
  const ended = new Map<CallPath, FactOf<"call-end">>();
  const aborts = new Map<CallPath, FactOf<"abort">>();
  let end: FactOf<"run-end"> | undefined;
  for (const fact of facts) {
    if (fact.type === "call-start") starts.set(fact.callPath, fact);
    if (fact.type === "call-end") ended.set(fact.callPath, fact);
    if (fact.type === "abort") aborts.set(fact.callPath, fact);
    if (fact.type === "run-end") end = fact;
  }
  // The effects that its end interrupted stand before it.
  const lastFact = end && facts[facts.slice(0, -1).findLastIndex((fact) => !isInterrupted(fact)) + 1];
  /** True for code that did not come to its end: a person said what came of it. */
  const isTakenAsDone = (callPath: CallPath): boolean => {
    const decision = find("decision", { callPath, key: againKey("") });
    return decision?.decision.type === "deny";
  };
  /** Returns true if the call, or one above it, did not complete. */
  const isCutShort = (callPath: CallPath): boolean =>
    end?.stopReason !== "done" ||
    [...withCallers(callPath)].some(
      (path) => starts.has(path) && (ended.get(path)?.stopReason !== "done" || isTakenAsDone(path)),
    );
  const interruptionOf = (callPath: CallPath): { readonly reason: Interruption; readonly fact: Fact } | undefined => {
    for (const path of withCallers(callPath)) {
      const own = find("limit", { callPath: path, key: timeKey });
      if (own) return { reason: { type: "time-up", owner: path }, fact: own };
      const ofRun = find("limit", { callPath: path, key: runTimeKey });
      if (ofRun) return { reason: { type: "time-up" }, fact: ofRun };
    }
    if (end?.stopReason === "suspended") return { reason: { type: "suspended", questions: openQuestions(facts) }, fact: end };
    if (end && end.stopReason !== "aborted") return undefined;
    const fact = facts.find(isUnwound) ?? end ?? facts.at(-1);
    return fact && { reason: { type: "aborted", message: end?.reason ?? "the record ends here" }, fact };
  };
  return { find, starts, ended, aborts, lastFact, isCutShort, interruptionOf };
}

/** The bounds of a request: they depend on what ran beside it. */
function boundsOf(intent: FactOf<"intent"> | undefined): JsonObject {
  const { allowance, reserved } = intent?.detail ?? {};
  return { ...(allowance === undefined ? {} : { allowance }), ...(reserved === undefined ? {} : { reserved }) };
}

/** The first trace of an abort by the user, which is no fact of its own. */
function isUnwound(fact: Fact): boolean {
  return isInterrupted(fact) || (fact.type === "call-end" && fact.stopReason === "aborted");
}

function isInterrupted(fact: Fact): boolean {
  return fact.type === "result" && fact.outcome.type === "interrupted";
}
