import { describe, expect, test } from "vitest";
import { Semaphore } from "./async/semaphore.ts";
import { type Hold, type Ticket, Tickets } from "./async/tickets.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("a semaphore", () => {
  test("gives out no more slots than it is wide, in order", async () => {
    const semaphore = new Semaphore(2);
    const order: string[] = [];
    let inside = 0;
    const work = async (name: string) => {
      const leave = await semaphore.take();
      expect(++inside).toBeLessThanOrEqual(2);
      order.push(name);
      await tick();
      inside--;
      leave();
    };
    await Promise.all(["a", "b", "c", "d", "e"].map(work));
    expect(order).toEqual(["a", "b", "c", "d", "e"]);
    await work("f");
  });

  test("lets nobody wait who was aborted", async () => {
    const semaphore = new Semaphore(1);
    const controller = new AbortController();
    const leave = await semaphore.take();
    const second = semaphore.take(controller.signal);
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    leave();
    await expect(semaphore.take()).resolves.toBeTypeOf("function");
  });
});

describe("tickets", () => {
  const change = (key: string): Hold => ({ key, mode: "change" });
  const modes = ["change", "read", "change-below", "read-below"] as const;

  /** Takes a ticket for each entry at once, and logs when its turn begins and ends. */
  async function play(tickets: Tickets, calls: readonly { readonly name: string; readonly holds: readonly Hold[] }[]) {
    const log: string[] = [];
    const taken = calls.map(({ name, holds }) => ({ name, ticket: tickets.take(holds) }));
    await Promise.all(
      taken.map(async ({ name, ticket }) => {
        await ticket.turn();
        log.push(`+${name}`);
        await tick();
        log.push(`-${name}`);
        ticket.release();
      }),
    );
    return log;
  }

  test("give those that share a key their turn in order, and run the rest side by side", async () => {
    const tickets = new Tickets();
    const log = await play(tickets, [
      { name: "a", holds: [change("x")] },
      { name: "b", holds: [change("x"), change("y")] },
      { name: "c", holds: [change("z")] },
      { name: "d", holds: [change("y")] },
    ]);
    const inOrder = (...entries: string[]) => expect(log.filter((entry) => entries.includes(entry))).toEqual(entries);
    inOrder("+a", "-a", "+b", "-b", "+d", "-d");
    inOrder("+c", "-a");
    await tick();
    expect(tickets.take(["x", "y", "z"].map(change)).waits).toBe(false);
  });

  test.each([
    ["change", ""],
    ["read", "read, read-below"],
    ["change-below", "change-below, read-below"],
    ["read-below", "read, change-below, read-below"],
  ] as const)("let only some share a key with one that holds it as %s: %s", (mode, shared) => {
    const beside = modes.filter((other) => {
      const tickets = new Tickets();
      tickets.take([{ key: "x", mode }]);
      return !tickets.take([{ key: "x", mode: other }]).waits;
    });
    expect(beside.join(", ")).toBe(shared);
  });

  test("a ticket that gives up lets nobody pass who must wait for an earlier one", async () => {
    const tickets = new Tickets();
    const controller = new AbortController();
    const log: string[] = [];
    const [first, second, third] = [1, 2, 3].map(() => tickets.take([change("x")])) as [Ticket, Ticket, Ticket];
    const given = second.turn(controller.signal).finally(second.release);
    const last = third.turn().then(() => log.push("third"));
    controller.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    await tick();
    log.push("first");
    first.release();
    await last;
    expect(log).toEqual(["first", "third"]);
  });

  test("are given back after a failure", async () => {
    const tickets = new Tickets();
    const failed = tickets.alone("x", () => Promise.reject(new Error("no")));
    const next = tickets.alone("x", async () => "yes");
    await expect(failed).rejects.toThrow("no");
    await expect(next).resolves.toBe("yes");
  });
});
