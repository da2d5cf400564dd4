import { describe, expect, test } from "vitest";
import type { ShellConfig } from "../../src/toolsets/shell/config.ts";
import { loadCommandParser } from "../../src/toolsets/shell/parse/parse-command.ts";
import { readVerdicts } from "./read-verdicts.ts";
import { ruleSets } from "./rule-sets.ts";
import { createBench, nameOf } from "./shell-bench.ts";

const cases = readVerdicts();
/** Judging changes nothing, so that all cases of some rules share a bench. */
const benches = new Map<string, ReturnType<typeof createBench>>();

function benchOf(name: string): ReturnType<typeof createBench> {
  const rules = ruleSets[name];
  if (rules === undefined) throw new Error(`there are no rules ${name}`);
  const bench = benches.get(name) ?? createBench(rules);
  benches.set(name, bench);
  return bench;
}

const files = [...new Set(cases.map(({ place }) => place.split(":")[0] ?? ""))];

describe.each(files)("%s", (file) => {
  test.each(cases.filter(({ place }) => place.startsWith(`${file}:`)))("$place $command ($rules): $verdict", async (one) => {
    const { judge } = await benchOf(one.rules);
    const verdict = await judge({ command: one.command });
    expect(nameOf(verdict), verdict.why).toBe(one.verdict);
    expect(verdict.why ?? "").toContain(one.why);
  });
});

test("has enough rows, and no two are the same", () => {
  expect(cases.length).toBeGreaterThan(800);
  expect(new Set(cases.map(({ command, rules }) => `${rules} ${command}`)).size).toBe(cases.length);
});

/** Programs of everyday work. A line counts for the first of them that it starts. */
const everyday = "git find grep sed ls cat npm node python3 tar rg".split(" ");

test("allows nine in ten of ordinary uses without a question", async () => {
  const { judge } = await createBench(ruleSets["dev"] as ShellConfig);
  const ordinary = cases.filter(({ place }) => place.startsWith("ordinary.txt:"));
  expect([...new Set(ordinary.map(({ rules }) => rules))]).toEqual(["dev"]);
  const parse = await loadCommandParser();
  const uses = new Map(everyday.map((program) => [program, { all: 0, free: 0 }]));
  for (const { command } of ordinary) {
    const started = parse(command, [[]]).commands.flatMap(({ words }) => words[0]?.value ?? []);
    const count = started.map((program) => uses.get(program)).find((one) => one !== undefined);
    if (count === undefined) continue;
    count.all++;
    if (nameOf(await judge({ command })) === "allowed") count.free++;
  }
  const sum = (key: "all" | "free") => [...uses.values()].reduce((total, count) => total + count[key], 0);
  const [all, free] = [sum("all"), sum("free")];
  const told = [...uses].map(([program, count]) => `${program} ${count.free}/${count.all}`);
  expect([...uses.values()].every((count) => count.all >= 5)).toBe(true);
  process.stderr.write(`ordinary uses that do not ask: ${free} of ${all} (${told.join(", ")})\n`);
  expect(all).toBeGreaterThanOrEqual(100);
  expect(free / all).toBeGreaterThanOrEqual(0.9);
  const others = ordinary.filter(({ verdict }) => verdict === "allowed").length;
  expect(others / ordinary.length).toBeGreaterThanOrEqual(0.9);
});

test.each(["bubblewrap", "seatbelt"] as const)("decides the same with %s", async (type) => {
  const { judge } = await createBench({ rules: [{ pattern: "ls", approval_required: false }] }, { isolation: { type } });
  expect(nameOf(await judge({ command: "ls" }))).toBe("allowed");
});

describe("limits of size are never exceeded", () => {
  const rules = { rules: [{ pattern: "*", approval_required: false }] };
  const depth = (levels: number): string => (levels === 0 ? "ls" : `bash -c ${quote(depth(levels - 1))}`);
  test.each([
    ["a long command", `echo ${"x".repeat(10_000)}`, "longer than"],
    ["many commands", Array.from({ length: 200 }, () => "ls").join(";"), "more than 100 commands"],
    ["many parts", `echo ${"a ".repeat(4900)}`, undefined],
    ["scripts in scripts", depth(6), "scripts in scripts"],
    ["wrappers in wrappers", `${"nice ".repeat(12)}ls`, "programs in programs"],
    ["deep substitutions", `echo ${"$(echo ".repeat(400)}x${")".repeat(400)}`, undefined],
    ["deep groups", `${"(".repeat(2000)}ls${")".repeat(2000)}`, undefined],
    ["deep quotes", `echo ${'"$('.repeat(300)}x${')"'.repeat(300)}`, undefined],
  ])("%s", async (_, command, why) => {
    const { judge } = await createBench(rules);
    const verdict = await judge({ command });
    if (command.startsWith("echo a a")) expect(nameOf(verdict)).toBe("allowed");
    else expect(nameOf(verdict)).not.toBe("allowed");
    if (why !== undefined) expect(verdict.why).toContain(why);
  });
});

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
