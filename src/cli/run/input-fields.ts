import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { nearestNames } from "../../util/text/nearest-names.ts";
import { UsageError } from "../exit-codes.ts";
import { type FlagValue, nameOf, readFlagValue } from "./flag-value.ts";
import type { ReadOptions } from "./read-stdin.ts";
import { typeField } from "./type-field.ts";

/** A field of the input as `-i` has it. */
export interface FieldFlag extends FlagValue {
  readonly key: string;
}

/** `key=value` of one `-i`. Throws a `UsageError`. */
export function parseField(written: string): FieldFlag {
  const split = written.indexOf("=");
  if (split > 0) return { flag: `-i ${written}`, key: written.slice(0, split), text: written.slice(split + 1) };
  const isJson = /^\s*[{[]|\.json$/.test(written);
  const hint = isJson ? "; --input-json takes JSON, and @FILE for what a file holds" : "";
  throw new UsageError(`-i ${written}: this must be key=value, where key is a field of the entry's input${hint}`);
}

/** A field with its text read, from a file too. */
export interface ReadField {
  readonly flag: string;
  readonly key: string;
  readonly text: string;
}

export async function readFields(fields: readonly FieldFlag[], options: ReadOptions): Promise<readonly ReadField[]> {
  const read: ReadField[] = [];
  for (const field of fields) read.push({ flag: nameOf(field), key: field.key, text: await readFlagValue(field, options) });
  return read;
}

/** The fields of `-i`, each with the type that the entry's schema gives it. Throws a `UsageError` that names each flag that is wrong. */
export function typeFields(schema: JsonSchema, fields: readonly ReadField[]): JsonObject {
  const typed: [string, JsonValue][] = [];
  const problems: string[] = [];
  for (const [key, given] of Map.groupBy(fields, (field) => field.key)) {
    try {
      const property = requireProperty(schema, { key, flag: given[0]?.flag ?? `-i ${key}` });
      typed.push([key, typeField(property, given, schema)]);
    } catch (thrown) {
      if (!(thrown instanceof UsageError)) throw thrown;
      problems.push(thrown.message);
    }
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return Object.fromEntries(typed);
}

function requireProperty(schema: JsonSchema, { key, flag }: { readonly key: string; readonly flag: string }): JsonSchema {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property !== undefined) return isRecord(property) ? (property as JsonSchema) : {};
  const others = schema["additionalProperties"];
  if (others !== false && (others !== undefined || Object.keys(properties).length === 0))
    return isRecord(others) ? (others as JsonSchema) : {};
  const names = Object.keys(properties);
  const [near] = nearestNames(key, names);
  const known = names.length > 0 ? `its fields: ${names.join(", ")}` : "it has none";
  const hint = near === undefined ? known : `did you mean ${near}?`;
  throw new UsageError(`${flag}: the entry's input has no field ${key}; ${hint}`);
}

/** The object of `--input-json`. Throws a `UsageError`. */
export function parseInputJson(text: string, flag: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    const [, name] = /^\s*\{\s*'?(\w+)'?\s*:/.exec(text) ?? [];
    const hint = name === undefined ? errorMessage(thrown) : `names and texts stand in double quotes: '{"${name}": …}'`;
    throw new UsageError(`${flag}: this must be JSON, @FILE or -; ${hint}`);
  }
  if (isRecord(value)) return value as JsonObject;
  const what = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
  throw new UsageError(`${flag}: this must be a JSON object, with the fields of the entry's input, and it is ${what}`);
}
