import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { queryObjects, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";

/** Everything that a process can keep of a run that is over. */
export interface Census {
  /** Watched objects that are still reachable. */
  readonly kept: number;
  /** Bytes in use after a collection. */
  readonly heap: number;
  readonly descriptors: number;
  /** Timers, sockets and processes. */
  readonly resources: readonly string[];
  readonly children: number;
  /** Listeners of this process, and of the given long-lived signal. */
  readonly listeners: number;
  readonly warnings: readonly string[];
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const warnings: string[] = [];
process.on("warning", ({ name, message }) => {
  if (name !== "ExperimentalWarning") warnings.push(`${name}: ${message}`);
});

/** Objects of single runs. What belongs to a run and is kept keeps some of them. */
export class Watched {
  #refs: WeakRef<object>[] = [];

  add(...objects: readonly object[]): void {
    for (const one of objects) this.#refs.push(new WeakRef(one));
  }

  count(): number {
    collect();
    this.#refs = this.#refs.filter((ref) => ref.deref() !== undefined);
    return this.#refs.length;
  }
}

/** Functions and promises that are reachable: all of the process. Takes seconds. */
export function countClosures(): number {
  return queryObjects(Function, { format: "count" }) + queryObjects(Promise, { format: "count" });
}

/** Counts as soon as `isQuiet`, at the latest after 200 looks. */
export async function takeCensus(
  watched: Watched,
  isQuiet: (census: Census) => boolean,
  listeners: () => number = () => 0,
): Promise<Census> {
  for (let round = 0; ; round++) {
    // A reference that was looked at lives until the next turn.
    await delay(50);
    const census: Census = {
      kept: watched.count(),
      heap: process.memoryUsage().heapUsed,
      descriptors: existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0,
      resources: process.getActiveResourcesInfo().filter((kind) => /Timeout|Immediate|TCPSocket|Process|Worker/.test(kind)),
      children: countChildren(),
      listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), listeners()),
      warnings,
    };
    if (isQuiet(census) || round === 200) return census;
  }
}

function countChildren(): number {
  const tasks = `/proc/${process.pid}/task`;
  if (!existsSync(tasks)) return 0;
  return readdirSync(tasks).reduce((sum, task) => {
    const list = existsSync(`${tasks}/${task}/children`) ? readFileSync(`${tasks}/${task}/children`, "utf8") : "";
    return sum + list.split(" ").filter(Boolean).length;
  }, 0);
}

/** Compares what is left after some runs with what is left after more. */
export function expectFlat(before: Census, after: Census): void {
  const { kept, children, resources, warnings } = after;
  expect({ kept, children, resources, warnings }).toEqual({ kept: 0, children: 0, resources: [], warnings: [] });
  expect(after.listeners).toBeLessThanOrEqual(before.listeners);
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
}
