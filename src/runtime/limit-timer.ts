import type { Clock } from "../host/host.ts";
import type { CallPath } from "../protocol/call.ts";
import { LimitReached } from "./run-error.ts";

export interface LimitTimer {
  /** Undefined: no limit. */
  readonly seconds: number | undefined;
  /** Whose limit it is; undefined for the run's own. */
  readonly owner: CallPath | undefined;
  readonly controller: AbortController;
}

/** Aborts with `LimitReached` when the time is over. Gives what stops the clock. */
export function startLimitTimer(clock: Clock, { seconds: allowed, owner, controller }: LimitTimer): () => void {
  const stop = new AbortController();
  if (allowed !== undefined) {
    const expire = () => controller.abort(new LimitReached({ limit: "seconds", allowed, owner }));
    clock.sleep(allowed * 1000, stop.signal).then(expire, () => undefined);
  }
  return () => stop.abort();
}
