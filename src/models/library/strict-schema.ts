import { isRecord } from "../../protocol/json.ts";

const unsupported = ["allOf", "oneOf", "not", "if", "patternProperties", "prefixItems", "dependentRequired", "dependentSchemas"];

/** Returns whether OpenAI's strict mode takes a schema: every object closed, and every member of it required. */
export function isStrictSchema(schema: unknown): boolean {
  if (typeof schema === "boolean" || !isRecord(schema)) return false;
  if (unsupported.some((keyword) => keyword in schema)) return false;
  if (!isStrictObject(schema)) return false;
  return children(schema).every(isStrictSchema);
}

function isStrictObject(schema: Record<string, unknown>): boolean {
  const isObject = schema["type"] === "object" || "properties" in schema;
  if (!isObject) return true;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties = isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  return schema["additionalProperties"] === false && properties.every((name) => required.includes(name));
}

function children(schema: Record<string, unknown>): unknown[] {
  const named = ["properties", "$defs", "definitions"].flatMap((key) =>
    isRecord(schema[key]) ? Object.values(schema[key]) : [],
  );
  const anyOf = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [];
  return [...named, ...anyOf, ...("items" in schema ? [schema["items"]] : [])];
}
