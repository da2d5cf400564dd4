import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { type ExecutingTest, rows } from "./rows.ts";

const repository = resolve(import.meta.dirname, "../..");

/** The lines that begin the test, where there is one: a heading of a table, a call of `test` or `it`, or a row that one plays. */
function findTest({ file, name }: ExecutingTest): string | undefined {
  const lines = readFileSync(join(repository, file), "utf8").split("\n");
  if (file.endsWith(".txt")) return lines.find((line) => line === name);
  if (lines.includes(`  "${name}": {`)) return lines.find((line) => line.includes("test.each(Object.entries(rows))"));
  const starts = [`("${name}"`, `('${name}'`, `(\`${name}\``];
  const at = lines.findIndex((line) => starts.some((start) => line.includes(start)) || line.trim() === `"${name}",`);
  // A call that begins on the line before: `test.each(…)(` with its name on a line of its own.
  return at < 0 ? undefined : `${lines[at - 1]}\n${lines[at]}`;
}

describe("known ways to break a system of this kind", () => {
  test("has thirty rows, each once", () => {
    const ids = rows.flatMap((row) => row.ids);
    expect(rows).toHaveLength(30);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each(rows.map((row) => [row.ids[0], row] as const))("%s is played by an existing test", (_, { tests, what }) => {
    expect(tests.length, what).toBeGreaterThan(0);
    for (const one of tests) {
      const found = findTest(one);
      expect(found, `${one.file}: ${one.name}`).toBeDefined();
      if (one.file.endsWith(".ts")) expect(found).toMatch(/\b(?:test|it)\b(?!\.(?:skip|todo|fails)\b)/);
    }
  });

  test("has no skipped test in the named files", () => {
    for (const file of new Set(rows.flatMap(({ tests }) => tests.map((one) => one.file)))) {
      expect(readFileSync(join(repository, file), "utf8"), file).not.toMatch(
        /\b(?:test|it|describe)\.(?:skip|todo|fails|only)\(/,
      );
    }
  });
});
