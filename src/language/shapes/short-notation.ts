import type { Span, Spanned } from "../../diagnostics/source.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import type { MapEntry, MapNode, ScalarNode, SyntaxNode } from "../yaml/syntax-node.ts";
import { partOf, refuseValue, warnOfComment } from "./node-problems.ts";
import { contextAt, type ReadContext } from "./shape.ts";

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
  if (node.kind === "list") return refuseNotation(node.span, context, listNote(node.items, context));
  return refuseValue(node, context, { wanted: "a type, such as `string`" });
}

function listNote(items: readonly SyntaxNode[], { path }: ReadContext): { message: string; note: string } {
  const name = path.slice(path.lastIndexOf(".") + 1);
  const shown = clipText(items.map(showItem).join(", "), 60);
  const note =
    items.length === 1
      ? `a list of values is written \`${name}(array): ${shown}\``
      : `a choice between values is written \`${name}(enum): [${shown || "a, b"}]\``;
  return { message: "a list is not a type", note };
}

/** The text of a list's item, on one line. */
function showItem({ kind, span: { source, start, end } }: SyntaxNode): string {
  const written = source.text.slice(start, end).trim();
  const isBlock = kind === "map" && !written.startsWith("{");
  return isBlock ? `{ ${written.replace(/\s*\n\s*/g, ", ")} }` : written.replace(/\s+/g, " ");
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

/** The left side of a field: `red_flags?(array, at most three)`. */
export interface FieldKey {
  /** Empty for the wildcard `(*)`. */
  readonly name: Spanned<string>;
  readonly optional: boolean;
  readonly kind?: "array" | "object" | "enum" | "*";
  readonly description?: string;
}

const kinds = ["array", "object", "enum"] as const;
const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const forms = "write `name`, `name?`, or `name(array, description)` with `array`, `object` or `enum`";

export function parseFieldKey({ key }: MapEntry, context: ReadContext): FieldKey | undefined {
  const [, name = "", question, inner] = /^([^?(]*)(\?)?(?:\((.*)\))?$/s.exec(key.value) ?? [];
  const trimmed = name.trim();
  const isWildcard = trimmed === "" && inner?.trim() === "*";
  if (!isWildcard && !namePattern.test(trimmed)) return refuseNotation(key.span, context, explainKey(key.value));
  const spannedName = { value: trimmed, span: partOf(key.span, trimmed) };
  const found = { name: spannedName, optional: question !== undefined };
  if (inner === undefined) return found;
  const { word, description } = splitDescription(inner);
  const kind = isWildcard ? "*" : kinds.find((known) => known === word);
  if (kind === undefined) return refuseKind(key, word, context);
  return { ...found, kind, ...(description !== "" && { description }) };
}

/** `string, the company's name`: the description is what follows the first comma. */
function splitDescription(text: string): { readonly word: string; readonly description: string } {
  const [word = "", ...description] = text.split(",");
  return { word: word.trim(), description: description.join(",").trim() };
}

function explainKey(key: string): { message: string; note: string } {
  const shown = clipText(key, 80);
  const opened = key.includes("(") && !key.includes(")");
  const note = opened ? "between braces a comma ends a key: put the key in quotes, or write the fields without braces" : forms;
  if (/\)\s*\?$/.test(key))
    return {
      message: `\`${shown}\`: the \`?\` stands before the bracket`,
      note: `write \`${key.slice(0, Math.max(0, key.indexOf("(")))}?(…)\``,
    };
  if (opened || /[?()]/.test(key)) return { message: `\`${shown}\` is not a field`, note };
  return {
    message: `\`${shown}\` cannot name a field`,
    note: "a field's name is letters, digits, `_` and `-`, 64 characters at most",
  };
}

function refuseKind(key: Spanned<string>, word: string, context: ReadContext): undefined {
  const message = `\`${clipText(word, 40)}\` is not a kind of field`;
  return refuseNotation(key.span, context, { message, note: didYouMean(word, kinds) ?? forms });
}

/** The types of the short notation. */
const scalarTypes: Readonly<Record<string, JsonSchema>> = {
  string: { type: "string" },
  number: { type: "number" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  null: { type: "null" },
  any: {},
  attachment: { type: "string", "x-llm-do": "attachment" },
};

/** Names of these types in other languages. */
const otherNames: Readonly<Record<string, string>> = {
  str: "`string`",
  text: "`string`",
  int: "`integer`",
  float: "`number`",
  double: "`number`",
  bool: "`boolean`",
  file: "`attachment`",
  image: "`attachment`",
  pdf: "`attachment`",
  array: "`name(array): string`",
  list: "`name(array): string`",
  object: "`name(object):` with fields under it",
  map: "`name(object):` with fields under it",
  dict: "`name(object):` with fields under it",
  enum: "`name(enum): [a, b]`",
};

/** `string, the company's name`, as JSON Schema. */
export function readScalarType(node: ScalarNode, context: ReadContext): JsonSchema | undefined {
  const { word: type, description } = splitDescription(node.text);
  warnOfComment(node, { prose: description !== "", report: context.report });
  const schema = getOwn(scalarTypes, type);
  if (schema !== undefined) return description === "" ? schema : { ...schema, description };
  const name = context.path.slice(context.path.lastIndexOf(".") + 1);
  const other = noteOnOtherNotation(node.text.trim(), name);
  const shown = other === undefined ? type : node.text.trim();
  const message = `\`${clipText(shown, 60)}\` is not a type`;
  context.report("schema-type", { message, span: partOf(node.span, type), note: other ?? noteFor(type, name) });
  // The field is there, of any type: what uses it is no second mistake.
  return {};
}

/** Choices, lists and defaults as other languages write them. */
function noteOnOtherNotation(text: string, name: string): string | undefined {
  const [, inBrackets] = /^(?:enum|literal|choice|one ?of|union)\s*[([<](.*?)[)\]>]/i.exec(text) ?? [];
  const alternatives = inBrackets ?? (/^[^,]+\|[^,]+$/.test(text) ? text : undefined);
  if (alternatives !== undefined) {
    const values = alternatives.split(/[|,]/).map((value) => value.trim().replace(/^["']|["']$/g, ""));
    return `a choice between values is written \`${name}(enum): [${clipText(values.join(", "), 60)}]\``;
  }
  const [, item] = /^(?:list|array|sequence|set)\s*(?:of\s+|[([<])\s*(\w+)/i.exec(text) ?? [];
  if (item !== undefined) return `a list is written \`${name}(array): ${getOwn(scalarTypes, item) ? item : "string"}\``;
  const [, type] = /^(\w+)\s*=|^(\w+)\s+default\b/i.exec(text) ?? [];
  if (type === undefined) return undefined;
  return `there are no defaults: write \`${name}?: ${type}\`, and what holds without it into the instructions, or \`args\` of \`llm-do.yaml\``;
}

function noteFor(type: string, name: string): string {
  if (/\.[cm]?[jt]s$/.test(type)) return `a reference ends in the name of an export: \`${clipText(type, 60)}:Name\``;
  if (type.endsWith("[]"))
    return `a list is written \`${name}(array): ${getOwn(scalarTypes, type.slice(0, -2)) ? type.slice(0, -2) : "string"}\``;
  if (type.endsWith("?"))
    return `a field that may be left out has the mark after its name: \`${name}?: ${clipText(type.slice(0, -1), 60)}\``;
  const known = getOwn(otherNames, type.toLowerCase());
  if (known !== undefined) return `did you mean ${known}?`;
  const types = Object.keys(scalarTypes);
  return didYouMean(type, types) ?? `the types are ${quoteNames(types)}`;
}
