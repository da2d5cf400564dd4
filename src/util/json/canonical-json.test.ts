import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

/** In the order in which objects have their keys: those that are numbers come first. */
function keysIn(json: string): readonly (readonly string[])[] {
  const found: string[][] = [];
  JSON.parse(json, (_key, value: unknown) => {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) found.push(Object.keys(value));
    return value;
  });
  return found;
}

test("sorts keys at any depth, and leaves the value as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, isWritten) => {
      const before = JSON.stringify(value);
      const json = canonicalJson(value, isWritten ? (text) => `${text}!` : undefined);
      expect(JSON.stringify(value)).toBe(before);
      if (!isWritten) expect(JSON.parse(json)).toEqual(JSON.parse(before));
      for (const keys of keysIn(json)) {
        const words = keys.filter((key) => !/^\d+$/.test(key));
        expect(words).toEqual([...words].sort());
      }
    }),
  );
  const mixed = { b: [{ d: "x", c: 1 }, new Date(0)], a: { z: undefined, ["__proto__"]: { y: 1, x: 2 } } };
  expect(canonicalJson(mixed)).toBe('{"a":{"__proto__":{"x":2,"y":1}},"b":[{"c":1,"d":"x"},"1970-01-01T00:00:00.000Z"]}');
  expect(canonicalJson({ a: 1, b: ["x"], c: { d: "y" } }, (text) => `${text}!`)).toBe('{"a":1,"b":["x!"],"c":{"d":"y!"}}');
});
