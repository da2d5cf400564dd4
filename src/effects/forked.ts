import { noJournal } from "../journal/journal.ts";
import { type CallPath, isAtOrBelow } from "../protocol/call.ts";
import type { Fact } from "../protocol/fact.ts";
import { noUsage } from "../protocol/usage.ts";
import type { Effect, Effects } from "./effects.ts";
import { createResumedEffects } from "./resumed.ts";
import { createFinder, idOf, standingFacts } from "./standing.ts";

export interface ForkedOptions {
  /** Answers what is not shared, and records everything in the journal of the new run. */
  readonly live: Effects;
  /** The facts that the new run takes over; the last one is an `attempt` that says which of them answer nothing. */
  readonly shared: readonly Fact[];
  /** The path of the entry, where it begins with another input. Default: it begins with the recorded one. */
  readonly entry?: CallPath;
}

/**
 * Begins a run with the outcomes of another one, which it records as its own, marked `shared`: they are not charged. A model request
 * gets its recorded answer also where it is different today, since the program is what a fork changes. Everything else is as
 * in a run that goes on.
 */
export function createForkedEffects({ live, shared, entry }: ForkedOptions): Effects {
  // Knows which recorded decisions still hold.
  const earlier = createResumedEffects({
    clock: { sleep: live.sleep, monotonic: () => 0 },
    journal: noJournal,
    recorded: shared,
    times: [],
  });
  const { facts } = standingFacts(shared);
  const find = createFinder(facts);
  for (const fact of shared) live.state.reserve(fact);
  const paths = new Set(facts.flatMap((fact) => ("callPath" in fact ? [fact.callPath] : [])));
  const fresh = new Set<CallPath>();
  const recorded = new Set<string>();
  const record = (fact: Fact): void => {
    recorded.add(idOf(fact));
    earlier.record(fact);
    live.record(fact);
  };
  const perform = async <T>(effect: Effect<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    const { announced, detail, ...identity } = effect.record;
    const { callPath, key, kind, digest, sideEffect } = identity;
    const [found, intent] = [find("result", effect.record), find("intent", effect.record)];
    const isSame = kind === "model" || (found?.digest ?? intent?.digest) === digest;
    if (!found || found.outcome.type === "interrupted" || kind === "connect" || !isSame) {
      fresh.add(callPath);
      return live.perform(effect, signal);
    }
    if (sideEffect || announced) record({ type: "intent", ...identity, detail });
    await effect.repeat?.();
    record({ ...found, callPath, key, ...(found.digest === undefined ? {} : { digest }), shared: true });
    if (found.outcome.type === "error") throw effect.codec.decodeError?.(found.outcome.error);
    return effect.codec.decode(found.outcome.value);
  };
  /** Takes over all that is recorded of a call that ended: it is not entered. */
  const copyCall = (callPath: CallPath): void => {
    for (const fact of facts) {
      if (!("callPath" in fact) || recorded.has(idOf(fact))) continue;
      if (isAtOrBelow(fact.callPath, callPath)) record(asShared(fact));
    }
  };
  return Object.freeze<Effects>({
    ...live,
    perform,
    record,
    recordDurably: async (fact) => {
      recorded.add(idOf(fact));
      earlier.record(fact);
      await live.recordDurably(fact);
    },
    recall: (type, key) => earlier.recall(type, key),
    checkLimit: (key, check) => {
      const known = find("limit", key);
      if (known) record(known);
      return known ?? (find("result", key) ? undefined : live.checkLimit(key, check));
    },
    recallStart: (callPath) => (callPath === entry ? undefined : earlier.recallStart(callPath)),
    recallEnd: (callPath) => {
      const end = earlier.recallEnd(callPath);
      if (end) copyCall(callPath);
      return end;
    },
    waitToRetry: (milliseconds, next, signal) => earlier.waitToRetry(milliseconds, next, signal),
    begun: (key) => earlier.begun(key),
    isReplayed: (callPath) => paths.has(callPath) && !fresh.has(callPath),
  });
}

function asShared(fact: Fact): Fact {
  if (fact.type === "result") return { ...fact, shared: true };
  return fact.type === "call-end" ? { ...fact, usage: noUsage } : fact;
}
