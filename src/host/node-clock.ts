import { setTimeout } from "node:timers/promises";
import type { Clock } from "./host.ts";

const longestTimer = 2 ** 31 - 1;

/** The machine's own time. */
export const nodeClock: Clock = {
  now: () => Date.now(),
  // Not from `performance`, with which Node loads its tools to measure with.
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
  sleep: async (milliseconds, signal) => {
    signal?.throwIfAborted();
    try {
      // Timers count in 32 bits, and a longer one would fire at once.
      let left = milliseconds;
      for (; left > longestTimer; left -= longestTimer)
        await setTimeout(longestTimer, undefined, signal === undefined ? {} : { signal });
      await setTimeout(left, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // The timer rejects with an error of its own: ours is the signal's reason.
      signal?.throwIfAborted();
      throw error;
    }
  },
};
