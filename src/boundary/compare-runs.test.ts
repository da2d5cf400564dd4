import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../protocol/fact.ts";
import { beyondTolerance, compareRuns } from "./compare-runs.ts";

const usage = { requests: 2, inputTokens: 90, outputTokens: 10, cachedInputTokens: 0, reasoningTokens: 0, usd: 0.1 };

function run(calls: readonly object[], end: object = {}): readonly JournalEntry[] {
  const ended = { type: "run-end", stopReason: "done", usage, output: "ok ⟦secret:a:1⟧", denied: 0, ...end };
  const facts = [{ type: "run-start", runId: "r" }, ...calls.map((args) => ({ type: "verdict", tool: "read", args })), ended];
  return facts.map((fact, n) => ({ v: 2, n, time: n * 1000, ...fact })) as unknown as readonly JournalEntry[];
}

describe("compareRuns", () => {
  it("finds nothing between runs that did the same, whose secrets have other tokens", () => {
    const other = run([{ b: "⟦secret:x:9⟧", a: 1 }, {}], { output: "ok ⟦secret:b:2⟧" });
    const found = compareRuns(run([{}, { a: 1, b: "⟦secret:y:8⟧" }]), other);
    expect(found).toMatchObject({ sameOutcome: true, sameOutput: true, calls: [], second: { tokens: 100, seconds: 3 } });
    expect(beyondTolerance(found, 0)).toEqual([]);
  });

  it("names calls that one made more often, and each figure beyond the tolerance", () => {
    const dearer = { ...usage, requests: 3, inputTokens: 95, usd: 0.2 };
    const found = compareRuns(
      run([{}, { a: 1 }]),
      run([{}, {}], { usage: dearer, denied: 1, stopReason: "limit", output: "no" }),
    );
    expect(found.calls).toEqual([
      { call: "read {}", first: 1, second: 2 },
      { call: 'read {"a":1}', first: 1, second: 0 },
    ]);
    expect(beyondTolerance(found, 0.1)).toEqual(["outcome", "output", "calls", "denied", "requests", "usd"]);
    expect(beyondTolerance(found, 0)).toContain("tokens");
    // Less is no failure.
    expect(beyondTolerance(compareRuns(run([], { usage: dearer }), run([])), 0)).toEqual([]);
  });

  it("takes a run that did not end, and one without a price", () => {
    const found = compareRuns(run([]).slice(0, 1), run([], { usage: { ...usage, usd: undefined } }));
    expect(found).toMatchObject({ first: { outcome: "unfinished", output: null, usd: 0 }, second: { usd: undefined } });
    expect(beyondTolerance(found, 10)).toContain("usd");
  });
});
