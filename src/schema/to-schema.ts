import { isRecord } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { fromJsonSchema } from "./from-json-schema.ts";
import type { Schema, SchemaIssue, Validation } from "./schema.ts";
import { isStandardSchema, type StandardResult, type StandardSchema } from "./standard-schema.ts";

/** A schema as authors pass it: any Standard Schema that knows its JSON Schema, or JSON Schema 2020-12 as data. */
export type SchemaSource<T = unknown> = StandardSchema<T> | JsonSchema;

/** Takes what the AI SDK's `jsonSchema(…)` makes, too, which holds a JSON Schema. Throws a `TypeError` where the source is neither, or cannot say its JSON Schema. */
export function toSchema<T>(source: SchemaSource<T>): Schema<T> {
  if (isStandardSchema(source)) return fromStandardSchema(source as StandardSchema<T>);
  if (isRecord(source) && isRecord(source["jsonSchema"])) return fromJsonSchema(source["jsonSchema"]) as Schema<T>;
  if (isRecord(source)) return fromJsonSchema(source as JsonSchema) as Schema<T>;
  throw new TypeError("a schema must be a Standard Schema (zod, valibot, arktype, …) or a JSON Schema object");
}

function fromStandardSchema<T>(source: StandardSchema<T>): Schema<T> {
  const standard = source["~standard"];
  if (!standard.jsonSchema) {
    throw new TypeError(`the ${standard.vendor} schema cannot say its JSON Schema; ${remedyFor(standard.vendor)}`);
  }
  const { $schema: _, ...jsonSchema } = standard.jsonSchema.input({ target: "draft-2020-12" });
  return {
    jsonSchema: jsonSchema as JsonSchema,
    validate(value) {
      const result = standard.validate(value);
      return result instanceof Promise ? result.then(toValidation<T>) : toValidation(result);
    },
  };
}

function toValidation<T>(result: StandardResult<T>): Validation<T> {
  if (!result.issues) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.map(toIssue) };
}

function toIssue(issue: { readonly message: string; readonly path?: readonly unknown[] | undefined }): SchemaIssue {
  const path = (issue.path ?? []).map((segment) => (isRecord(segment) ? segment["key"] : segment));
  return { path: path.map((key) => (typeof key === "number" ? key : String(key))), message: issue.message };
}

function remedyFor(vendor: string): string {
  if (vendor === "zod") return 'write `import { z } from "zod"`, which is version 4 here';
  return "use its JSON Schema extension, or pass JSON Schema";
}
