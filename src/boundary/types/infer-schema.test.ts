import { expect, it } from "vitest";
import type { JsonValue } from "../../protocol/json.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { inferSchema } from "./infer-schema.ts";

it.each<[readonly JsonValue[], object]>([
  [["a", "b"], { type: "string" }],
  [[1, 2.5], { type: "number" }],
  [[1, null], { type: ["integer", "null"] }],
  [[[], [1, "a"]], { type: "array", items: { type: ["integer", "string"] } }],
  [
    [{ a: 1, b: [] }, { a: null }],
    { type: "object", properties: { a: { type: ["integer", "null"] }, b: { type: "array" } }, required: ["a"] },
  ],
])("infers a schema that the values fit: %j", async (values, schema) => {
  expect(inferSchema(values)).toEqual(schema);
  for (const value of values) expect(await fromJsonSchema(inferSchema(values)).validate(value)).toMatchObject({ ok: true });
});
