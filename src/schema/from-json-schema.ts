import type { Ajv2020, ErrorObject, Options, ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema } from "../protocol/tool.ts";
import type { Schema, SchemaIssue, Validation } from "./schema.ts";

/**
 * JSON Schema 2020-12 as our one form. The validator's library loads and compiles at the first use. Defaults of the
 * schema are filled in; the value given is not changed. `format` and remote references are not checked.
 */
export function fromJsonSchema(jsonSchema: JsonSchema): Schema {
  return createSchema(jsonSchema, compileAny);
}

/** The same for a schema that llm-do itself wrote: it is known to be one, and the schema of schemas need not be compiled to check it. */
export function fromOwnSchema(jsonSchema: JsonSchema): Schema {
  return createSchema(jsonSchema, compileOwn);
}

function createSchema(jsonSchema: JsonSchema, compile: Compile): Schema {
  let compiled: Promise<ValidateFunction> | undefined;
  return {
    jsonSchema,
    async validate(value): Promise<Validation> {
      compiled ??= remember(jsonSchema, compile);
      const check = await compiled;
      const copy = structuredClone(value);
      return check(copy) ? { ok: true, value: copy } : { ok: false, issues: (check.errors ?? []).map(toIssue) };
    },
  };
}

/** The reason why a JSON Schema cannot be used; undefined where it can. */
export async function jsonSchemaProblem(jsonSchema: JsonSchema): Promise<string | undefined> {
  try {
    await remember(jsonSchema, compileAny);
    return undefined;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    // One wrong word fails each form that the word could have.
    return message.replace(/^schema is invalid: data\/(\S+) ([^,]*).*$/s, "`$1` $2");
  }
}

type Compile = (jsonSchema: JsonSchema) => Promise<ValidateFunction>;

const mostKept = 500;
/** By the text of the schema: programs are compiled again and again, with the same schemas. The oldest goes first. */
const kept = new Map<string, Promise<ValidateFunction>>();

async function remember({ $id: _, ...anonymous }: JsonSchema, compile: Compile): Promise<ValidateFunction> {
  const text = JSON.stringify(anonymous);
  const known = kept.get(text);
  if (known !== undefined) return known;
  const [oldest] = kept.keys();
  if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
  const compiled = compile(anonymous);
  kept.set(text, compiled);
  return compiled;
}

/** The library keeps all that it compiled: an instance of it serves so many schemas, and is dropped. */
const schemasPerInstance = 100;

function createCompile(options: Options): Compile {
  let instance: Promise<Ajv2020> | undefined;
  let compiled = 0;
  return async (jsonSchema) => {
    if (compiled++ % schemasPerInstance === 0) instance = undefined;
    instance ??= import("ajv/dist/2020.js").then((library) => new library.Ajv2020(options));
    return (await instance).compile(jsonSchema);
  };
}

const common = { allErrors: true, strict: false, useDefaults: true, validateFormats: false, addUsedSchema: false };
const compileAny = createCompile(common);
const compileOwn = createCompile({ ...common, meta: false, validateSchema: false });

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
