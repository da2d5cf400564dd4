import type { Clock } from "../../host/host.ts";
import { noJournal } from "../../journal/journal.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { abortable } from "../../util/async/abortable.ts";
import { createAnswerer } from "../answerer.ts";
import type { EffectRecord, Effects } from "../effects.ts";

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

/** Time does not pass. */
const stillClock: Pick<Clock, "sleep" | "monotonic"> = {
  sleep: (_milliseconds, signal) => {
    const forever = new Promise<never>(() => undefined);
    return signal ? abortable(forever, signal) : forever;
  },
  monotonic: () => 0,
};

/**
 * Looks at the world and changes nothing. A tool is taken to return null, and a connection to offer no tools; every other effect
 * rejects with a `Rehearsed`.
 */
export function createRehearsedEffects(): Effects {
  const inputs = new Map<string, JsonObject>();
  return createAnswerer({
    live: { clock: stillClock, journal: noJournal },
    policy: () => ({
      accept: (fact) => {
        if (fact.type === "call-start") inputs.set(fact.callPath, fact.input.input as JsonObject);
        return true;
      },
      answer: (effect) => {
        if (effect.kind === "connect") return { type: "value", value: { tools: [], fingerprint: "" } };
        if (effect.kind === "tool") return { type: "value", value: { ok: true, value: null } };
        throw new Rehearsed(effect, inputs.get(effect.callPath) ?? {});
      },
    }),
  });
}
