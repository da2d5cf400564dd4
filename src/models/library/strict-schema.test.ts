import { expect, test } from "vitest";
import { isStrictSchema } from "./strict-schema.ts";

const strict = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

test.each([
  [strict, true],
  [{ ...strict, required: [] }, false],
  [{ ...strict, additionalProperties: undefined }, false],
  [{ type: "object" }, false],
  [{ type: "array", items: strict }, true],
  [{ type: "array", items: { type: "object" } }, false],
  [{ anyOf: [strict, { type: "null" }] }, true],
  [{ anyOf: [{ type: "object" }] }, false],
  [{ oneOf: [strict] }, false],
  [{ ...strict, $defs: { x: { type: "object" } } }, false],
  [{ $ref: "#/$defs/x", $defs: { x: strict } }, true],
  [true, false],
])("%j: %s", (schema, expected) => {
  expect(isStrictSchema(schema)).toBe(expected);
});
