import { expect, test } from "vitest";
import { parseWorkerFile } from "../parse-worker-file.ts";
import type { DataSchemaSyntax, SchemaSyntax } from "../worker-file.ts";

function outputOf(lines: string): unknown {
  const { file, diagnostics } = parseWorkerFile({ name: "a.worker", text: `---\noutput:\n${lines}\n---\n` });
  expect(diagnostics).toEqual([]);
  return dataOf(file?.output?.value).jsonSchema;
}

function dataOf(schema: SchemaSyntax | undefined): DataSchemaSyntax {
  if (schema?.kind !== "data") throw new Error("no schema");
  return schema;
}

function propertyOf(line: string): unknown {
  const { properties } = outputOf(`  ${line}`) as { properties: Record<string, unknown> };
  return Object.values(properties)[0];
}

test.each([
  ["a: string", { type: "string" }],
  ["a: string, with, commas", { type: "string", description: "with, commas" }],
  ["a: number", { type: "number" }],
  ["a: integer", { type: "integer" }],
  ["a: boolean", { type: "boolean" }],
  ["a: null", { type: "null" }],
  ["a: null, on purpose", { type: "null", description: "on purpose" }],
  ["a: any", {}],
  ["a: attachment, a chart", { type: "string", "x-llm-do": "attachment", description: "a chart" }],
  ["a(array): string", { type: "array", items: { type: "string" } }],
  ["a(array, many): string, one", { type: "array", items: { type: "string", description: "one" }, description: "many" }],
  ["a(enum): [x, y]", { type: "string", enum: ["x", "y"] }],
  ["a(enum, how): [1, x, null]", { enum: [1, "x", null], description: "how" }],
  ["a(object): {}", { type: "object", properties: {}, additionalProperties: false }],
  [
    '"a(object, some)": { b: integer }',
    { type: "object", properties: { b: { type: "integer" } }, required: ["b"], additionalProperties: false, description: "some" },
  ],
  ["a: { b?: any }", { type: "object", properties: { b: {} }, additionalProperties: false }],
  ["type: string", { type: "string" }],
])("`%s`", (line, schema) => {
  expect(propertyOf(line)).toEqual(schema);
});

test("fields are required but for those with a question mark, and others are refused but for the wildcard", () => {
  expect(outputOf("  a: string\n  b?: string\n  c?(array): string")).toMatchObject({
    required: ["a"],
    additionalProperties: false,
  });
  expect(outputOf("  a?: string\n  (*): number, a score")).toEqual({
    type: "object",
    properties: { a: { type: "string" } },
    additionalProperties: { type: "number", description: "a score" },
  });
});

test("the places of fields are their names", () => {
  const text = '---\ninput:\n  a?(array, x): string\n  "b": string\n---\n';
  const { file } = parseWorkerFile({ name: "a.worker", text });
  const shown = dataOf(file?.input?.value).fields.map(({ value, span }) => [value, text.slice(span.start, span.end)]);
  expect(shown).toEqual([
    ["a", "a"],
    ["b", "b"],
  ]);
});
