import { wilsonInterval } from "../util/intervals.ts";

/** The share of successes, and the interval in which the true share lies with 95 % confidence (Wilson's). */
export interface PassRate {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

export function passRate(passed: number, runs: number): PassRate {
  const { estimate, lower, upper } = wilsonInterval(passed, runs);
  return { rate: estimate, low: lower, high: upper };
}

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** `values` must not be empty. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? 0;
  const middle = (sorted.length - 1) / 2;
  return { min: at(0), median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, max: at(sorted.length - 1) };
}
