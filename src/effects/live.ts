import type { Clock } from "../host/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { Fact, FactOf, Outcome } from "../protocol/fact.ts";
import { Suspended } from "./activity.ts";
import type { Effect, Effects, Timer } from "./effects.ts";

export interface LiveOptions {
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  /** The journal that keeps the facts; `noJournal` keeps none. Owned by the caller, who closes it. */
  readonly journal: Journal;
}

/** Performs effects in the world, and records them: the intent ahead of what may change the world, the outcome after it. */
export function createPerformer(
  journal: Pick<Journal, "written">,
  record: (fact: Fact) => void,
): Pick<Effects, "perform" | "interruptAll"> {
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
    const writing = journal.written({ durable: sideEffect, shared: kind === "model" && underWay.size > 0 });
    underWay.add(effect);
    if (writing) await writing.catch((thrown: unknown) => giveUp(effect, thrown));
    // A run that ended meanwhile starts nothing.
    if (!underWay.has(effect)) signal.throwIfAborted();
    try {
      const value = await effect.work();
      if (underWay.delete(effect)) record(resultOf(effect, { type: "value", value: effect.codec.encode(value) }));
      return value;
    } catch (thrown) {
      if (underWay.delete(effect) && !(thrown instanceof Suspended)) record(resultOf(effect, failureOf(effect, thrown)));
      throw thrown;
    }
  };
  const interruptAll = () => {
    for (const effect of underWay) record(resultOf(effect, { type: "interrupted", ...spentBy(effect) }));
    underWay.clear();
  };
  return { perform, interruptAll };
}

export function hasIntent<T>({ record: { sideEffect, announced } }: Effect<T>): boolean {
  return sideEffect || announced;
}

export function intentOf<T>({ record: { announced: _, source: __, ...intent } }: Effect<T>): FactOf<"intent"> {
  return { type: "intent", ...intent };
}

/** The digest stands in the intent, where there is one. */
export function resultOf<T>(effect: Effect<T>, outcome: Outcome): FactOf<"result"> {
  const { callPath, key, kind, digest } = effect.record;
  return hasIntent(effect)
    ? { type: "result", callPath, key, kind, outcome }
    : { type: "result", callPath, key, kind, digest, outcome };
}

function failureOf<T>(effect: Effect<T>, thrown: unknown): Outcome {
  const { codec } = effect;
  const error = codec.encodeError?.(thrown);
  if (error) return { type: "error", error, ...spentBy(effect) };
  const partial = codec.encodePartial?.(thrown);
  return { type: "interrupted", ...spentBy(effect), ...(partial === undefined ? {} : { partial }) };
}

function spentBy<T>({ spentByFailure }: Effect<T>): Pick<Extract<Outcome, { readonly type: "error" }>, "usage"> {
  const usage = spentByFailure?.();
  return usage ? { usage } : {};
}

export function createTimer(clock: LiveOptions["clock"], milliseconds: number, expire: () => void): Timer {
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
