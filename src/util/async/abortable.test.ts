import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { abortable, follow } from "./abortable.ts";

test("all that wait for a signal share one listener, and leave none", async () => {
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, "abort").length;
  const own = new AbortController();
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const waiting = [first, second].map(({ promise }) => abortable(promise, signal));
  const leave = follow(signal, own);
  expect(listeners()).toBe(1);
  first.resolve("a");
  second.reject(new Error("b"));
  expect(await Promise.allSettled(waiting)).toMatchObject([{ value: "a" }, { reason: new Error("b") }]);
  expect(listeners()).toBe(1);
  leave();
  leave();
  expect([listeners(), own.signal.aborted]).toEqual([0, false]);
});

test("an abort reaches all that still wait, in their order, and those that come later", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const order: string[] = [];
  const never = new Promise<never>(() => undefined);
  const controllers = ["first", "left", "last"].map((name) => {
    const own = new AbortController();
    own.signal.addEventListener("abort", () => order.push(name));
    return { own, leave: follow(signal, own) };
  });
  const waits = abortable(never, signal);
  controllers[1]?.leave();
  controller.abort("why");
  expect(order).toEqual(["first", "last"]);
  await expect(waits).rejects.toBe("why");
  await expect(abortable(never, signal)).rejects.toBe("why");
  const late = new AbortController();
  follow(signal, late)();
  expect(late.signal.reason).toBe("why");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
