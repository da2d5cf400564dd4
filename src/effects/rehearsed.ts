import type { JsonObject } from "../protocol/json.ts";
import type { EffectRecord, Effects } from "./effects.ts";
import { createRunState } from "./run-state.ts";

/** An effect that a rehearsal came to, and did not perform. */
export class Rehearsed extends Error {
  readonly effect: EffectRecord;
  /** Of the call that it belongs to. */
  readonly input: JsonObject;

  constructor(effect: EffectRecord, input: JsonObject) {
    super(`a rehearsal performs no effect, and came to ${effect.kind} (${effect.callPath})`);
    this.name = "Rehearsed";
    this.effect = effect;
    this.input = input;
  }
}

/**
 * Looks at the world and changes nothing. A tool is taken to return null; every other effect rejects with a `Rehearsed`. Time does
 * not pass.
 */
export function createRehearsedEffects(): Effects {
  const state = createRunState();
  const inputs = new Map<string, JsonObject>();
  const record: Effects["record"] = (fact) => {
    state.apply(fact);
    if (fact.type === "call-start") inputs.set(fact.callPath, fact.input.input as JsonObject);
  };
  return Object.freeze<Effects>({
    state,
    record,
    recordDurably: async (fact) => record(fact),
    perform: async ({ record: effect, codec }) => {
      if (effect.kind === "tool") return codec.decode({ ok: true, value: null });
      throw new Rehearsed(effect, inputs.get(effect.callPath) ?? {});
    },
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
