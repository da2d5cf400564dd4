import type { Clock } from "../host/host.ts";
import { noJournal } from "../journal/journal.ts";
import type { Fact } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import { type EffectRecord, type Effects, stillTimer } from "./effects.ts";
import { createLiveEffects } from "./live.ts";

/** An effect that a rehearsal came to, and did not perform. */
export class Rehearsed extends Error {
  readonly effect: EffectRecord;
  /** The input of the call that it belongs to. */
  readonly input: JsonObject;

  constructor(effect: EffectRecord, input: JsonObject) {
    super(`a rehearsal performs no effect, and came to ${effect.kind} (${effect.callPath})`);
    this.name = "Rehearsed";
    this.effect = effect;
    this.input = input;
  }
}

const stillClock: Pick<Clock, "sleep" | "monotonic"> = {
  sleep: async (_milliseconds, signal) => signal?.throwIfAborted(),
  monotonic: () => 0,
};

/**
 * Looks at the world and changes nothing. A tool is taken to return null, and a connection to offer no tools; every other effect
 * rejects with a `Rehearsed`. Time does not pass.
 */
export function createRehearsedEffects(): Effects {
  const inputs = new Map<string, JsonObject>();
  const append = (fact: Fact) => {
    if (fact.type === "call-start") inputs.set(fact.callPath, fact.input.input as JsonObject);
  };
  return Object.freeze<Effects>({
    ...createLiveEffects({ clock: stillClock, journal: { ...noJournal, append } }),
    perform: async ({ record: effect, codec }) => {
      if (effect.kind === "connect") return codec.decode({ tools: [], fingerprint: "" });
      if (effect.kind === "tool") return codec.decode({ ok: true, value: null });
      throw new Rehearsed(effect, inputs.get(effect.callPath) ?? {});
    },
    startTimer: () => stillTimer,
  });
}
