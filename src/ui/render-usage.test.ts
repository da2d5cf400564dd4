import { expect, test } from "vitest";
import { noUsage } from "../protocol/usage.ts";
import { renderUsage } from "./render-usage.ts";

test("an estimate is marked", () => {
  const usage = { ...noUsage, requests: 1, inputTokens: 1200, outputTokens: 30, estimatedTokens: 1230, usd: 0.5 };
  expect(renderUsage(usage)).toBe("1 request, 1,200 tokens in, 30 out, 1,230 of them estimated, about $0.50");
});

test.each([
  [0.012, " (the cache saved $0.012)"],
  [-0.5, " (the cache cost $0.50)"],
  [1e-12, ""],
])("a cache that saved %d dollars", (savedUsd, shown) => {
  const usage = { ...noUsage, requests: 1, inputTokens: 9, cachedInputTokens: 4, usd: 2, savedUsd };
  expect(renderUsage(usage)).toBe(`1 request, 9 tokens in (4 cached), 0 out, $2.00${shown}`);
});

test.each([
  [undefined, ""],
  [0, ", $0.00"],
  [0.000_012_34, ", $0.0000123"],
  [0.004_7, ", $0.0047"],
  [0.0472, ", $0.0472"],
  [0.5, ", $0.50"],
  [0.999_9, ", $1.00"],
  [12.345, ", $12.35"],
])("%d dollars", (usd, shown) => {
  const usage = { ...noUsage, requests: 1, ...(usd === undefined ? {} : { usd }) };
  expect(renderUsage(usage)).toBe(`1 request, 0 tokens in, 0 out${shown}`);
});
