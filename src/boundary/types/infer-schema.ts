import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";

/** A schema that all of these values fit: their types, and of objects the members, required where each has them. At least one value. */
export function inferSchema(values: readonly JsonValue[]): JsonSchema {
  const types = [...new Set(values.map(typeOf))].filter((type, _, all) => type !== "integer" || !all.includes("number"));
  const objects = values.filter((value) => isRecord(value)) as readonly Readonly<Record<string, JsonValue>>[];
  const items = values.filter((value) => Array.isArray(value)).flat();
  const names = [...new Set(objects.flatMap((value) => Object.keys(value)))];
  const valuesOf = (name: string) => objects.flatMap((value) => (Object.hasOwn(value, name) ? [value[name] ?? null] : []));
  return {
    type: types.length === 1 ? types[0] : types,
    ...(objects.length > 0
      ? {
          properties: Object.fromEntries(names.map((name) => [name, inferSchema(valuesOf(name))])),
          required: names.filter((name) => objects.every((value) => Object.hasOwn(value, name))),
        }
      : {}),
    ...(items.length > 0 ? { items: inferSchema(items) } : {}),
  } as JsonSchema;
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}
