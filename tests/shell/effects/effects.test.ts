import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ShellConfig } from "../../../src/toolsets/shell/config.ts";
import { noWall } from "../../host/command-bench.ts";
import { seed } from "../../host/seeded.ts";
import { randomLine } from "./line-grammar.ts";
import { readLinesWithEffects, readNewLines, readRows } from "./lines.ts";
import { createLanes, type Lanes, type Report } from "./play-all.ts";
import type { Effects } from "./play-line.ts";

/*
 * Command lines are played behind the wall, in a fresh tree with canaries. The tree, what listens, and what was read are compared with
 * the effects that were granted. No word of a line decides anything here.
 */

/** Lines of each kind; all of them where `LLM_DO_LINES` is `all`. Random ones: as many, or `LLM_DO_FUZZ_RUNS`. */
const slice = process.env["LLM_DO_LINES"] === "all" ? Number.POSITIVE_INFINITY : Number(process.env["LLM_DO_LINES"] ?? 2);
const randomCount = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 2);

/** `2/8`: the second of eight parts of the lines, for a process of its own. What ended counts. */
const [part = 1, parts = 1] = (process.env["LLM_DO_PART"] ?? "1/1").split("/").map(Number);

const lines: readonly string[] = [
  ...pick([...readRows("ordinary.txt"), ...readLinesWithEffects("everyday.txt").map(({ command }) => command)]),
  ...pick(readRows("tables.txt")),
  ...pick(readNewLines()),
  ...fc.sample(randomLine, { numRuns: randomCount, seed: Number(seed) }),
].filter((_, index) => index % parts === part - 1);

/** A seeded choice, in another order. */
function pick(rows: readonly string[]): readonly string[] {
  if (rows.length <= slice) return rows;
  return (
    fc.sample(fc.shuffledSubarray([...rows], { minLength: slice, maxLength: slice }), { numRuns: 1, seed: Number(seed) })[0] ?? []
  );
}

interface Case {
  readonly name: string;
  readonly config: ShellConfig;
  readonly answer: "approve" | "deny";
  readonly effects: Effects;
}

const asks: ShellConfig = { rules: [], default: { approval_required: true } };

const granted: Readonly<Record<string, Effects>> = {
  "a look": { writes: [] },
  "may write in `out`": { writes: ["out"] },
  "may write in `.`": { writes: ["."] },
  "may write in `.`, and `.git`": { writes: ["."], opens: [".git"] },
  "may write in `.` and `small`, and `package.json`": { writes: [".", "small"], opens: ["package.json"] },
  "may write in a folder that is missing": { writes: ["out/made/deep"] },
  "may write in layers": { scratch: true },
  "may read `secret`": { writes: [], reads: ["secret"] },
};

const cases: readonly Case[] = [
  ...Object.entries(granted).map(
    ([name, effects]): Case => ({ name: `${name}, everything approved`, config: asks, answer: "approve", effects }),
  ),
  { name: "looks are allowed, everything denied", config: { looks: "allowed", rules: [] }, answer: "deny", effects: {} },
  {
    name: "a rule writes in `out`, everything denied",
    config: { rules: [{ pattern: "*", writes: ["out"], approval_required: false }] },
    answer: "deny",
    effects: { writes: ["out"] },
  },
  {
    name: "a rule gives layers, everything denied",
    config: { looks: "allowed", rules: [{ pattern: "*", scratch: true, approval_required: false }] },
    answer: "deny",
    effects: {},
  },
];

let lanes: Lanes;
beforeAll(async () => {
  if (noWall === "") lanes = await createLanes();
});
afterAll(async () => lanes?.close());

test.skipIf(noWall !== "").each(cases)(
  "commands do what was granted, and no more: $name",
  async ({ name, config, answer, effects }) => {
    const report = await lanes.play(
      lines.map((command) => ({ command, ...effects })),
      { config, answer },
    );
    process.stderr.write(`${name}: ${lines.length} lines: ${describeReport(report)}, ${report.differences.length} differences\n`);
    expect(report.differences).toEqual([]);
    expect(report.ran).toBeGreaterThan(lines.length / 10);
  },
);

test.skipIf(noWall !== "")("runs nothing that no rule covers where everything is denied", async () => {
  const report = await lanes.play(
    lines.map((command) => ({ command })),
    { config: asks, answer: "deny" },
  );
  expect(report).toMatchObject({ ran: 0, notRun: 0, changed: 0, differences: [] });
});

function describeReport({ ran, refused, notRun, changed }: Report): string {
  return `${ran} ran, ${refused} refused, ${notRun} not run, ${changed} changed what they may`;
}
