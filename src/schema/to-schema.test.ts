import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fromJsonSchema, jsonSchemaProblem } from "./from-json-schema.ts";
import { renderIssues } from "./schema.ts";
import { toSchema } from "./to-schema.ts";

const sources = {
  zod: z.strictObject({ name: z.string(), count: z.number().int().default(1) }),
  "JSON Schema": {
    type: "object",
    properties: { name: { type: "string" }, count: { type: "integer", default: 1 } },
    required: ["name"],
    additionalProperties: false,
  },
};

describe.each(Object.entries(sources))("a schema made of %s", (_, source) => {
  const schema = toSchema(source as never);

  test("tells models what it takes", () => {
    expect(schema.jsonSchema).toMatchObject({ type: "object", properties: { name: { type: "string" } } });
    expect(schema.jsonSchema).not.toHaveProperty("$schema");
  });

  test("fills in defaults, and leaves the value it was given alone", async () => {
    const value = { name: "a" };
    expect(await schema.validate(value)).toEqual({ ok: true, value: { name: "a", count: 1 } });
    expect(value).toEqual({ name: "a" });
  });

  test("says every mistake with its path", async () => {
    const checked = await schema.validate({ count: "x", other: 1 });
    expect(checked.ok).toBe(false);
    const text = checked.ok ? "" : renderIssues(checked.issues);
    expect(text).toMatch(/name/);
    expect(text).toMatch(/count/);
    expect(text).toMatch(/other/);
  });

  test("does not take __proto__ for a field", async () => {
    expect((await schema.validate(JSON.parse('{"name":"a","__proto__":{"x":1}}'))).ok).toBe(false);
  });
});

test("what is no schema is refused by name", () => {
  expect(() => toSchema("string" as never)).toThrow(/Standard Schema/);
  expect(() => toSchema({ "~standard": { version: 1, vendor: "mine", validate: () => ({ value: 1 }) } } as never)).toThrow(
    /mine/,
  );
});

describe("validators", () => {
  const own = {
    type: "object",
    properties: { a: { type: "integer", default: 2 } },
    required: ["b"],
    unevaluatedProperties: false,
  };

  test("are made once for a text, whatever the schema calls itself", async () => {
    const [first, second] = [fromJsonSchema({ ...own, $id: "first" }), fromJsonSchema({ ...own, $id: "second" })];
    expect(await first.validate({ b: 1 })).toEqual(await second.validate({ b: 1 }));
    expect(await jsonSchemaProblem({ ...own, $id: "third" })).toBeUndefined();
  });

  test("are not made of what is no schema, as often as it is asked for", async () => {
    const wrong = { type: "strnig" };
    for (let round = 0; round < 2; round++) {
      expect(await jsonSchemaProblem(wrong)).toMatch(/type/);
      await expect(fromJsonSchema(wrong).validate("x")).rejects.toThrow(/type/);
    }
  });
});
