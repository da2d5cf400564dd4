import { describe, expect, test } from "vitest";
import { SharedBudget } from "../util/shared-budget.ts";
import { passRate, spreadOf } from "./statistics.ts";

describe("the interval of a pass rate", () => {
  test.each([
    [8, 10, 0.4902, 0.9433],
    [40, 50, 0.6696, 0.8876],
    [0, 5, 0, 0.4345],
    [5, 5, 0.5655, 1],
    [1, 1, 0.2065, 1],
  ])("%i of %i", (passed, runs, low, high) => {
    const found = passRate(passed, runs);
    expect(found.rate).toBe(passed / runs);
    expect(found.low).toBeCloseTo(low, 3);
    expect(found.high).toBeCloseTo(high, 3);
  });
});

test("a spread has the middle of an even number of values", () => {
  expect(spreadOf([4, 1, 3, 2])).toEqual({ min: 1, median: 2.5, max: 4 });
  expect(spreadOf([7])).toEqual({ min: 7, median: 7, max: 7 });
});

describe("a budget", () => {
  test("is divided among runs side by side, and gets back what they leave", () => {
    const budget = new SharedBudget(1, 2);
    expect([budget.take(), budget.take()]).toEqual([0.5, 0.5]);
    expect(budget.take()).toBe("spent");
    budget.settle(0.5, 0.1);
    expect(budget.take()).toBeCloseTo(0.4);
  });

  test("that is not set limits nothing", () => {
    const budget = new SharedBudget(undefined, 1);
    expect(budget.take()).toBeUndefined();
    budget.settle(undefined, 5);
    expect(budget.take()).toBeUndefined();
  });
});
