import type { Clock } from "../../host/host.ts";
import { type CallPath, withCallers } from "../../protocol/call.ts";
import type { Fact, FactOf } from "../../protocol/fact.ts";
import { abortable } from "../../util/async/abortable.ts";
import type { Answers, Pace } from "../answerer.ts";
import { type Interruption, type LiveNeed, stillTimer } from "../effects.ts";
import { againKey, runTimeKey, timeKey } from "../keys.ts";
import { openQuestions } from "../open-questions.ts";
import type { FactIndex } from "../standing.ts";
import { FactOrder } from "./fact-order.ts";

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

/** In turns, as `FactOrder` counts them: an effect that something is known to have interrupted waits longer for it. */
const interruptedPatience = 1000;

interface ReplayedRun {
  readonly clock: Clock;
  readonly record: (fact: Fact) => void;
}

/**
 * The order and the time of a recorded run, kept by its replay. What the record lacks was not reached: where a call above did not come to
 * its end, what asks for it waits for the signal, as long as anything happens; otherwise it rejects with a `ReplayMiss`.
 */
export function createRecordedPace(
  index: FactIndex,
  { clock, record }: ReplayedRun,
): { readonly happened: (fact: Fact) => void; readonly pace: Pace; readonly arrival: NonNullable<Answers["arrival"]> } {
  const order = new FactOrder(index.facts, clock);
  const { miss, unwind, onInterruption } = createUnwinding(index, order);
  const { arrival, interruptAll } = createArrivals(order, { miss, unwind, record });
  const need = (callPath: CallPath, what: string, signal: AbortSignal): LiveNeed => ({ callPath, what, signal });
  const lastFact = lastOf(index);
  return {
    happened: (fact) => order.happened(fact),
    arrival,
    pace: {
      interruptAll,
      onInterruption,
      turnOf: (fact) => order.turnOf(fact),
      requireLive: (wanted) => (wanted.unless && index.find(wanted.unless, wanted) ? undefined : miss(wanted)),
      finish: (callPath, signal) => {
        if (callPath === undefined) return lastFact && abortable(order.turnOf(lastFact), signal).then(() => undefined);
        const end = index.find("call-end", { callPath });
        // One that came to its end did so also if the run was stopped meanwhile.
        if (end && end.stopReason !== "aborted") return order.turnOf(end).then(() => end);
        return isCutShort(index, callPath) ? unwind(need(callPath, "its end", signal)) : undefined;
      },
      abortBelow: (callPath, signal) => {
        const found = index.find("abort", { callPath });
        if (found) return order.turnOf(found).then(() => record(found));
        // It was aborted from above.
        return signal.aborted ? undefined : miss(need(callPath, "its abort", signal)).catch(() => undefined);
      },
      sleep: async (_milliseconds, signal) => signal.throwIfAborted(),
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
    },
  };
}

type Unwind = (need: LiveNeed, patience?: number) => Promise<never>;

function createUnwinding(index: FactIndex, order: FactOrder) {
  let interrupt = (_reason: Interruption): void => undefined;
  /**
   * The recorded run did not get further here: something else ended it, or ended what is above. That comes again by itself (the failure
   * of a call beside it), or is brought about (an abort, a time that was up). A program that does something else today may wait in vain.
   */
  const unwind: Unwind = async ({ callPath, what, signal }, patience) => {
    const found = interruptionOf(index, callPath);
    if (found) order.turnOf(found.fact).then(() => interrupt(found.reason));
    await abortable(order.stalled(patience), signal);
    throw new ReplayMiss(callPath, what);
  };
  const miss = (need: LiveNeed): Promise<never> =>
    isCutShort(index, need.callPath) ? unwind(need) : Promise.reject(new ReplayMiss(need.callPath, need.what));
  const onInterruption: Pace["onInterruption"] = (end) => {
    interrupt = end;
  };
  return { miss, unwind, onInterruption };
}

interface Waits extends Pick<ReplayedRun, "record"> {
  readonly miss: Unwind;
  readonly unwind: Unwind;
}

function createArrivals(order: FactOrder, { miss, unwind, record }: Waits) {
  const interrupted = new Set<() => void>();
  const arrival: Answers["arrival"] = async ({ callPath, key, digest }, { result }, signal) => {
    const need = { callPath, what: key, signal };
    if (!result) return miss(need);
    if (result.outcome.type !== "interrupted") {
      // A completed effect was consumed, even if the run was stopped meanwhile.
      await abortable(order.turnOf(result), signal).catch(() => undefined);
      return;
    }
    const end = () => void (interrupted.delete(end) && record(result.digest === undefined ? result : { ...result, digest }));
    interrupted.add(end);
    await unwind(need, interruptedPatience).finally(end);
  };
  const interruptAll = () => {
    for (const end of interrupted) end();
  };
  return { arrival, interruptAll };
}

/** The last fact of a run that ended, before the effects that its end interrupted. */
function lastOf({ facts }: FactIndex): Fact | undefined {
  const end = endOf(facts);
  return end && facts[facts.slice(0, -1).findLastIndex((fact) => !isInterrupted(fact)) + 1];
}

function endOf(facts: readonly Fact[]): FactOf<"run-end"> | undefined {
  return facts.findLast((fact) => fact.type === "run-end");
}

/** Returns true if the call, or one above it, did not complete. */
function isCutShort({ facts, find }: FactIndex, callPath: CallPath): boolean {
  /** True for code that did not come to its end: a person said what came of it. */
  const isTakenAsDone = (path: CallPath) => find("decision", { callPath: path, key: againKey("") })?.decision.type === "deny";
  const isCut = (path: CallPath) =>
    find("call-start", { callPath: path }) !== undefined &&
    (find("call-end", { callPath: path })?.stopReason !== "done" || isTakenAsDone(path));
  return endOf(facts)?.stopReason !== "done" || [...withCallers(callPath)].some(isCut);
}

interface FoundInterruption {
  readonly reason: Interruption;
  readonly fact: Fact;
}

function interruptionOf({ facts, find }: FactIndex, callPath: CallPath): FoundInterruption | undefined {
  for (const path of withCallers(callPath)) {
    const own = find("limit", { callPath: path, key: timeKey });
    if (own) return { reason: { type: "time-up", owner: path }, fact: own };
    const ofRun = find("limit", { callPath: path, key: runTimeKey });
    if (ofRun) return { reason: { type: "time-up" }, fact: ofRun };
  }
  const end = endOf(facts);
  if (end?.stopReason === "suspended") return { reason: { type: "suspended", questions: openQuestions(facts) }, fact: end };
  if (end && end.stopReason !== "aborted") return undefined;
  const fact = facts.find(isUnwound) ?? end ?? facts.at(-1);
  return fact && { reason: { type: "aborted", message: end?.reason ?? "the record ends here" }, fact };
}

/** The first trace of an abort by the user, which is no fact of its own. */
function isUnwound(fact: Fact): boolean {
  return isInterrupted(fact) || (fact.type === "call-end" && fact.stopReason === "aborted");
}

function isInterrupted(fact: Fact): boolean {
  return fact.type === "result" && fact.outcome.type === "interrupted";
}
