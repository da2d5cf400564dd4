import { Suspended } from "../../effects/activity.ts";
import type { Interruption } from "../../effects/effects.ts";
import type { RuntimeConfig } from "../config.ts";

/** Ends a call whose time was up in the recorded run, or the run that its user aborted. */
export function endAsRecorded(run: RuntimeConfig, reason: Interruption, abort: (reason: unknown) => void): void {
  if (reason.type === "time-up") run.timeUp.get(reason.owner)?.();
  else abort(reason.type === "suspended" ? new Suspended(reason.questions) : new Error(reason.message));
}
