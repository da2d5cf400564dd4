import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import type { JsonSchema } from "../protocol/tool.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { plainCheck } from "./plain-schema.ts";
import type { Schema, SchemaIssue, Validation } from "./schema.ts";

/**
 * JSON Schema 2020-12 as our one form. Defaults of the schema are filled in; the value given is not changed. `format` and remote
 * references are not checked. The validator's library loads at the first use of a schema that is not plain.
 */
export function fromJsonSchema(jsonSchema: JsonSchema): Schema {
  let compiled: Promise<Find> | undefined;
  return {
    jsonSchema,
    async validate(value): Promise<Validation> {
      compiled ??= compile(jsonSchema);
      const find = await compiled;
      const copy = isFlat(value) ? { ...value } : structuredClone(value);
      const issues = find(copy);
      return issues.length === 0 ? { ok: true, value: copy } : { ok: false, issues };
    },
  };
}

/** True for an object without objects in it, as most inputs are: `structuredClone` takes ten times as long. */
function isFlat(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.values(value).every((member) => member === null || ["string", "number", "boolean"].includes(typeof member));
}

/** The reason why a JSON Schema cannot be used; undefined if it can. */
export async function jsonSchemaProblem(jsonSchema: JsonSchema): Promise<string | undefined> {
  try {
    await compile(jsonSchema);
    return undefined;
  } catch (thrown) {
    // One wrong word fails each form that the word could have.
    return errorMessage(thrown).replace(/^schema is invalid: data\/(\S+) ([^,]*).*$/s, "`$1` $2");
  }
}

/** Lists what is wrong with a value, and fills in its defaults. */
type Find = (value: unknown) => readonly SchemaIssue[];

async function compile({ $id: _, ...anonymous }: JsonSchema): Promise<Find> {
  const plain = plainCheck(anonymous);
  if (!plain) return remember(anonymous);
  return (value) => {
    const issues: SchemaIssue[] = [];
    plain(value, [], issues);
    return issues;
  };
}

const mostKept = 500;
/** By the text of the schema: programs are compiled again and again, with the same schemas. The oldest goes first. */
const kept = new Map<string, Promise<Find>>();

async function remember(jsonSchema: JsonSchema): Promise<Find> {
  const text = JSON.stringify(jsonSchema);
  const known = kept.get(text);
  if (known !== undefined) return known;
  const [oldest] = kept.keys();
  if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
  const compiled = compileByLibrary(jsonSchema);
  kept.set(text, compiled);
  return compiled;
}

/** The library keeps all that it compiled: an instance of it serves so many schemas, and is dropped. */
const schemasPerInstance = 100;

const options = { allErrors: true, strict: false, useDefaults: true, validateFormats: false };

let metaschema: Ajv2020 | undefined;
let instance: Ajv2020 | undefined;
let compiled = 0;

async function compileByLibrary(jsonSchema: JsonSchema): Promise<Find> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  metaschema ??= new Ajv2020(options);
  metaschema.validateSchema(jsonSchema, true);
  if (instance === undefined || compiled++ % schemasPerInstance === 0)
    instance = new Ajv2020({ ...options, meta: false, validateSchema: false });
  const check = instance.compile(jsonSchema);
  return (value) => (check(value) ? [] : (check.errors ?? []).map(toIssue));
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
