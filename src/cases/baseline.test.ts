import { describe, expect, it } from "vitest";
import type { Usage } from "../protocol/usage.ts";
import { renderChanges } from "../ui/render-tests.ts";
import { compareReports, readReport, takenBeyond } from "./baseline.ts";
import { reportCase } from "./test-report.ts";

/** A report of one case, whose runs took such requests of 100 tokens. */
function report(requests: readonly number[], { usd, ...more }: Partial<Usage> = {}) {
  const runs = requests.map((count) => {
    const counted = {
      requests: count,
      inputTokens: 90 * count,
      outputTokens: 10 * count,
      cachedInputTokens: 0,
      reasoningTokens: 0,
    };
    const usage = { ...counted, ...(usd === undefined ? {} : { usd: usd * count }), ...more };
    return { failures: [], turns: count, milliseconds: 1, usage };
  });
  const one = reportCase({ file: "a.test.yaml", name: "n", mode: "live", required: 1, runs, notRun: 0 });
  return { passed: true, cases: [one], milliseconds: 1 };
}

function compare(before: ReturnType<typeof report>, after: ReturnType<typeof report>) {
  const earlier = readReport(JSON.stringify({ v: 1, ...before }));
  const changes = earlier ? compareReports(earlier, after) : [];
  const [change] = changes;
  if (!change) throw new Error("no change");
  return { shown: renderChanges(changes), beyond: (tolerance: number) => takenBeyond(change, tolerance) };
}

describe("compareReports", () => {
  it("compares what runs take by their means, with intervals", () => {
    const { shown, beyond } = compare(report([1, 1, 1, 2], { usd: 0.01 }), report([3, 3, 4, 4], { usd: 0.01 }));
    expect(shown).toBe(
      [
        "~ a.test.yaml: n: requests 1.3, now 3.5: +2.3 (95 % interval +1.3 to +3.2)",
        "~ a.test.yaml: n: tokens 125, now 350: +225 (95 % interval +127 to +323)",
        "~ a.test.yaml: n: cost $0.0125, now $0.035: +$0.0225 (95 % interval +$0.0127 to +$0.0323)\n",
      ].join("\n"),
    );
    expect(beyond(1)).toEqual(["requests", "tokens", "usd"]);
    // The interval begins at 1.01 times the earlier mean.
    expect(beyond(1.1)).toEqual([]);
  });

  it("holds nothing against runs that take less, or perhaps more", () => {
    expect(compare(report([3, 3, 4, 4]), report([1, 1, 1, 2])).beyond(0)).toEqual([]);
    const { shown, beyond } = compare(report([1, 1, 1, 2]), report([1, 1, 2, 3]));
    expect(shown).toMatch(/^ {2}a\.test\.yaml: n: requests 1\.3, now 1\.8: \+0\.5 \(95 % interval -/m);
    expect(beyond(0)).toEqual([]);
  });

  it("takes single runs as they were seen, and tells nothing of one beside several", () => {
    const single = compare(report([2]), report([3]));
    expect(single.shown).toBe("~ a.test.yaml: n: requests 2, now 3: +1\n~ a.test.yaml: n: tokens 200, now 300: +100\n");
    expect(single.beyond(0.4)).toEqual(["requests", "tokens"]);
    const uneven = compare(report([2]), report([3, 3]));
    expect(uneven.shown).toBe("  a.test.yaml: n: requests 2, now 3\n  a.test.yaml: n: tokens 200, now 300\n");
    expect(uneven.beyond(0)).toEqual([]);
  });

  it("says that dollars are no longer known, and takes a part of a price for none", () => {
    const unknown = compare(report([1], { usd: 0.01 }), report([1]));
    expect(unknown.shown).toBe("  a.test.yaml: n: cost $0.01, now not known\n");
    expect(unknown.beyond(1000)).toEqual(["usd"]);
    expect(compare(report([1], { usd: 0.01 }), report([1], { usd: 0.001, usdAtLeast: true })).beyond(1000)).toEqual(["usd"]);
    expect(compare(report([1]), report([1], { usd: 9 }))).toMatchObject({ shown: "" });
  });
});
