import type { Clock } from "../host/host.ts";

/** A clock that stands still until a test advances it. */
export interface MemoryClock extends Clock {
  /** Moves time on. Sleepers that are due wake in order. */
  advance(milliseconds: number): Promise<void>;
}

interface Sleeper {
  readonly until: number;
  wake(): void;
}

export function createMemoryClock(start: number): MemoryClock {
  let now = start;
  let sleepers: Sleeper[] = [];
  return {
    now: () => now,
    monotonic: () => now - start,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          reject(signal?.reason);
        };
        const wake = () => {
          signal?.removeEventListener("abort", stop);
          resolve();
        };
        const sleeper: Sleeper = { until: now + milliseconds, wake };
        signal?.addEventListener("abort", stop, { once: true });
        sleepers.push(sleeper);
      }),
    advance: async (milliseconds) => {
      const end = now + milliseconds;
      for (let next = earliest(sleepers, end); next !== undefined; next = earliest(sleepers, end)) {
        const woken = next;
        sleepers = sleepers.filter((other) => other !== woken);
        now = Math.max(now, woken.until);
        woken.wake();
        // A sleeper that woke may sleep again within the remaining time.
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

function earliest(sleepers: readonly Sleeper[], end: number): Sleeper | undefined {
  return sleepers.filter((sleeper) => sleeper.until <= end).sort((a, b) => a.until - b.until)[0];
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}
