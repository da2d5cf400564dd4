import type { ModelError, ModelSettings } from "./model.ts";

const baseMilliseconds = 500;
const capMilliseconds = 30_000;

/** The attempts and waits that a worker allows its provider. */
export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number;
  /** The longest wait that a provider may ask for, in milliseconds. */
  readonly longestWait: number;
}

const defaults: RetryPolicy = { maxRetries: 4, longestWait: 120_000 };

export function toRetryPolicy({ max_retries: retries, max_retry_wait: wait }: ModelSettings): RetryPolicy {
  return {
    maxRetries: retries ?? defaults.maxRetries,
    longestWait: wait === undefined ? defaults.longestWait : wait * 1000,
  };
}

/**
 * How long to wait before the next attempt, in milliseconds; `undefined`: give up. `attempt` is the number of the attempt
 * that failed, from 1; `random` is from 0 (inclusive) to 1 (exclusive). What the provider asks for is kept to, and given up
 * on when it is too long; otherwise the delay doubles from half a second to thirty, half of it jitter.
 */
export function retryDelay(
  error: ModelError,
  { attempt, random, policy = defaults }: { readonly attempt: number; readonly random: number; readonly policy?: RetryPolicy },
): number | undefined {
  if (!error.retryable || attempt > policy.maxRetries) return undefined;
  const asked = error.retryAfterMilliseconds;
  if (asked !== undefined && asked > policy.longestWait) return undefined;
  const backOff = Math.min(capMilliseconds, baseMilliseconds * 2 ** (attempt - 1));
  const jittered = Math.round(backOff / 2 + (backOff / 2) * random);
  return asked === undefined ? jittered : Math.round(asked + baseMilliseconds * random);
}

/** Returns why there is no further attempt, to continue the error's message. Empty if the error itself says so. */
export function describeSurrender(error: ModelError, attempt: number, policy: RetryPolicy): string {
  if (!error.retryable) return "";
  const asked = error.retryAfterMilliseconds ?? 0;
  if (attempt <= policy.maxRetries && asked > policy.longestWait) {
    return `; it asks to wait for ${asked / 1000} s, and the longest wait is ${policy.longestWait / 1000} s (\`model_settings.max_retry_wait\`)`;
  }
  return `; ${attempt} ${attempt === 1 ? "attempt was" : "attempts were"} made`;
}

/**
 * Reads the wait that a provider's headers ask for, in milliseconds. A date is compared with the answer's own `date`, because the
 * clocks of two machines differ.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const exact = readNumber(headers["retry-after-ms"]);
  if (exact !== undefined) return exact;
  const after = headers["retry-after"];
  if (after === undefined) return undefined;
  const seconds = readNumber(after);
  if (seconds !== undefined) return Math.round(seconds * 1000);
  const milliseconds = Date.parse(after) - Date.parse(headers["date"] ?? "");
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined;
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
