import type { Span, Spanned } from "../diagnostics/source.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { type FieldKey, parseFieldKey } from "./field-key.ts";
import { refuseValue } from "./refuse-value.ts";
import { readScalarType } from "./scalar-type.ts";
import { contextAt, type ReadContext } from "./shape.ts";
import type { MapNode, ScalarNode, SyntaxNode } from "./syntax-node.ts";

export interface ShortSchema {
  readonly jsonSchema: JsonSchema;
  /** The names of the map's own fields, as far as they could be read. */
  readonly fields: readonly Spanned<string>[];
}

/** The short notation of a map with fields, as JSON Schema 2020-12. Reports what it cannot read, and leaves it out. */
export function readShortNotation(node: MapNode, context: ReadContext): ShortSchema {
  const properties = new Map<string, { schema: JsonSchema; key: Spanned<string>; optional: boolean }>();
  let others: JsonValue = false;
  for (const entry of node.entries) {
    const key = parseFieldKey(entry, context);
    if (key === undefined) continue;
    const schema = readField(key, entry.value, contextAt(context, key.name.value));
    if (key.kind === "*") others = schema ?? true;
    else if (properties.has(key.name.value)) reportTwice(properties.get(key.name.value)?.key, key.name, context);
    else if (schema !== undefined) properties.set(key.name.value, { schema, key: key.name, optional: key.optional });
  }
  const named = [...properties];
  const required = named.filter(([, field]) => !field.optional).map(([name]) => name);
  return {
    jsonSchema: {
      type: "object",
      properties: Object.fromEntries(named.map(([name, field]) => [name, field.schema])),
      ...(required.length > 0 && { required }),
      additionalProperties: others,
    },
    fields: named.map(([, field]) => field.key),
  };
}

function reportTwice(first: Spanned<string> | undefined, second: Spanned<string>, context: ReadContext): void {
  const notes = first ? [{ message: "the first one is here", span: first.span }] : [];
  context.report("duplicate-key", { message: `the field \`${second.value}\` is written twice`, span: second.span, notes });
}

function readField(key: FieldKey, node: SyntaxNode, context: ReadContext): JsonSchema | undefined {
  switch (key.kind) {
    case "array":
      return describe(readArray(node, context), key.description);
    case "object":
      return describe(readObject(node, context), key.description);
    case "enum":
      return describe(readEnum(node, context), key.description);
    default:
      return readType(node, context);
  }
}

function describe(schema: JsonSchema | undefined, description: string | undefined): JsonSchema | undefined {
  return schema && description ? { ...schema, description } : schema;
}

/** A type, or a map with fields. */
function readType(node: SyntaxNode, context: ReadContext): JsonSchema | undefined {
  if (node.kind === "map") return readShortNotation(node, context).jsonSchema;
  if (node.kind === "scalar" && (typeof node.value === "string" || node.text === "null")) return readScalarType(node, context);
  if (node.kind === "list") return refuseNotation(node.span, context, listNote(node.items));
  return refuseValue(node, context, { wanted: "a type, such as `string`" });
}

function listNote(items: readonly SyntaxNode[]): { message: string; note: string } {
  const isList = items.length === 1;
  const note = isList
    ? "a list of values is written `name(array): string`"
    : "a choice between values is written `name(enum): [a, b]`";
  return { message: "a list is not a type", note };
}

function readArray(node: SyntaxNode, context: ReadContext): JsonSchema | undefined {
  const items = readType(node, context);
  return items && { type: "array", items };
}

function readObject(node: SyntaxNode, context: ReadContext): JsonSchema | undefined {
  if (node.kind !== "map") return refuseValue(node, context, { wanted: "a map of fields" });
  return readShortNotation(node, context).jsonSchema;
}

function readEnum(node: SyntaxNode, context: ReadContext): JsonSchema | undefined {
  if (node.kind !== "list") return refuseValue(node, context, { wanted: "a list of values", note: "write `[a, b]`" });
  if (node.items.length === 0) {
    return context.report("empty-list", { message: `\`${context.path}\` has no values to choose from`, span: node.span });
  }
  const values = node.items.filter((item) => isChoice(item, context)).map((item) => (item as ScalarNode).value);
  const unique = [...new Set(values)];
  return unique.every((value) => typeof value === "string") ? { type: "string", enum: unique } : { enum: unique };
}

function isChoice(item: SyntaxNode, context: ReadContext): boolean {
  if (item.kind === "scalar") return true;
  refuseValue(item, context, { wanted: "a list of plain values" });
  return false;
}

function refuseNotation(span: Span, context: ReadContext, reason: { message: string; note: string }): undefined {
  return context.report("schema-notation", { message: reason.message, span, note: reason.note });
}
