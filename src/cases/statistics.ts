/** The share of successes, and the interval in which the true share lies with 95 % confidence (Wilson's). */
export interface PassRate {
  readonly rate: number;
  readonly low: number;
  readonly high: number;
}

/** The quantile of the normal distribution for 95 %. */
const z = 1.959964;

/** Wilson's interval stays between 0 and 1, and holds for few runs and for rates near the ends. */
export function passRate(passed: number, runs: number): PassRate {
  const rate = passed / runs;
  const [square, scale] = [z * z, 1 + (z * z) / runs];
  const center = (rate + square / (2 * runs)) / scale;
  const margin = (z / scale) * Math.sqrt((rate * (1 - rate)) / runs + square / (4 * runs * runs));
  // Exact at the ends, where rounding would leave a little.
  return { rate, low: passed === 0 ? 0 : center - margin, high: passed === runs ? 1 : center + margin };
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
