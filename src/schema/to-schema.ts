import { isRecord } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { fromJsonSchema } from "./from-json-schema.ts";
import type { Schema, SchemaIssue, Validation } from "./schema.ts";
import {
  isStandardJsonSchema,
  isStandardSchema,
  type StandardJsonSchema,
  type StandardResult,
  type StandardSchema,
} from "./standard-schema.ts";
import { upgradeJsonSchema } from "./upgrade-json-schema.ts";

/** A schema as authors pass it: any Standard Schema, one that only says its JSON Schema, or JSON Schema (draft-04 to 2020-12) as data. */
export type SchemaSource<T = unknown> = StandardSchema<T> | StandardJsonSchema | JsonSchema;

/**
 * Takes what the AI SDK's `jsonSchema(…)` and `zodSchema(…)` make, too, which hold a JSON Schema. Throws a `TypeError` if the source is
 * none of these, or cannot say its JSON Schema.
 */
export function toSchema<T>(source: SchemaSource<T>): Schema<T> {
  if (isStandardSchema(source)) return fromStandardSchema(source as StandardSchema<T>);
  if (isStandardJsonSchema(source)) return fromJsonSchema(sayJsonSchema(source)) as Schema<T>;
  if (isEffect(source)) throw unsaid("effect");
  if (isRecord(source)) {
    const held = source["jsonSchema"];
    if (isRecord(held)) return fromJsonSchema(upgradeJsonSchema(held as JsonSchema)) as Schema<T>;
    return fromJsonSchema(upgradeJsonSchema(source as JsonSchema)) as Schema<T>;
  }
  throw new TypeError("a schema must be a Standard Schema (zod, valibot, arktype, …) or a JSON Schema object");
}

/** Effect's schemas are neither, until they are told to. */
function isEffect(source: unknown): boolean {
  return typeof source === "function" && "ast" in source && "~effect/Schema/Schema" in source;
}

function fromStandardSchema<T>(source: StandardSchema<T>): Schema<T> {
  const standard = source["~standard"];
  const validate: Schema<T>["validate"] = (value) => {
    const result = standard.validate(value);
    return result instanceof Promise ? result.then(toValidation<T>) : toValidation(result);
  };
  if (standard.jsonSchema) return { jsonSchema: sayJsonSchema(source as StandardJsonSchema), validate };
  const convert = converters[standard.vendor];
  if (!convert) throw unsaid(standard.vendor);
  return lateSchema(() => convert(source), validate);
}

function sayJsonSchema(source: StandardJsonSchema): JsonSchema {
  return upgradeJsonSchema(source["~standard"].jsonSchema.input({ target: "draft-2020-12" }) as JsonSchema);
}

/** Libraries whose schemas do not say it themselves. What converts them is loaded for these alone. */
const converters: Readonly<Record<string, (source: StandardSchema) => Promise<object>>> = {
  zod: async (source) => {
    const { asSchema } = await import("@ai-sdk/provider-utils");
    return asSchema(source as Parameters<typeof asSchema>[0]).jsonSchema;
  },
  valibot: async (source) => {
    const { toJsonSchema } = await import("@valibot/to-json-schema");
    return toJsonSchema(source as unknown as Parameters<typeof toJsonSchema>[0], { typeMode: "input", errorMode: "ignore" });
  },
};

function lateSchema<T>(convert: () => Promise<object>, validate: Schema<T>["validate"]): Schema<T> {
  let known: Promise<JsonSchema> | undefined;
  let said: JsonSchema | undefined;
  return {
    get jsonSchema() {
      if (said) return said;
      throw new TypeError("the schema is read when the program is compiled, and not before");
    },
    validate,
    settle: async () => {
      known ??= convert().then((schema) => upgradeJsonSchema(schema as JsonSchema));
      said = await known;
    },
  };
}

function unsaid(vendor: string): TypeError {
  const effect = "wrap it: `Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(…))`";
  const others = "use its JSON Schema extension, or pass JSON Schema";
  return new TypeError(`the ${vendor} schema cannot say its JSON Schema; ${vendor === "effect" ? effect : others}`);
}

function toValidation<T>(result: StandardResult<T>): Validation<T> {
  if (!result.issues) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.map(toIssue) };
}

function toIssue(issue: { readonly message: string; readonly path?: readonly unknown[] | undefined }): SchemaIssue {
  const path = (issue.path ?? []).map((segment) => (isRecord(segment) ? segment["key"] : segment));
  return { path: path.map((key) => (typeof key === "number" ? key : String(key))), message: issue.message };
}
