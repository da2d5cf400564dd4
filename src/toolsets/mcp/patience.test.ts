import { expect, test } from "vitest";
import { memoryHost } from "../../testing/memory-host.ts";
import { createPatience } from "./patience.ts";

test("the time of a call begins anew with progress, and stands still while its user is asked", async () => {
  const { clock } = memoryHost();
  const patience = createPatience(clock, 1000);
  const pass = async (milliseconds: number) => {
    await clock.advance(milliseconds);
    return patience.spent.aborted;
  };
  expect(await pass(900)).toBe(false);
  patience.renew();
  expect(await pass(900)).toBe(false);
  const proceed = patience.pause();
  const alsoProceed = patience.pause();
  expect(await pass(5000)).toBe(false);
  proceed();
  expect(await pass(5000)).toBe(false);
  alsoProceed();
  expect(await pass(900)).toBe(false);
  expect(await pass(100)).toBe(true);
});
