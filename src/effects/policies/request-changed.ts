import type { FactOf } from "../../protocol/fact.ts";
import type { EffectRecord } from "../effects.ts";

/** A request that is not the recorded one: the program, or what it computes, is different today. */
export class RequestChanged extends Error {
  /** As it was recorded; undefined if its result alone is. */
  readonly recorded: FactOf<"intent"> | undefined;
  readonly today: EffectRecord;

  constructor(recorded: FactOf<"intent"> | undefined, today: EffectRecord) {
    super(`${today.key} of ${today.callPath} is not what was recorded`);
    this.name = "RequestChanged";
    this.recorded = recorded;
    this.today = today;
  }
}
