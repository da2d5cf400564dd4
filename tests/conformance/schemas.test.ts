import { Type as OldType } from "@sinclair/typebox";
import { toJsonSchema, toStandardJsonSchema } from "@valibot/to-json-schema";
import { jsonSchema, zodSchema } from "ai";
import { type } from "arktype";
import { Effect, Schema } from "effect";
import { Type } from "typebox";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import * as v3 from "zod/v3";
import { z as z3 } from "zod3";
import { tool } from "../../src/index.ts";
import type { SchemaSource } from "../../src/schema/to-schema.ts";
import { compileOn, createMachine, worker } from "../compile/machine.ts";
import { play } from "../scenarios/harness.ts";

const city = "the name of the city";

/** JSON Schema of the same input, in the words of a draft. */
const draft = (name: string | undefined, days: object) => ({
  ...(name === undefined ? {} : { $schema: name }),
  type: "object",
  definitions: { City: { type: "string", description: city } },
  properties: { city: { $ref: "#/definitions/City" }, days },
  required: ["city"],
});

const days = { type: "integer", default: 3, exclusiveMinimum: 0 };
const oldDays = { type: "integer", default: 3, minimum: 0, exclusiveMinimum: true };
const effect = Schema.Struct({
  city: Schema.String.annotate({ description: city }),
  days: Schema.Int.check(Schema.isGreaterThan(0)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(3))),
});
const valibot = v.object({
  city: v.pipe(v.string(), v.description(city)),
  days: v.optional(v.pipe(v.number(), v.integer(), v.gtValue(0)), 3),
});
const zod4 = z.object({ city: z.string().describe(city), days: z.int().positive().default(3) });
const zod3 = z3.object({ city: z3.string().describe(city), days: z3.number().int().positive().default(3) });

/** The same input in each form that people have: a city, and days above 0 with the default 3. */
const forms: Readonly<Record<string, unknown>> = {
  "JSON Schema": draft(undefined, days),
  "JSON Schema 2020-12": draft("https://json-schema.org/draft/2020-12/schema", days),
  "JSON Schema 2019-09": draft("https://json-schema.org/draft/2019-09/schema", days),
  "JSON Schema draft-07": draft("http://json-schema.org/draft-07/schema#", days),
  "JSON Schema draft-06": draft("http://json-schema.org/draft-06/schema#", days),
  "JSON Schema draft-04": draft("http://json-schema.org/draft-04/schema#", oldDays),
  "zod 4": zod4,
  "zod mini": mini.object({
    city: mini.string().check(mini.describe(city)),
    days: mini._default(mini.int().check(mini.positive()), 3),
  }),
  "zod 3": zod3,
  "zod/v3": v3.object({ city: v3.string().describe(city), days: v3.number().int().positive().default(3) }),
  valibot,
  "valibot, as JSON Schema": toJsonSchema(valibot, { typeMode: "input" }),
  "valibot, as Standard Schema": toStandardJsonSchema(valibot),
  arktype: type({ city: type("string").describe(city), days: "number > 0 = 3" }),
  effect: Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(effect)),
  "typebox 0.34": OldType.Object({
    city: OldType.String({ description: city }),
    days: OldType.Optional(OldType.Integer({ exclusiveMinimum: 0, default: 3 })),
  }),
  "typebox 1": Type.Object({
    city: Type.String({ description: city }),
    days: Type.Optional(Type.Integer({ exclusiveMinimum: 0, default: 3 })),
  }),
  "the AI SDK's jsonSchema": jsonSchema(draft("http://json-schema.org/draft-07/schema#", days) as never),
  "the AI SDK's zodSchema": zodSchema(zod4 as never),
};

async function callWith(source: unknown, args: object) {
  const got: unknown[] = [];
  const weather = tool({
    description: "Says the weather.",
    input: source as SchemaSource,
    approval: "pre-approved",
    run: (given) => {
      got.push(given);
      return "sun";
    },
  });
  const { error, model, events } = await play({
    files: { "main.worker": worker("toolsets: { weather: {} }"), "tools.ts": "export const weather = 0;" },
    tools: { weather },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "weather", args: args as Record<string, never> }] } : "done"),
    request: { input: "go" },
  });
  expect(error).toBeUndefined();
  const [result] = events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
  return { got, result, definition: model.requests[0]?.tools[0] };
}

test.each(Object.entries(forms))(
  "%s: its description and schema reach the model, and a default is filled in",
  async (_, source) => {
    const { got, result, definition } = await callWith(source, { city: "Rome" });
    expect(result).toEqual({ ok: true, value: "sun" });
    expect(got).toEqual([{ city: "Rome", days: 3 }]);
    expect(definition?.description).toBe("Says the weather.");
    const schema = definition?.inputSchema;
    expect(schema).toMatchObject({ type: "object", properties: { city: {}, days: {} }, required: ["city"] });
    expect(schema).not.toHaveProperty("$schema");
    const text = JSON.stringify(schema);
    expect(text).toContain(city);
    expect(text).toContain('"exclusiveMinimum":0');
  },
);

test.each(Object.entries(forms))("%s: an error names the field, and nothing runs", async (_, source) => {
  for (const [field, args] of Object.entries({ city: { days: 1 }, days: { city: "Rome", days: -1 } })) {
    const { got, result } = await callWith(source, args);
    expect(got).toEqual([]);
    expect(result).toMatchObject({ ok: false, error: { type: "invalid_arguments", error: expect.stringMatching(field) } });
  }
});

test.each<[string, object, object, object]>([
  ["a tuple", { items: [{ type: "string" }], additionalItems: false }, ["a"], ["a", "b"]],
  ["dependencies", { type: "object", dependencies: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
  ["a schema as a dependency", { type: "object", dependencies: { a: { required: ["b"] } } }, { a: 1, b: 1 }, { a: 1 }],
  ["a property called `id`", { type: "object", properties: { id: { type: "string" } } }, { id: "a" }, { id: 1 }],
  ["recursion", { type: "object", additionalProperties: { $recursiveRef: "#" } }, { a: {} }, { a: { b: 1 } }],
])("older drafts: %s", async (_, value, right, wrong) => {
  const schema = (name: string) => ({
    $schema: `http://json-schema.org/${name}/schema#`,
    type: "object",
    properties: { value: name === "recursion" ? {} : value },
  });
  const isRecursive = JSON.stringify(value).includes("$recursiveRef");
  for (const name of ["draft-07", "draft-04"]) {
    const source = isRecursive ? { $schema: "https://json-schema.org/draft/2019-09/schema", ...value } : schema(name);
    expect((await callWith(source, isRecursive ? right : { value: right })).result?.ok).toBe(true);
    expect((await callWith(source, isRecursive ? wrong : { value: wrong })).result?.ok).toBe(false);
  }
});

test.each<[string, () => unknown, RegExp]>([
  [
    "a schema of Effect that was not told to",
    () => effect,
    /wrap it: `Schema\.toStandardJSONSchemaV1\(Schema\.toStandardSchemaV1\(…\)\)`/,
  ],
  ["a text", () => z.string(), /has? to describe|must describe an object/],
  [
    "a validator of a library that is not known",
    () => ({ "~standard": { version: 1, vendor: "acme", validate: () => ({ value: 1 }) } }),
    /the acme schema cannot say its JSON Schema/,
  ],
])("%s is refused where it stands", (_, make, why) => {
  expect(() => tool({ input: make() as SchemaSource, run: () => 1 })).toThrow(why);
});

test.each<[string, unknown]>([
  ["zod 3", z3.string()],
  ["zod mini", mini.string()],
  ["valibot", v.string()],
])("a text of %s is refused when the program is compiled, by the tool's name", async (_, input) => {
  const weather = tool({ input: input as SchemaSource, run: () => 1 });
  const host = createMachine({
    files: { "main.worker": worker("toolsets: { weather: {} }"), "tools.ts": "export const weather = 0;" },
    modules: { "tools.ts": { weather } },
  });
  const { diagnostics } = await compileOn(host, { trust: true });
  expect(diagnostics.map(({ message }) => message).join()).toMatch(
    /the input of `weather` cannot be used: .* must describe an object/,
  );
});
