import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { followReference } from "../../schema/follow-reference.ts";

/** Schemas nested deeper than this are `unknown`. */
const deepest = 20;

/**
 * Prints the TypeScript type of the values that a JSON Schema (2020-12) takes. What TypeScript cannot say (patterns, bounds, `not`) is left
 * out, so the type takes each valid value and may take more. References are followed within the schema; a circle becomes `unknown`.
 */
export function printType(schema: JsonSchema): string {
  return print(schema, { root: schema, open: [], indent: "" });
}

interface Printing {
  readonly root: JsonSchema;
  /** Schemas that are being printed, the outermost first. */
  readonly open: readonly unknown[];
  readonly indent: string;
}

function print(schema: unknown, printing: Printing): string {
  if (!isRecord(schema) || printing.open.includes(schema) || printing.open.length > deepest) return "unknown";
  const inside = { ...printing, open: [...printing.open, schema] };
  const { $ref, enum: values, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === "string") return print(followReference(printing.root, $ref), inside);
  if ("const" in schema) return literal(schema["const"] as JsonValue);
  if (Array.isArray(values)) return union(values.map(literal));
  const options = anyOf ?? oneOf;
  if (Array.isArray(options)) return union(options.map((one) => print(one, inside)));
  if (Array.isArray(allOf)) {
    const own = isRecord(schema["properties"]) ? [printObject(schema, inside)] : [];
    return [...own, ...allOf.map((one) => bracket(print(one, inside)))].join(" & ");
  }
  const types = [schema["type"] ?? impliedType(schema)].flat();
  return union(types.map((type) => printNamed(type, schema, inside)));
}

function printNamed(type: unknown, schema: JsonObject | Record<string, unknown>, printing: Printing): string {
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return printArray(schema, printing);
    case "object":
      return printObject(schema, printing);
    default:
      return "unknown";
  }
}

function printArray({ prefixItems, items }: Record<string, unknown>, printing: Printing): string {
  const rest = items === false ? undefined : `readonly ${bracket(print(items, printing))}[]`;
  if (!Array.isArray(prefixItems)) return rest ?? "readonly []";
  const first = prefixItems.map((one) => print(one, printing));
  return `readonly [${[...first, ...(rest === undefined ? [] : [`...${rest.slice("readonly ".length)}`])].join(", ")}]`;
}

function printObject(schema: Record<string, unknown>, printing: Printing): string {
  const { properties, required, additionalProperties } = schema;
  const fields = isRecord(properties) ? Object.entries(properties) : [];
  const indent = `${printing.indent}  `;
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const lines = fields.flatMap(([name, field]) => [
    ...comment(field, indent),
    `${indent}readonly ${key(name)}${isRequired(name) ? "" : "?"}: ${print(field, { ...printing, indent })};`,
  ]);
  const open = additionalProperties === undefined || additionalProperties === true ? undefined : additionalProperties;
  if (isRecord(open) && lines.length === 0) return `{ readonly [name: string]: ${print(open, printing)} }`;
  if (lines.length === 0)
    return additionalProperties === false ? "Record<string, never>" : "{ readonly [name: string]: unknown }";
  return `{\n${lines.join("\n")}\n${printing.indent}}`;
}

function comment(field: unknown, indent: string): readonly string[] {
  const { description } = isRecord(field) ? field : {};
  if (typeof description !== "string" || description.trim() === "") return [];
  return [`${indent}/** ${commentText(description)} */`];
}

/** One line that cannot end the comment that it is in. */
export function commentText(text: string): string {
  return text.replace(/\s+/g, " ").replaceAll("*/", "*\\/").trim();
}

export function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function literal(value: JsonValue): string {
  return typeof value === "object" && value !== null ? "unknown" : JSON.stringify(value);
}

function union(types: readonly string[]): string {
  const all = [...new Set(types)];
  if (all.includes("unknown") || all.length === 0) return "unknown";
  return all.join(" | ");
}

function bracket(type: string): string {
  return /^[\w"]+$/.test(type) || (type.startsWith("{") && type.endsWith("}")) ? type : `(${type})`;
}

function impliedType(schema: Record<string, unknown>): string | undefined {
  if ("properties" in schema || "additionalProperties" in schema) return "object";
  return "items" in schema || "prefixItems" in schema ? "array" : undefined;
}
