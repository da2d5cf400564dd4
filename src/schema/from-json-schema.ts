import type { Ajv2020, ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema } from "../protocol/tool.ts";
import type { Schema, SchemaIssue, Validation } from "./schema.ts";

let sharedAjv: Promise<Ajv2020> | undefined;

/**
 * JSON Schema 2020-12 as our one form. The validator's library loads and compiles at the first use. Defaults of the
 * schema are filled in; the value given is not changed. `format` and remote references are not checked.
 */
export function fromJsonSchema(jsonSchema: JsonSchema): Schema {
  let compiled: Promise<ValidateFunction> | undefined;
  return {
    jsonSchema,
    async validate(value): Promise<Validation> {
      compiled ??= compileSchema(jsonSchema);
      const check = await compiled;
      const copy = structuredClone(value);
      return check(copy) ? { ok: true, value: copy } : { ok: false, issues: (check.errors ?? []).map(toIssue) };
    },
  };
}

/** The reason why a JSON Schema cannot be used; undefined where it can. */
export async function jsonSchemaProblem(jsonSchema: JsonSchema): Promise<string | undefined> {
  try {
    await compileSchema(jsonSchema);
    return undefined;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    // One wrong word fails each form that the word could have.
    return message.replace(/^schema is invalid: data\/(\S+) ([^,]*).*$/s, "`$1` $2");
  }
}

/** A validator keeps all that it compiled: one serves so many schemas, and is dropped. */
const schemasPerValidator = 100;
let compiledSchemas = 0;

async function compileSchema(jsonSchema: JsonSchema): Promise<ValidateFunction> {
  if (compiledSchemas++ % schemasPerValidator === 0) sharedAjv = undefined;
  sharedAjv ??= import("ajv/dist/2020.js").then(
    (library) =>
      new library.Ajv2020({ allErrors: true, strict: false, useDefaults: true, validateFormats: false, addUsedSchema: false }),
  );
  const ajv = await sharedAjv;
  const { $id: _, ...anonymous } = jsonSchema;
  return ajv.compile(anonymous);
}

function toIssue(error: ErrorObject): SchemaIssue {
  const path = error.instancePath.split("/").slice(1).map(unescapePointer);
  if (error.keyword === "additionalProperties") {
    return { path: [...path, String(error.params["additionalProperty"])], message: "is not a field of this schema" };
  }
  if (error.keyword === "required") return { path: [...path, String(error.params["missingProperty"])], message: "is missing" };
  if (error.keyword === "enum") return { path, message: `must be one of ${JSON.stringify(error.params["allowedValues"])}` };
  return { path, message: error.message ?? error.keyword };
}

function unescapePointer(segment: string): string | number {
  return /^\d+$/.test(segment) ? Number(segment) : segment.replaceAll("~1", "/").replaceAll("~0", "~");
}
