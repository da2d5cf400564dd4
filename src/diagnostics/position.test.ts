import fc from "fast-check";
import { expect, test } from "vitest";
import { lineSpan, positionAt } from "./position.ts";
import type { Source } from "./source.ts";

const source: Source = { name: "a", text: "one\r\ntwo\n\n😀 four" };

test.each([
  [0, 1, 1],
  [3, 1, 4],
  [5, 2, 1],
  [9, 3, 1],
  [10, 4, 1],
  [12, 4, 3],
  [17, 4, 8],
])("offset %d is at %d:%d", (offset, line, column) => {
  expect(positionAt(source, offset)).toEqual({ line, column });
});

test("a line has no line break", () => {
  const lines = [1, 2, 3, 4, 5].map((line) => lineSpan(source, line)).map(({ start, end }) => source.text.slice(start, end));
  expect(lines).toEqual(["one", "two", "", "😀 four", ""]);
});

test("positions are those of counting from the beginning", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "\n", "\r\n", "\ré", "é")), fc.nat(), (parts, n) => {
      const first = parts.slice(0, n % (parts.length + 1)).join("");
      const before = first.split(/\r\n?|\n/);
      expect(positionAt({ name: "a", text: parts.join("") }, first.length)).toEqual({
        line: before.length,
        column: (before.at(-1)?.length ?? 0) + 1,
      });
    }),
  );
});
