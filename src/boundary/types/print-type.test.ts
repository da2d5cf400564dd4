import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../protocol/tool.ts";
import { printType } from "./print-type.ts";

const cases: readonly (readonly [type: string, schema: JsonSchema])[] = [
  ["string", { type: "string", pattern: "^a" }],
  ["number", { type: "integer", minimum: 1 }],
  ["string | null", { type: ["string", "null"] }],
  ['"go" | "pass"', { type: "string", enum: ["go", "pass"] }],
  ["3", { const: 3 }],
  ["unknown", { const: { a: 1 } }],
  ["readonly string[]", { type: "array", items: { type: "string" } }],
  ['readonly ("a" | 1)[]', { type: "array", items: { enum: ["a", 1] } }],
  ["readonly unknown[]", { type: "array" }],
  ["readonly [string, ...number[]]", { type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } }],
  ["readonly [string]", { type: "array", prefixItems: [{ type: "string" }], items: false }],
  ["{ readonly [name: string]: unknown }", { type: "object" }],
  ["{ readonly [name: string]: number }", { type: "object", additionalProperties: { type: "number" } }],
  ["Record<string, never>", { type: "object", additionalProperties: false }],
  ["{\n  readonly a: string;\n  readonly b?: boolean;\n}", object({ a: { type: "string" }, b: { type: "boolean" } }, ["a"])],
  ['{\n  readonly "a-b"?: string;\n}', object({ "a-b": { type: "string" } })],
  ["{\n  readonly a?: {\n    readonly b?: null;\n  };\n}", object({ a: object({ b: { type: "null" } }) })],
  ["{\n  /** ends *\\/ here */\n  readonly a?: string;\n}", object({ a: { type: "string", description: "ends */\nhere" } })],
  ["number", { $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "number" } } }],
  ["{\n  readonly next?: unknown;\n}", { $ref: "#/$defs/n", $defs: { n: object({ next: { $ref: "#/$defs/n" } }) } }],
  ["unknown", { $ref: "https://example.org/x" }],
  ["string | number", { anyOf: [{ type: "string" }, { type: "number" }] }],
  [
    "{\n  readonly a?: string;\n} & {\n  readonly b?: string;\n}",
    { allOf: [object({ a: { type: "string" } }), object({ b: { type: "string" } })] },
  ],
  ["unknown", {}],
];

describe("printType", () => {
  it.each(cases)("prints %s", (type, schema) => expect(printType(schema)).toBe(type));

  it("leaves open what is nested too deep", () => {
    const deep = Array.from({ length: 5_000 }).reduce<JsonSchema>((items) => ({ type: "array", items }), { type: "string" });
    expect(printType(deep)).toMatch(/unknown/);
  });
});

function object(properties: JsonSchema, required: readonly string[] = []): JsonSchema {
  return { type: "object", properties, required };
}
