import { describe, expect, it } from "vitest";
import { casesToTell, differenceOfMeans, differenceOfShares, pairedDifference, wilsonInterval } from "./intervals.ts";

/** A generator of fractions (mulberry32), so that a simulation is the same each time. */
function fractions(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe("wilsonInterval", () => {
  /** R. G. Newcombe, Statistics in Medicine 17 (1998), 857–872, table I, method 3: to four places. */
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("has the published ends for %i of %i", (hits, count, lower, upper) => {
    const interval = wilsonInterval(hits, count);
    expect(interval.lower).toBeCloseTo(lower, 4);
    expect(interval.upper).toBeCloseTo(upper, 4);
  });

  it("is the whole range without trials", () => expect(wilsonInterval(0, 0)).toMatchObject({ lower: 0, upper: 1 }));

  it("covers a known share in 93 to 97 of 100 simulated comparisons", () => {
    const next = fractions(1);
    for (const [share, count] of [
      [0.93, 200],
      [0.8, 100],
      [0.5, 60],
    ] as const) {
      const covered = Array.from({ length: 2_000 }).filter(() => {
        const hits = Array.from({ length: count }).filter(() => next() < share).length;
        const { lower, upper } = wilsonInterval(hits, count);
        return lower <= share && share <= upper;
      }).length;
      expect(covered / 2_000, `${share} of ${count}`).toBeGreaterThan(0.93);
      expect(covered / 2_000, `${share} of ${count}`).toBeLessThan(0.97);
    }
  });

  it("is more than were seen wherever their interval holds 0", () => {
    for (let first = 0; first <= 40; first++)
      for (let second = 0; second < first; second++) {
        const counts = { both: 100 - first - second, first, second, neither: 0 };
        const isTold = pairedDifference(counts).lower > 0;
        expect(casesToTell(counts) <= 100, `${first} to ${second}`).toBe(isTold);
      }
  });
});

describe("pairedDifference", () => {
  /** R. G. Newcombe, Statistics in Medicine 17 (1998), 2635–2650, table III, method 10: e, f, g, h. */
  it.each([
    [36, 12, 2, 0, 0.0569, 0.3404],
    [20, 12, 2, 16, 0.0562, 0.3292],
    [18, 12, 2, 18, 0.0562, 0.329],
  ])("has the published ends for %i, %i, %i, %i", (both, first, second, neither, lower, upper) => {
    const interval = pairedDifference({ both, first, second, neither });
    expect(interval.lower).toBeCloseTo(lower, 4);
    expect(interval.upper).toBeCloseTo(upper, 4);
  });

  it("turns its sign with its sides", () => {
    const one = pairedDifference({ both: 30, first: 9, second: 3, neither: 8 });
    const other = pairedDifference({ both: 30, first: 3, second: 9, neither: 8 });
    expect(one.lower).toBeCloseTo(-other.upper, 10);
    expect(one.upper).toBeCloseTo(-other.lower, 10);
  });

  it("covers a known difference in 93 to 97.5 of 100 simulated comparisons", () => {
    const next = fractions(7);
    // The first answers right in 93 %, the second in 100 % of the cases that it has in common, and 86 % of the rest.
    for (const [first, second, count] of [
      [0.9, 0.83, 200],
      [0.7, 0.6, 120],
    ] as const) {
      const covered = Array.from({ length: 2_000 }).filter(() => {
        const counts = { both: 0, first: 0, second: 0, neither: 0 };
        for (let index = 0; index < count; index++) {
          const [one, other] = [next() < first, next() < second];
          counts[one ? (other ? "both" : "first") : other ? "second" : "neither"]++;
        }
        const { lower, upper } = pairedDifference(counts);
        return lower <= first - second && first - second <= upper;
      }).length;
      expect(covered / 2_000).toBeGreaterThan(0.93);
      expect(covered / 2_000).toBeLessThan(0.975);
    }
  });

  it("knows nothing without cases", () =>
    expect(pairedDifference({ both: 0, first: 0, second: 0, neither: 0 })).toMatchObject({ lower: -1, upper: 1 }));
});

describe("differenceOfShares", () => {
  /** R. G. Newcombe, Statistics in Medicine 17 (1998), 873–890, table II, method 10. */
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [10, 10, 0, 10, 0.6075, 1],
  ])("has the published ends for %i of %i and %i of %i", (hits, count, otherHits, otherCount, lower, upper) => {
    const interval = differenceOfShares({ hits, count }, { hits: otherHits, count: otherCount });
    expect(interval.lower).toBeCloseTo(lower, 4);
    expect(interval.upper).toBeCloseTo(upper, 4);
  });
});

describe("differenceOfMeans", () => {
  it("covers a known difference in 93 to 97 of 100 simulated sets of runs", () => {
    const next = fractions(3);
    // The sum of six fractions is nearly normal; one set varies twice as much.
    const draw = (mean: number, scale: number) =>
      mean + scale * (Array.from({ length: 6 }, next).reduce((sum, one) => sum + one) - 3);
    for (const [size, other] of [
      [3, 3],
      [5, 12],
      [20, 20],
    ] as const) {
      const covered = Array.from({ length: 2_000 }).filter(() => {
        const [first, second] = [Array.from({ length: size }, () => draw(9, 2)), Array.from({ length: other }, () => draw(7, 1))];
        const { lower, upper } = differenceOfMeans(first, second);
        return lower <= 2 && 2 <= upper;
      }).length;
      expect(covered / 2_000, `${size} and ${other}`).toBeGreaterThan(0.93);
      // Few degrees of freedom are rounded down.
      expect(covered / 2_000, `${size} and ${other}`).toBeLessThan(size < 5 ? 0.985 : 0.97);
    }
  });

  it("is exact where nothing varies", () =>
    expect(differenceOfMeans([2, 2], [3, 3, 3])).toEqual({ estimate: -1, lower: -1, upper: -1 }));
});

describe("casesToTell", () => {
  it("grows as the difference shrinks", () => {
    const seven = casesToTell({ both: 93, first: 7, second: 0, neither: 0 });
    const one = casesToTell({ both: 99, first: 1, second: 0, neither: 0 });
    expect(seven).toBeLessThan(80);
    expect(pairedDifference({ both: 0.93 * seven, first: 0.07 * seven, second: 0, neither: 0 }).lower).toBeGreaterThan(0);
    expect(one).toBeGreaterThan(seven);
    expect(casesToTell({ both: 9, first: 1, second: 1, neither: 0 })).toBe(Number.POSITIVE_INFINITY);
  });

  it("is more than were seen wherever their interval holds 0", () => {
    for (let first = 0; first <= 40; first++)
      for (let second = 0; second < first; second++) {
        const counts = { both: 100 - first - second, first, second, neither: 0 };
        const isTold = pairedDifference(counts).lower > 0;
        expect(casesToTell(counts) <= 100, `${first} to ${second}`).toBe(isTold);
      }
  });
});
