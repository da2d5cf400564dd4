import { describe, expect, test } from "vitest";
import { KeyedQueue } from "./keyed-queue.ts";
import { Semaphore } from "./semaphore.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("a semaphore", () => {
  test("lets no more in than it is wide, in order, and is given back after failures", async () => {
    const semaphore = new Semaphore(2);
    const order: string[] = [];
    let inside = 0;
    const work = (name: string, fails = false) =>
      semaphore.hold(async () => {
        expect(++inside).toBeLessThanOrEqual(2);
        order.push(name);
        await tick();
        inside--;
        if (fails) throw new Error(name);
      });
    await Promise.allSettled([work("a", true), work("b"), work("c", true), work("d"), work("e")]);
    expect(order).toEqual(["a", "b", "c", "d", "e"]);
    await work("f");
  });

  test("lets nobody wait who was aborted", async () => {
    const semaphore = new Semaphore(1);
    const controller = new AbortController();
    const first = semaphore.hold(tick);
    const second = semaphore.hold(async () => "never", controller.signal);
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    await first;
    await expect(semaphore.hold(async () => "free")).resolves.toBe("free");
  });
});

describe("a keyed queue", () => {
  test("runs what shares a key one after the other, and the rest side by side", async () => {
    const queue = new KeyedQueue();
    const log: string[] = [];
    const work = (name: string, keys: string[]) =>
      queue.run(keys, async () => {
        log.push(`+${name}`);
        await tick();
        log.push(`-${name}`);
      });
    await Promise.all([work("a", ["x"]), work("b", ["x", "y"]), work("c", ["z"]), work("d", ["y"])]);
    const position = (entry: string) => log.indexOf(entry);
    expect(position("-a")).toBeLessThan(position("+b"));
    expect(position("-b")).toBeLessThan(position("+d"));
    expect(position("+c")).toBeLessThan(position("-a"));
    expect(queue.isBusy(["x", "y", "z"])).toBe(false);
  });

  test("goes on after a failure", async () => {
    const queue = new KeyedQueue();
    const failed = queue.run(["x"], () => Promise.reject(new Error("no")));
    const next = queue.run(["x"], async () => "yes");
    await expect(failed).rejects.toThrow("no");
    await expect(next).resolves.toBe("yes");
  });
});
