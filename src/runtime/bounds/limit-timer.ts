import { runTimeKey, timeKey } from "../../effects/keys.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { RuntimeConfig } from "../config.ts";
import { LimitReached } from "../run-error.ts";

export interface TimedCall {
  /** Undefined: no limit. */
  readonly seconds: number | undefined;
  readonly callPath: CallPath;
  /** Whose limit it is; undefined for the run's own. */
  readonly owner: CallPath | undefined;
  readonly controller: AbortController;
}

/**
 * Aborts with `LimitReached` when the time is over, or where the recorded run's was. The time in which all that goes on waits for a person
 * does not count. Returns a function that stops the timer.
 */
export function startLimitTimer(run: RuntimeConfig, { seconds: allowed, callPath, owner, controller }: TimedCall): () => void {
  if (allowed === undefined) return () => undefined;
  const key = owner === undefined ? runTimeKey : timeKey;
  const reached = { limit: "seconds" as const, allowed, ...(owner === undefined ? {} : { owner }) };
  const expire = () => {
    if (!run.timeUp.delete(owner)) return;
    run.effects.record({ type: "limit", callPath, key, ...reached });
    controller.abort(new LimitReached(reached));
  };
  run.timeUp.set(owner, expire);
  const timer = run.effects.startTimer(allowed * 1000, expire, { callPath, key });
  const stopListening = run.activity.onChange(() => {
    if (run.activity.isWaitingForPerson(callPath)) timer.pause();
    else timer.go();
  });
  return () => {
    stopListening();
    timer.stop();
    run.timeUp.delete(owner);
  };
}
