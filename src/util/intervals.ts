/** A share, or a difference of two, with the ends of its interval. */
export interface Interval {
  readonly estimate: number;
  readonly lower: number;
  readonly upper: number;
}

/** Two-sided 95 % quantile of the normal distribution. */
const z95 = 1.959963984540054;

/**
 * The 95 % score interval of a share: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927),
 * 209–212. `hits` of `count` trials; with no trials the interval is the whole range, and the estimate is NaN.
 */
export function wilsonInterval(hits: number, count: number, z = z95): Interval {
  if (count === 0) return { estimate: Number.NaN, lower: 0, upper: 1 };
  const estimate = hits / count;
  const spread = z * Math.sqrt(z * z + 4 * hits * (1 - estimate));
  const scale = 2 * (count + z * z);
  const middle = 2 * hits + z * z;
  return {
    estimate,
    lower: hits === 0 ? 0 : (middle - spread) / scale,
    upper: hits === count ? 1 : (middle + spread) / scale,
  };
}

/** Outcomes of two answerers on the same cases: how often both hit, the first alone, the second alone, neither. */
export interface PairedCounts {
  readonly both: number;
  readonly first: number;
  readonly second: number;
  readonly neither: number;
}

/**
 * The 95 % interval of the difference of two shares that were taken on the same cases (the first minus the second): R. G. Newcombe,
 * "Improved confidence intervals for the difference between binomial proportions based on paired data", Statistics in Medicine 17 (1998),
 * 2635–2650, method 10 (two score intervals, with the continuity-corrected correlation). With no cases: from -1 to 1.
 */
export function pairedDifference({ both, first, second, neither }: PairedCounts): Interval {
  const count = both + first + second + neither;
  if (count === 0) return { estimate: Number.NaN, lower: -1, upper: 1 };
  const one = wilsonInterval(both + first, count);
  const other = wilsonInterval(both + second, count);
  const phi = correlation({ both, first, second, neither });
  const estimate = (first - second) / count;
  const side = (a: number, b: number) => Math.sqrt(Math.max(0, a * a - 2 * phi * a * b + b * b));
  return {
    estimate,
    lower: estimate - side(one.estimate - one.lower, other.upper - other.estimate),
    upper: estimate + side(one.upper - one.estimate, other.estimate - other.lower),
  };
}

export interface Hits {
  readonly hits: number;
  readonly count: number;
}

/**
 * The 95 % interval of the difference of two shares that were taken on different cases (the first minus the second): R. G. Newcombe, "Interval
 * estimation for the difference between independent proportions", Statistics in Medicine 17 (1998), 873–890, method 10.
 */
export function differenceOfShares(first: Hits, second: Hits): Interval {
  const [one, other] = [wilsonInterval(first.hits, first.count), wilsonInterval(second.hits, second.count)];
  const estimate = one.estimate - other.estimate;
  return {
    estimate,
    lower: estimate - Math.hypot(one.estimate - one.lower, other.upper - other.estimate),
    upper: estimate + Math.hypot(one.upper - one.estimate, other.estimate - other.lower),
  };
}

/** The 95 % interval of the difference of two means (the first minus the second): B. L. Welch, Biometrika 34 (1947). Two values each, at least. */
export function differenceOfMeans(first: readonly number[], second: readonly number[]): Interval {
  const [one, other] = [spreadOfMean(first), spreadOfMean(second)];
  const estimate = one.mean - other.mean;
  const variance = one.variance + other.variance;
  if (variance === 0) return { estimate, lower: estimate, upper: estimate };
  const freedom = variance ** 2 / (one.variance ** 2 / (first.length - 1) + other.variance ** 2 / (second.length - 1));
  const spread = quantileOfT(freedom) * Math.sqrt(variance);
  return { estimate, lower: estimate - spread, upper: estimate + spread };
}

/** `values` must not be empty. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean, and the variance of it. */
function spreadOfMean(values: readonly number[]): { readonly mean: number; readonly variance: number } {
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) / values.length };
}

/** Quantiles for the first degrees of freedom. */
const quantilesOfT = [12.706, 4.303, 3.182, 2.776, 2.571];

/** The two-sided 95 % quantile of Student's t: from a table, then by the expansion of Cornish and Fisher, to three places. */
function quantileOfT(freedom: number): number {
  const whole = Math.max(1, Math.floor(freedom));
  const z = z95;
  return (
    quantilesOfT[whole - 1] ??
    z +
      (z ** 3 + z) / (4 * whole) +
      (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * whole ** 2) +
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * whole ** 3)
  );
}

/** Newcombe's estimate of the correlation; 0 where a margin is empty. */
function correlation({ both, first, second, neither }: PairedCounts): number {
  const count = both + first + second + neither;
  const margins = (both + first) * (second + neither) * (both + second) * (first + neither);
  if (margins === 0) return 0;
  const product = both * neither - first * second;
  const corrected = product > count / 2 ? product - count / 2 : Math.min(product, 0);
  return corrected / Math.sqrt(margins);
}

/**
 * About how many cases in all would tell a difference of this size from none: the fewest at which its interval no longer holds 0, with each
 * outcome as frequent as it was seen. Infinity where as many hit on both sides.
 */
export function casesToTell({ both, first, second, neither }: PairedCounts): number {
  const count = both + first + second + neither;
  if (first === second) return Number.POSITIVE_INFINITY;
  const tells = (cases: number) => {
    const of = (outcome: number) => (outcome * cases) / count;
    const { lower, upper } = pairedDifference({ both: of(both), first: of(first), second: of(second), neither: of(neither) });
    return lower > 0 || upper < 0;
  };
  let most = 1;
  while (!tells(most)) most *= 2;
  let least = Math.floor(most / 2);
  while (most - least > 1) {
    const middle = Math.floor((least + most) / 2);
    if (tells(middle)) most = middle;
    else least = middle;
  }
  return most;
}
