import type { Clock } from "../host/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { Fact, FactOf, Outcome } from "../protocol/fact.ts";
import { Suspended } from "./activity.ts";
import type { Effect, Effects, Timer } from "./effects.ts";
import { createRunState } from "./run-state.ts";

export interface LiveOptions {
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  /** The journal that keeps the facts; `noJournal` keeps none. Owned by the caller, who closes it. */
  readonly journal: Journal;
}

/** Answers every effect from the world, and records it: the intent ahead of what may change the world, the outcome after it. */
export function createLiveEffects({ clock, journal }: LiveOptions): Effects {
  const state = createRunState();
  const record = (fact: Fact): void => {
    state.apply(fact);
    journal.append(fact);
  };
  const outcomeOf = <T>(effect: Effect<T>, thrown: unknown): Outcome => {
    const { codec } = effect;
    const error = codec.encodeError?.(thrown);
    if (error) return { type: "error", error, ...spentBy(effect) };
    const partial = codec.encodePartial?.(thrown);
    return { type: "interrupted", ...spentBy(effect), ...(partial === undefined ? {} : { partial }) };
  };
  const underWay = new Set<Effect<unknown>>();
  const giveUp = (effect: Effect<unknown>, thrown: unknown): never => {
    underWay.delete(effect);
    throw thrown;
  };
  const perform = async <T>(effect: Effect<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    const { sideEffect, kind } = effect.record;
    if (hasIntent(effect)) record(intentOf(effect));
    // Requests beside one another are written together. A question is not: a call that asks counts as one that waits.
    const written = journal.written({ durable: sideEffect, shared: kind === "model" && underWay.size > 0 });
    underWay.add(effect);
    if (written) await written.catch((thrown: unknown) => giveUp(effect, thrown));
    // A run that ended meanwhile starts nothing.
    if (!underWay.has(effect)) signal.throwIfAborted();
    try {
      const value = await effect.work();
      if (underWay.delete(effect)) record(resultOf(effect, { type: "value", value: effect.codec.encode(value) }));
      return value;
    } catch (thrown) {
      if (underWay.delete(effect) && !(thrown instanceof Suspended)) record(resultOf(effect, outcomeOf(effect, thrown)));
      throw thrown;
    }
  };
  return Object.freeze<Effects>({
    state,
    record,
    recordDurably: async (fact) => {
      record(fact);
      await journal.written({ durable: true });
    },
    perform,
    recall: () => undefined,
    checkLimit: (key, check) => {
      const reached = check();
      if (reached) record({ type: "limit", callPath: key.callPath, key: key.key, ...reached });
      return reached;
    },
    review: () => undefined,
    turnOf: async () => undefined,
    finish: () => undefined,
    abortBelow: (callPath, signal) => {
      if (!signal.aborted) record({ type: "abort", callPath });
      return undefined;
    },
    interruptAll: () => {
      for (const effect of underWay) record(resultOf(effect, { type: "interrupted", ...spentBy(effect) }));
      underWay.clear();
    },
    requireStart: () => undefined,
    recallStart: () => undefined,
    endToReach: () => undefined,
    recallEnd: () => undefined,
    begun: () => undefined,
    isReplayed: () => false,
    onInterruption: () => undefined,
    requireLive: () => undefined,
    sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
    waitToRetry: (milliseconds, _next, signal) => clock.sleep(milliseconds, signal),
    startTimer: (milliseconds, expire) => createTimer(clock, milliseconds, expire),
  });
}

function hasIntent<T>({ record: { sideEffect, announced } }: Effect<T>): boolean {
  return sideEffect || announced;
}

function intentOf<T>({ record: { announced: _, ...intent } }: Effect<T>): FactOf<"intent"> {
  return { type: "intent", ...intent };
}

/** The digest stands in the intent, where there is one. */
function resultOf<T>(effect: Effect<T>, outcome: Outcome): FactOf<"result"> {
  const { callPath, key, kind, digest } = effect.record;
  return hasIntent(effect)
    ? { type: "result", callPath, key, kind, outcome }
    : { type: "result", callPath, key, kind, digest, outcome };
}

function spentBy<T>({ spentByFailure }: Effect<T>): Pick<Extract<Outcome, { readonly type: "error" }>, "usage"> {
  const usage = spentByFailure?.();
  return usage ? { usage } : {};
}

function createTimer(clock: LiveOptions["clock"], milliseconds: number, expire: () => void): Timer {
  let left = milliseconds;
  let started: { readonly at: number; readonly stop: AbortController } | undefined;
  const pause = () => {
    if (!started) return;
    started.stop.abort();
    left -= clock.monotonic() - started.at;
    started = undefined;
  };
  const go = () => {
    if (started) return;
    started = { at: clock.monotonic(), stop: new AbortController() };
    clock.sleep(Math.max(0, left), started.stop.signal).then(expire, () => undefined);
  };
  go();
  return { go, pause, stop: pause };
}
