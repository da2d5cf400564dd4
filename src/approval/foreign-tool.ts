import type { Scopes } from "../host/scopes/scopes.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { Schema } from "../schema/schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import type { PreparedToolsetCall, RuleText } from "../toolsets/toolset.ts";
import { isPlainJson } from "../util/json/plain-json.ts";

/**
 * The loop that calls has validated the arguments, and may have changed them: they are judged and run as they come. A schema that
 * cannot say its JSON Schema names no arguments.
 */
export function foreignSchema(source: unknown): Schema {
  return { jsonSchema: jsonSchemaOf(source), validate: async (value) => ({ ok: true, value }) };
}

function jsonSchemaOf(source: unknown): Schema["jsonSchema"] {
  try {
    return toSchema(source as SchemaSource).jsonSchema;
  } catch {
    return {};
  }
}

/** Throws a `TypeError`: the tool would get something other than what was judged and shown. */
export function checkJson(name: string, args: unknown): asserts args is JsonValue {
  if (isPlainJson(args)) return;
  throw new TypeError(
    `the arguments of \`${name}\` are not JSON (a Date, a Map, …), so that they cannot be shown as they are: take text, and convert it in \`execute\``,
  );
}

/** Arguments that are paths of the scopes, in their one form. */
export function pathTexts({ args }: PreparedToolsetCall, names: readonly string[], scopes: Scopes): Record<string, RuleText[]> {
  const given = names.map((name) => [name, oneForm(args[name], scopes)] as const);
  return Object.fromEntries(given.flatMap(([name, path]) => (path === undefined ? [] : [[name, [path]]])));
}

function oneForm(path: JsonValue | undefined, scopes: Scopes): string | undefined {
  try {
    return typeof path === "string" ? scopes.resolve(path).virtualPath : undefined;
  } catch {
    return undefined;
  }
}
