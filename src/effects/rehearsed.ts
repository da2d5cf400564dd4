import type { EffectRecord, Effects } from "./effects.ts";
import { createRunState } from "./run-state.ts";

/** An effect that a rehearsal came to, and did not perform. */
export class Rehearsed extends Error {
  readonly effect: EffectRecord;

  constructor(effect: EffectRecord) {
    super(`a rehearsal performs no effect, and came to ${effect.kind} (${effect.callPath})`);
    this.name = "Rehearsed";
    this.effect = effect;
  }
}

/** Looks at the world and changes nothing: every effect rejects with a `Rehearsed` in place of an outcome. Time does not pass. */
export function createRehearsedEffects(): Effects {
  const state = createRunState();
  return Object.freeze<Effects>({
    state,
    record: (fact) => state.apply(fact),
    recordDurably: async (fact) => state.apply(fact),
    perform: ({ record }) => Promise.reject(new Rehearsed(record)),
    recall: () => undefined,
    checkLimit: (_key, check) => check(),
    turnOf: async () => undefined,
    reach: () => undefined,
    finish: () => undefined,
    recallStart: () => undefined,
    onInterruption: () => undefined,
    look: () => undefined,
    sleep: async (_milliseconds, signal) => signal.throwIfAborted(),
    startTimer: () => () => undefined,
  });
}
