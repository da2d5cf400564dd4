import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { plainCheck } from "./plain-schema.ts";
import type { SchemaIssue } from "./schema.ts";

/** The library as `from-json-schema.ts` uses it. */
const library = new Ajv2020({ allErrors: true, strict: false, useDefaults: true, validateFormats: false, logger: false });

function random(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
  return { maybe: (chance: number) => next() < chance, pick };
}

const scalars = ["a", "ab", "é😀", "", 0, 1, -1, 1.5, 2, true, false, null];
const names = ["a", "b", "x y"];

type Random = ReturnType<typeof random>;

function createValue(from: Random, depth: number): unknown {
  const { maybe, pick } = from;
  if (depth === 0 || maybe(0.5)) return pick(scalars);
  if (maybe(0.4)) return ["a", "b"].flatMap(() => (maybe(0.6) ? [createValue(from, depth - 1)] : []));
  return Object.fromEntries([...names, "c"].flatMap((name) => (maybe(0.5) ? [[name, createValue(from, depth - 1)]] : [])));
}

const types = ["string", "number", "integer", "boolean", "null", "array", "object", "object", "array"];

/** Values of keywords; those in the second list are none. */
const given: Readonly<Record<string, readonly [good: readonly unknown[], bad: readonly unknown[]]>> = {
  type: [
    [["string", "null"], ["object", "number"], ...types],
    ["strnig", ["null", "null"], [], 1],
  ],
  const: [scalars, []],
  enum: [
    [
      ["a", 1],
      [null, true, 0],
    ],
    ["a", []],
  ],
  minimum: [[0, 1, 1.5], ["1"]],
  maximum: [[0, 1], [null]],
  exclusiveMinimum: [[0, 1], [true]],
  exclusiveMaximum: [[1, 2], [[]]],
  minLength: [
    [0, 1, 2],
    [-1, 0.5],
  ],
  maxLength: [[1, 2], ["1"]],
  pattern: [["^a", "."], ["("]],
  minItems: [[0, 1, 2], [-1]],
  maxItems: [[0, 1], [1.5]],
  required: [
    [[], ["a"], ["a", "c"]],
    ["a", ["a", "a"], [1]],
  ],
  default: [scalars, []],
  examples: [[["a"]], ["a"]],
  format: [["email"], [1]],
  description: [["d"], [1]],
  "x-own": [[1], []],
};

function createSchema(from: Random, depth: number): unknown {
  const { maybe, pick } = from;
  if (maybe(0.05)) return true;
  const below = () => createSchema(from, depth - 1);
  const words = Object.entries(given).flatMap(([keyword, [good, bad]]) => {
    if (!maybe(keyword === "type" ? 0.8 : keyword === "required" ? 0.3 : 0.1)) return [];
    return [[keyword, pick(bad.length > 0 && maybe(0.02) ? bad : good)]];
  });
  const fields = () => Object.fromEntries(names.flatMap((name) => (maybe(0.6) ? [[name, below()]] : [])));
  return {
    ...Object.fromEntries(words),
    ...(depth > 0 && maybe(0.3) ? { items: below() } : {}),
    ...(depth > 0 && maybe(0.5) ? { properties: fields() } : {}),
    ...(depth > 0 && maybe(0.4) ? { additionalProperties: pick([false, true, below()]) } : {}),
    ...(depth > 0 && maybe(0.1) ? { anyOf: [below(), below()] } : {}),
  };
}

function compile(schema: unknown) {
  try {
    return library.compile(schema as object);
  } catch {
    return undefined;
  }
}

type Judgement = readonly [issues: readonly string[], value: unknown];

function judgePlainly(check: NonNullable<ReturnType<typeof plainCheck>>, given: unknown): Judgement {
  const [value, issues]: [unknown, SchemaIssue[]] = [structuredClone(given), []];
  check(value, [], issues);
  return [issues.map(({ path, message }) => `/${path.join("/")} ${message}`).sort(), value];
}

function judgeByLibrary(check: NonNullable<ReturnType<typeof compile>>, given: unknown): Judgement {
  const value = structuredClone(given);
  const errors = check(value) ? [] : (check.errors ?? []);
  const lines = errors.map(({ keyword, instancePath, params, message }) => {
    const path =
      [...instancePath.split("/"), params["missingProperty"] ?? params["additionalProperty"] ?? []].flat().join("/") || "/";
    if (keyword === "required") return `${path} is missing`;
    if (keyword === "additionalProperties") return `${path} is not a field of this schema`;
    return `${path} ${keyword === "enum" ? `must be one of ${JSON.stringify(params["allowedValues"])}` : message}`;
  });
  return [lines.sort(), value];
}

describe("plain schemas", () => {
  test.each([1, 2])("judge values as the library does, seed %i", (seed) => {
    const from = random(seed);
    let judged = 0;
    for (let round = 0; round < 100; round++) {
      const schema = createSchema(from, 3);
      const plain = plainCheck(schema);
      const compiled = compile(schema);
      if (!plain) continue;
      if (!compiled) expect.fail(`the library refuses ${JSON.stringify(schema)}`);
      for (let one = 0; one < 5; one++) {
        const value = createValue(from, 3);
        expect(judgePlainly(plain, value), JSON.stringify({ schema, value })).toEqual(judgeByLibrary(compiled, value));
        judged++;
      }
    }
    expect(judged).toBeGreaterThan(150);
  });

  test.each([
    { $ref: "#/$defs/a", $defs: { a: {} } },
    { type: "object", properties: { a: { oneOf: [{}, {}] } } },
    { properties: JSON.parse('{"__proto__":{"type":"string"}}') },
    { enum: [{}] },
    { anyOf: [{ properties: { a: { default: 1 } } }, {}] },
    { type: "strnig" },
    false,
  ])("leave %j to the library", (schema) => {
    expect(plainCheck(schema)).toBeUndefined();
  });

  test("take a field for missing that every object inherits", () => {
    const issues: SchemaIssue[] = [];
    plainCheck({ required: ["toString"] })?.({}, [], issues);
    expect(issues).toEqual([{ path: ["toString"], message: "is missing" }]);
  });
});
