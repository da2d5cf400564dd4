import { createNodeHost } from "../../host/node-host.ts";
import { frontmatterSchema } from "../../language/frontmatter-schema.ts";
import { manifestSchema } from "../../language/manifest.ts";
import { testFileSchema } from "../../language/test-file.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { createBuiltInToolsets } from "../../toolsets/built-ins.ts";

/** The files that have a schema for editors. */
export const schemaNames = ["worker", "manifest", "test"] as const;

export type SchemaName = (typeof schemaNames)[number];

const own = { patternProperties: { "^x-": { description: "Your own keys." } } };

const schemas: Readonly<Record<SchemaName, JsonObject>> = {
  // Frontmatter without a key is null to an editor.
  worker: { ...(frontmatterSchema as JsonObject), type: ["object", "null"] },
  manifest: { ...(manifestSchema as JsonObject), ...own },
  test: { ...testFileSchema, ...own },
};

/** The JSON Schema 2020-12 by which an editor completes and checks a file; the built-in toolsets' configuration is in it. */
export function createEditorSchema(name: SchemaName): JsonObject {
  const { $schema, ...rest } = withBuiltIns(schemas[name]) as JsonObject;
  return { ...($schema === undefined ? {} : { $schema }), $id: `urn:llm-do:${name}`, ...rest };
}

/** As it is printed and shipped: lists of words on one line. */
export function renderEditorSchema(name: SchemaName): string {
  const text = JSON.stringify(createEditorSchema(name), undefined, 2);
  const lists = /\[\n\s*((?:"(?:[^"\\\n]|\\.)*",?\n\s*)+)\]/g;
  return `${text.replace(lists, (_, words: string) => `[${words.trim().replace(/,\n\s*/g, ", ")}]`)}\n`;
}

/** Wherever toolsets are configured, those that come with llm-do are named, each with its own keys. */
function withBuiltIns(value: JsonValue, key?: string): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => withBuiltIns(item));
  if (!isRecord(value)) return value;
  const members = Object.entries(value as JsonObject).map(([name, member]) => [name, withBuiltIns(member, name)] as const);
  const schema: JsonObject = Object.fromEntries(members);
  const { additionalProperties: reference } = schema;
  if (key !== "toolsets" || !isRecord(reference)) return schema;
  return { ...schema, properties: Object.fromEntries(describeBuiltIns(reference as JsonObject)) };
}

function describeBuiltIns(reference: JsonObject): [string, JsonObject][] {
  return [...createBuiltInToolsets(createNodeHost())].map(([name, { config }]) => {
    const description = `The built-in toolset \`${name}\`.`;
    return [name, { description, ...withConfiguration(reference, config?.jsonSchema as JsonObject | undefined) }];
  });
}

/** A toolset's own keys beside those of every toolset. What refers into itself cannot be moved here: then any key may stand. */
function withConfiguration(reference: JsonObject, config: JsonObject | undefined): JsonObject {
  if (config?.["type"] !== "object" || JSON.stringify(config).includes('"$ref":')) return reference;
  const { $schema, type, properties, patternProperties, ...rest } = config;
  return {
    ...reference,
    ...rest,
    type: Array.isArray(config["required"]) && config["required"].length > 0 ? "object" : ["object", "null"],
    properties: { ...asObject(properties), ...asObject(reference["properties"]) },
    patternProperties: { ...asObject(patternProperties), ...asObject(reference["patternProperties"]) },
  };
}

/** The value of a keyword that holds an object; an empty one for any other. */
export function asObject(value: JsonValue | undefined): JsonObject {
  return isRecord(value) ? (value as JsonObject) : {};
}
