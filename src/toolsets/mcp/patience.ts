import type { Clock } from "../../host/host.ts";

/** The time that a call may take without a sign of life. */
export interface Patience {
  /** Aborts when the time is up. */
  readonly spent: AbortSignal;
  /** Begins the time anew. */
  renew(): void;
  end(): void;
}

export function createPatience(clock: Clock, milliseconds: number): Patience {
  const spent = new AbortController();
  const over = new AbortController();
  let deadline = clock.monotonic() + milliseconds;
  const watch = async () => {
    for (let left = milliseconds; left > 0; left = deadline - clock.monotonic()) await clock.sleep(left, over.signal);
    spent.abort(new Error("no answer and no progress"));
  };
  watch().catch(() => undefined);
  return {
    spent: spent.signal,
    renew: () => {
      deadline = clock.monotonic() + milliseconds;
    },
    end: () => over.abort(new Error("the call has ended")),
  };
}
