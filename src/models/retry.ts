import type { ModelError } from "./model.ts";

const baseMilliseconds = 500;
const capMilliseconds = 30_000;
const maxRetries = 4;
const longestRetryAfter = 120_000;

/**
 * How long to wait before the next attempt, in milliseconds; `undefined`: give up. `attempt` is the number of the attempt
 * that failed, from 1; `random` is from 0 (inclusive) to 1 (exclusive). What the provider asks for is kept to, and given up
 * on when it is too long; otherwise the delay doubles from half a second to thirty, half of it jitter.
 */
export function retryDelay(error: ModelError, attempt: number, random: number): number | undefined {
  if (!error.retryable || attempt > maxRetries) return undefined;
  const asked = error.retryAfterMilliseconds;
  if (asked !== undefined && asked > longestRetryAfter) return undefined;
  const backOff = Math.min(capMilliseconds, baseMilliseconds * 2 ** (attempt - 1));
  const jittered = Math.round(backOff / 2 + (backOff / 2) * random);
  return asked === undefined ? jittered : Math.round(asked + baseMilliseconds * random);
}
