import { expect, test } from "vitest";
import { splitSettings, toPatience } from "./patience.ts";

test.each([
  [{}, [10, 1800, 1800]],
  [{ timeout: 60 }, [10, 60, 60]],
  [{ connect_timeout: 0.5 }, [0.5, 1800, 1800]],
  [{ timeout: 60, first_byte_timeout: 600 }, [10, 600, 60]],
  [{ timeout: 60, idle_timeout: 5, connect_timeout: 2 }, [2, 60, 5]],
])("%j waits for %j seconds", (settings, [connect = 0, firstByte = 0, idle = 0]) => {
  expect(toPatience(settings)).toEqual({ connect: connect * 1000, firstByte: firstByte * 1000, idle: idle * 1000 });
});

test("what a request asks for has no time-outs and no retries", () => {
  expect(splitSettings({ temperature: 1, timeout: 60, idle_timeout: 5, max_retries: 2, max_retry_wait: 1 })).toEqual({
    timeouts: { timeout: 60, idle_timeout: 5 },
    asked: { temperature: 1 },
  });
});
