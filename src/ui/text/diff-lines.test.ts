import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runSteps } from "../../util/in-steps.ts";
import { diffLines } from "./diff-lines.ts";

const diff = (before: string, after: string) => runSteps(diffLines(before, after));

/** The new text, made of the lines that stay and of those of the changes. */
function rebuild(before: string, after: string): string {
  const { before: old, after: now, changes } = diff(before, after);
  let [at, newAt] = [0, 0];
  const lines = [];
  for (const change of changes) {
    expect(change.old.start - at).toBe(change.new.start - newAt);
    lines.push(...old.slice(at, change.old.start), ...now.slice(change.new.start, change.new.end));
    [at, newAt] = [change.old.end, change.new.end];
  }
  return [...lines, ...old.slice(at)].join("");
}

const numbered = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join("");

test("the changes make the new text of the old one", () => {
  const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n", "a"), { maxLength: 30 }).map((lines) => lines.join(""));
  fc.assert(fc.property(text, text, (before, after) => rebuild(before, after) === after));
});

describe("large texts", () => {
  const size = 20_000;
  const cases: readonly (readonly [string, string, string, number])[] = [
    [
      "one line deep inside",
      numbered(size, (n) => `line ${n}`),
      numbered(size, (n) => (n === 15_000 ? "other" : `line ${n}`)),
      1,
    ],
    [
      "a line in a hundred",
      numbered(size, (n) => `line ${n}`),
      numbered(size, (n) => (n % 100 === 5 ? `new ${n}` : `line ${n}`)),
      200,
    ],
    ["all of it", numbered(size, (n) => `old ${n}`), numbered(size, (n) => `new ${n}`), 1],
    ["lines that are there many times", numbered(size, (n) => `${n % 3}`), numbered(size, (n) => `${(n * 7) % 5}`), 1],
  ];

  test.each(cases)("%s", (_, before, after, changes) => {
    expect(rebuild(before, after)).toBe(after);
    expect(diff(before, after).changes).toHaveLength(changes);
  });

  test("are compared in many short steps", () => {
    const [before, after] = [numbered(100_000, (n) => `old ${n}`), numbered(100_000, (n) => `${n % 2 ? "old" : "new"} ${n}`)];
    const steps = diffLines(before, after);
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).toBeGreaterThan(200);
  });
});
