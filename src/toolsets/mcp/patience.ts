import type { Clock } from "../../host/host.ts";

/** Timer of a call, which each sign of progress resets. */
export interface Patience {
  /** Aborts when the time is up. */
  readonly spent: AbortSignal;
  /** Resets the timer. */
  renew(): void;
  /** Stops the timer until the returned function is called, which resets it. */
  pause(): () => void;
  end(): void;
}

export function createPatience(clock: Clock, milliseconds: number): Patience {
  const spent = new AbortController();
  const over = new AbortController();
  let deadline = clock.monotonic() + milliseconds;
  let pauses = 0;
  const timeLeft = () => (pauses > 0 ? milliseconds : deadline - clock.monotonic());
  const renew = () => {
    deadline = clock.monotonic() + milliseconds;
  };
  const watch = async () => {
    for (let left = timeLeft(); left > 0; left = timeLeft()) await clock.sleep(left, over.signal);
    spent.abort(new Error("no answer and no progress"));
  };
  watch().catch(() => undefined);
  return {
    spent: spent.signal,
    renew,
    pause: () => {
      pauses++;
      return () => {
        pauses--;
        renew();
      };
    },
    end: () => over.abort(new Error("the call has ended")),
  };
}
