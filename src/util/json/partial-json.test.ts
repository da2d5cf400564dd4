import { expect, test } from "vitest";
import { PartialJson } from "./partial-json.ts";

const whole = { name: 'A "quoted"\n😀 \\', list: [1, -2.5e3, true, null, { deep: [[], {}] }], last: "" };

/** The values that come of a text in pieces of a size. */
function valuesOf(text: string, size: number): unknown[] {
  const reader = new PartialJson();
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
  return [...pieces.map((piece) => reader.push(piece)), reader.end()].filter((value) => value !== undefined);
}

/** Returns whether a value can become another by adding to it. */
function isBeginning(part: unknown, of: unknown): boolean {
  if (typeof part === "string") return typeof of === "string" && of.startsWith(part);
  if (typeof part !== "object" || part === null) return part === of;
  const [members, wholes] = [Object.entries(part), Object.entries(of as object)];
  return members.every(([key, value], index) => wholes[index]?.[0] === key && isBeginning(value, wholes[index]?.[1]));
}

test.each([1, 2, 3, 7, 1000])("each value is a beginning of the whole, in pieces of %i", (size) => {
  const escaped = JSON.stringify(whole).replace(/[\ud800-\udfff]/g, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
  for (const text of [
    JSON.stringify(whole),
    JSON.stringify(whole, null, 2),
    escaped,
    `Here:\n\`\`\`json\n${escaped}\n\`\`\`\nDone {`,
  ]) {
    const values = valuesOf(text, size);
    expect(values.at(-1)).toEqual(whole);
    for (const value of values) expect(isBeginning(value, whole)).toBe(true);
  }
});

test("a value appears when it is whole, a string as it grows", () => {
  expect(valuesOf('{"a":12,"b":"xy","c":tr', 1)).toEqual([
    {},
    { a: 12 },
    { a: 12, b: "" },
    { a: 12, b: "x" },
    { a: 12, b: "xy" },
  ]);
});

test("text that is no JSON gives nothing", () => {
  for (const text of ["I think so.", '{"a" 12}', "[}", '"text"']) expect(valuesOf(text, 100)).toEqual([]);
});

test("a long answer is read a bounded number of times", () => {
  const text = JSON.stringify(Array.from({ length: 5_000 }, (_, index) => `item ${index}`));
  expect(valuesOf(text, 4).length).toBeLessThan(250);
});
