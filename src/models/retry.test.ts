import { expect, test } from "vitest";
import { ModelError } from "./model.ts";
import { describeSurrender, readRetryAfter, retryDelay, toRetryPolicy } from "./retry.ts";

function error(retryable: boolean, retryAfterMilliseconds?: number): ModelError {
  return new ModelError({ code: "overloaded", model: "a:b", message: "no", retryable, retryAfterMilliseconds });
}

test("doubles, with jitter, and gives up after four retries", () => {
  expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(error(true), { attempt: attempt, random: 0 }))).toEqual([
    250,
    500,
    1000,
    2000,
    undefined,
  ]);
  expect([1, 4].map((attempt) => retryDelay(error(true), { attempt: attempt, random: 0.999 }))).toEqual([500, 3998]);
});

test("does not retry what cannot help", () => {
  expect(retryDelay(error(false), { attempt: 1, random: 0 })).toBeUndefined();
  expect(retryDelay(error(false, 10), { attempt: 1, random: 0 })).toBeUndefined();
});

test("never comes back before it was asked to, and not at all for a long wait", () => {
  expect(retryDelay(error(true, 20_000), { attempt: 1, random: 0 })).toBe(20_000);
  expect(retryDelay(error(true, 20_000), { attempt: 1, random: 0.5 })).toBe(20_250);
  expect(retryDelay(error(true, 0), { attempt: 3, random: 0 })).toBe(0);
  expect(retryDelay(error(true, 120_000), { attempt: 1, random: 0 })).toBe(120_000);
  expect(retryDelay(error(true, 120_001), { attempt: 1, random: 0 })).toBeUndefined();
});

test("as often, and after as long a wait, as a worker wants", () => {
  const policy = toRetryPolicy({ max_retries: 1, max_retry_wait: 600 });
  expect(retryDelay(error(true, 600_000), { attempt: 1, random: 0, policy })).toBe(600_000);
  expect(retryDelay(error(true, 600_001), { attempt: 1, random: 0, policy })).toBeUndefined();
  expect(retryDelay(error(true), { attempt: 2, random: 0, policy })).toBeUndefined();
  expect(retryDelay(error(true), { attempt: 1, random: 0, policy: toRetryPolicy({ max_retries: 0 }) })).toBeUndefined();
});

test("says why there is no further attempt", () => {
  const policy = toRetryPolicy({});
  expect(describeSurrender(error(true), 5, policy)).toBe("; 5 attempts were made");
  expect(describeSurrender(error(true, 86_400_000), 1, policy)).toContain("wait for 86400 s, and the longest wait is 120 s");
  expect(describeSurrender(error(false), 1, policy)).toBe("");
});

const date = "Wed, 21 Oct 2026 07:28:00 GMT";

test.each([
  [{}, undefined],
  [{ "retry-after": "3" }, 3000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "120", "retry-after": "3" }, 120],
  [{ "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date }, 30_000],
  [{ "retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", date }, 0],
  [{ "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT" }, undefined],
  [{ "retry-after": "soon", date }, undefined],
  [{ "retry-after": "-5" }, undefined],
])("%j", (headers, milliseconds) => {
  expect(readRetryAfter(headers as Record<string, string>)).toBe(milliseconds);
});
