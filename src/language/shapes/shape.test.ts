import { expect, test } from "vitest";
import { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import { parseYaml } from "../yaml/parse-yaml.ts";
import { list, mapOf, record } from "./collection-shapes.ts";
import { boolean, integer, oneOf, text } from "./scalar-shapes.ts";
import type { Shape } from "./shape.ts";

function read<T>(shape: Shape<T>, yaml: string): { value: T | undefined; codes: string[] } {
  const source = { name: "a.yaml", text: yaml };
  const found = new DiagnosticList();
  const node = parseYaml({ source, start: 0, end: yaml.length }, found.report);
  const value = shape.read(node, { path: "", report: found.report });
  return { value, codes: found.toArray().map((diagnostic) => diagnostic.code) };
}

const shape = record({
  port: { shape: integer({ min: 1 }), required: true, description: "The port." },
  mode: { shape: oneOf(["fast", "safe"]), default: "safe", description: "How." },
  hosts: { shape: list(text()), description: "Where." },
  flags: { shape: mapOf(boolean()), description: "What." },
});

test("a record keeps the places of its values", () => {
  const { value, codes } = read(shape, "port: 80\nmode: fast\nhosts: [a, b]\nflags: { x: true }");
  expect(codes).toEqual([]);
  expect(value?.port.span).toMatchObject({ start: 6, end: 8 });
  expect([value?.port.value, value?.mode?.value, value?.hosts?.value]).toEqual([80, "fast", ["a", "b"]]);
  expect(value?.flags?.value.map(({ name, value: flag }) => [name.value, flag.value])).toEqual([["x", true]]);
});

test("all mistakes are reported at once, and a record without its required keys is none", () => {
  const { value, codes } = read(shape, "port: many\nmode: slow\nhost: []\nflags: { x: 1, y: 2 }");
  expect(value).toBeUndefined();
  expect(codes).toEqual(["wrong-type", "invalid-value", "unknown-key", "wrong-type", "wrong-type"]);
});

test("the same table gives JSON Schema", () => {
  expect(shape.jsonSchema).toEqual({
    type: "object",
    properties: {
      port: { type: "integer", minimum: 1, description: "The port." },
      mode: { enum: ["fast", "safe"], description: "How.", default: "safe" },
      hosts: { type: "array", items: { type: "string", minLength: 1 }, description: "Where." },
      flags: { type: "object", additionalProperties: { type: "boolean" }, description: "What." },
    },
    required: ["port"],
    additionalProperties: false,
  });
});
