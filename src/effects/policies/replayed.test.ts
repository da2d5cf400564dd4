import { describe, expect, test } from "vitest";
import { nodeClock } from "../../host/node-clock.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Fact } from "../../protocol/fact.ts";
import { noUsage } from "../../protocol/usage.ts";
import { memoryHost } from "../../testing/memory-host.ts";
import { createAnswerer } from "../answerer.ts";
import { compareRuns } from "../compare-runs.ts";
import type { Effect, Effects, Interruption } from "../effects.ts";
import { ReplayMiss } from "./recorded-pace.ts";
import { createReplayedEffects } from "./replayed.ts";

const signal = new AbortController().signal;

function recording() {
  const facts: Fact[] = [];
  const order: string[] = [];
  const journal: Journal = {
    append: (fact) => {
      facts.push(fact);
      order.push(fact.type);
    },
    written: async ({ durable }) => {
      order.push(durable ? "on disk" : "written");
    },
    close: async () => undefined,
  };
  const effects = createAnswerer({ live: { clock: memoryHost().clock, journal } });
  return { facts, order, effects };
}

function effect(key: string, work: () => Promise<string>, digest = "d"): Effect<string> {
  return {
    record: { callPath: "main/0.t", key, kind: "tool", digest, sideEffect: true, announced: true, detail: { key } },
    codec: {
      encode: (value) => value,
      decode: (value) => String(value),
      encodeError: (thrown) => (thrown instanceof RangeError ? { message: thrown.message } : undefined),
      decodeError: (error) => new RangeError(String(error["message"])),
    },
    work,
  };
}

const never = () => Promise.reject(new Error("a replayed run does no work"));

function replay(facts: readonly Fact[], onInterrupt: () => void = () => undefined) {
  const interrupted: Interruption[] = [];
  const interrupt = (reason: Interruption) => {
    interrupted.push(reason);
    onInterrupt();
  };
  const effects = createReplayedEffects(facts, nodeClock);
  effects.onInterruption(interrupt);
  return { effects, interrupted };
}

const done: Fact = { type: "run-end", stopReason: "done", usage: noUsage, denied: 0 };

describe("effects", () => {
  test("has the intent on disk before the work starts, and the outcome behind it", async () => {
    const { order, effects } = recording();
    await effects.perform(
      effect("tool", async () => String(order.push("work"))),
      signal,
    );
    expect(order).toEqual(["intent", "on disk", "work", "result"]);
  });

  test("answers values and errors from the record, and does no work", async () => {
    const { facts, effects } = recording();
    const failing = effect("2", async () => Promise.reject(new RangeError("too much")));
    await effects.perform(
      effect("1", async () => "one"),
      signal,
    );
    await expect(effects.perform(failing, signal)).rejects.toThrow("too much");
    const replayed = replay([...facts, done]).effects;
    expect(await replayed.perform(effect("1", never), signal)).toBe("one");
    await expect(replayed.perform(effect("2", never), signal)).rejects.toThrow(RangeError);
    expect(compareRuns(facts, replayed.facts)).toEqual([]);
  });

  test("rejects what the record does not hold, with its place", async () => {
    const { effects } = replay([done]);
    await expect(effects.perform(effect("1", never), signal)).rejects.toThrow(ReplayMiss);
    await expect(effects.perform(effect("1", never), signal)).rejects.toThrow("1 (main/0.t)");
  });

  test("waits for the end of a call that was cut short, where the record goes no further", async () => {
    const controller = new AbortController();
    const { effects } = replay([{ ...done, stopReason: "aborted", error: { message: "Ctrl-C" } }]);
    const waiting = effects.requireLive({ callPath: "main/0.t", what: "a file", signal: controller.signal });
    controller.abort(new Error("over"));
    await expect(waiting).rejects.toThrow("over");
  });

  test("ends an effect as the recorded one ended, where it was interrupted", async () => {
    const { facts, effects } = recording();
    const work = async () => Promise.reject(new Error("Ctrl-C"));
    await expect(effects.perform(effect("1", work), signal)).rejects.toThrow();
    const controller = new AbortController();
    const aborted: Fact = { ...done, stopReason: "aborted", reason: "Ctrl-C" };
    const { effects: replayed, interrupted } = replay([...facts, aborted], () => controller.abort(new Error("over")));
    await expect(replayed.perform(effect("1", never), controller.signal)).rejects.toThrow("over");
    expect(interrupted).toEqual([{ type: "aborted", message: "Ctrl-C" }]);
  });

  test("notes an effect that is different today, and answers it all the same", async () => {
    const { facts, effects } = recording();
    await effects.perform(
      effect("1", async () => "one"),
      signal,
    );
    const replayed = replay([...facts, done]).effects;
    expect(await replayed.perform(effect("1", never, "other"), signal)).toBe("one");
    expect(replayed.drifts).toMatchObject([{ callPath: "main/0.t", key: "1", kind: "tool", today: { key: "1" } }]);
    expect(compareRuns(facts, replayed.facts)).toMatchObject([{ callPath: "main/0.t" }]);
  });
});

describe("the state of a run", () => {
  const spent = (callPath: string, inputTokens: number): Fact => ({
    ...{ type: "result", callPath, key: "model 1.1", kind: "model", digest: "d" },
    outcome: { type: "value", value: { usage: { ...noUsage, requests: 1, inputTokens } } },
  });
  const decided = (memory: string, type: "approve" | "deny", more: object = {}): Fact => ({
    ...{ type: "decision", callPath: "main/0.t", key: "1", tool: "t", source: "person", memory },
    decision: { type },
    ...more,
  });
  const apply = (facts: readonly Fact[]): Effects["state"] => {
    const { effects } = recording();
    for (const fact of facts) effects.record(fact);
    return effects.state;
  };

  test("sums what a call and everything below it spent", () => {
    const state = apply([spent("main", 1), spent("main/0.a", 10), spent("main/0.a/0.b", 100), spent("main/1.c", 1000)]);
    const of = (path: string) => state.usageOf(path).inputTokens;
    expect([of("main"), of("main/0.a"), of("main/0.a/0.b"), of("main/1.c"), of("main/2.d")]).toEqual([1111, 110, 100, 1000, 0]);
  });

  test.each<[string, readonly Fact[]]>([
    ["lost", []],
    ["interrupted", [{ type: "result", callPath: "main", key: "model 1.2", kind: "model", outcome: { type: "interrupted" } }]],
  ])("counts a request whose outcome was %s, in the run that goes on without it and in its replay", (_, outcome) => {
    const model = { callPath: "main", kind: "model", digest: "d" } as const;
    const request = { type: "intent", ...model, sideEffect: true, detail: { reserved: { tokens: 500 } } } as const;
    const first: readonly Fact[] = [{ ...request, key: "model 1.2" }, ...outcome];
    const goesOn: readonly Fact[] = [
      {
        ...{ type: "attempt", number: 2, voids: outcome.map(() => 1), programDigest: "p", owner: "o", version: "1" },
        ...{ mode: "prompt", onDenied: "return", limits: {} },
      },
      { ...request, key: "model 1.1" },
      spent("main", 7),
    ];
    const { effects } = replay([...first, ...goesOn, done]);
    for (const fact of goesOn.slice(1)) effects.record(fact);
    expect(effects.state.usageOf("main")).toEqual(apply([...first, ...goesOn]).usageOf("main"));
    expect(effects.state.usageOf("main")).toMatchObject({ requests: 1, inputTokens: 7, unknownTokens: 500 });
  });

  test("remembers approvals for the run until they are revoked, and counts denials by a person", () => {
    const remembered = { worker: "main", reference: "r", tool: "t", args: {}, shown: ["s"] };
    const facts = [decided("m", "approve", { remembered }), decided("n", "deny"), decided("n", "deny"), decided("o", "approve")];
    const state = apply(facts);
    expect([state.isRemembered("m", "s"), state.isRemembered("m", "other"), state.isRemembered("o", "s")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(state.denialsOf("n")).toBe(2);
    expect(state.remembered()).toEqual([{ memory: "m", ...remembered }]);
    const revoked = apply([...facts, { type: "revocation", callPath: "main/0.t", worker: "main", tool: "t", memory: "m" }]);
    expect(revoked.isRemembered("m", "s")).toBe(false);
  });
});
