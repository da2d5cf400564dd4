import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";

/**
 * Returns a JSON Schema of draft-04 to 2019-09 as one of 2020-12, which models and the validator get. What an older draft wrote otherwise is
 * no valid 2020-12, so the forms alone decide; `$schema` is left out. See "Migrating from older drafts" of json-schema.org.
 */
export function upgradeJsonSchema(schema: JsonSchema): JsonSchema {
  const isDraft4 = /draft-04/.test(String(schema["$schema"]));
  return upgrade(schema, isDraft4) as JsonSchema;
}

type Upgrade = (value: JsonValue, isDraft4: boolean) => JsonValue;

const upgrade: Upgrade = (schema, isDraft4) => {
  if (!isRecord(schema)) return schema;
  const { $schema: _, ...own } = schema as JsonObject;
  const members = Object.entries(upgradeKeywords(own, isDraft4));
  return Object.fromEntries(members.map(([key, value]) => [key, inside.get(key)?.(value, isDraft4) ?? value]));
};

function upgradeKeywords(schema: JsonObject, isDraft4: boolean): JsonObject {
  const { id, dependencies, items, additionalItems, $recursiveRef, $recursiveAnchor: _, ...rest } = schema;
  return {
    ...withoutFlags(rest),
    ...(id !== undefined && !(isDraft4 && typeof id === "string") ? { id } : {}),
    ...(isDraft4 && typeof id === "string" ? { $id: id } : {}),
    ...($recursiveRef === undefined ? {} : { $ref: $recursiveRef }),
    ...(items === undefined ? {} : upgradeItems(items, additionalItems)),
    ...(isRecord(dependencies) ? splitDependencies(dependencies as JsonObject) : {}),
  };
}

/** `exclusiveMinimum: true` of draft-04 says something of `minimum`. */
function withoutFlags(schema: JsonObject): JsonObject {
  return bounds.reduce((given, [exclusive, plain]) => {
    const { [exclusive]: flag, [plain]: bound, ...rest } = given;
    if (typeof flag !== "boolean") return given;
    if (bound === undefined) return rest;
    return { ...rest, [flag ? exclusive : plain]: bound };
  }, schema);
}

const bounds = [
  ["exclusiveMinimum", "minimum"],
  ["exclusiveMaximum", "maximum"],
] as const;

function upgradeItems(items: JsonValue, additionalItems: JsonValue | undefined): JsonObject {
  if (!Array.isArray(items)) return { items };
  return { prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}

function splitDependencies(dependencies: JsonObject): JsonObject {
  const entries = Object.entries(dependencies);
  const [required, schemas] = [true, false].map((isList) => entries.filter(([, value]) => Array.isArray(value) === isList));
  return {
    ...(required?.length ? { dependentRequired: Object.fromEntries(required) } : {}),
    ...(schemas?.length ? { dependentSchemas: Object.fromEntries(schemas) } : {}),
  };
}

const all: Upgrade = (list, isDraft4) =>
  Array.isArray(list) ? list.map((schema: JsonValue) => upgrade(schema, isDraft4)) : list;

const each: Upgrade = (map, isDraft4) =>
  isRecord(map)
    ? Object.fromEntries(Object.entries(map).map(([key, schema]) => [key, upgrade(schema as JsonValue, isDraft4)]))
    : map;

/** Keywords with schemas in them. */
const inside: ReadonlyMap<string, Upgrade> = new Map([
  ...["properties", "patternProperties", "definitions", "$defs", "dependentSchemas"].map((key) => [key, each] as const),
  ...["allOf", "anyOf", "oneOf", "prefixItems"].map((key) => [key, all] as const),
  ...["items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else"].map(
    (key) => [key, upgrade] as const,
  ),
  ...["unevaluatedItems", "unevaluatedProperties"].map((key) => [key, upgrade] as const),
]);
