import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { MapEntry, MapNode, SyntaxNode } from "../yaml/syntax-node.ts";
import { describeNode } from "./node-problems.ts";
import { contextAt, type ReadContext } from "./shape.ts";

const types = ["string", "number", "integer", "boolean", "null", "array", "object"];

const formats =
  "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference uuid uri-template json-pointer relative-json-pointer regex".split(
    " ",
  );

const counts = "minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties".split(" ");

type Check = (node: SyntaxNode, context: ReadContext) => SyntaxNode | undefined;

/** Keywords of JSON Schema 2020-12 whose values hold schemas, or that have one form that authors miss. */
const checks: Readonly<Record<string, Check>> = {
  type: checkType,
  required: checkRequired,
  enum: checkEnum,
  pattern: checkPattern,
  format: checkFormat,
  ...each(counts, checkCount),
  ...each(["items", "not", "if", "then", "else", "contains", "propertyNames"], checkSchema),
  ...each(["additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contentSchema"], checkSchema),
  ...each(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"], checkMembers),
  ...each(["allOf", "anyOf", "oneOf", "prefixItems"], checkItems),
};

const others =
  "title description default examples const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf uniqueItems dependentRequired deprecated readOnly writeOnly contentEncoding contentMediaType $id $ref $schema $anchor $dynamicRef $dynamicAnchor $comment $vocabulary";

const keywords = [...Object.keys(checks), ...others.split(" ")];

function each(names: readonly string[], check: Check): Record<string, Check> {
  return Object.fromEntries(names.map((name) => [name, check]));
}

/** Reports misspelt keywords and types of a JSON Schema, each at its word. Returns the schema without them. */
export function checkSchema(node: SyntaxNode, context: ReadContext): SyntaxNode {
  return node.kind === "map" ? checkKeywords(node, context) : node;
}

export function checkKeywords(node: MapNode, context: ReadContext): MapNode {
  const entries = node.entries.flatMap((entry): MapEntry[] => {
    const { key } = entry;
    const inside = contextAt(context, key.value);
    const check = Object.hasOwn(checks, key.value) ? checks[key.value] : undefined;
    if (check) return keep(entry, check(entry.value, inside));
    if (keywords.includes(key.value) || key.value.startsWith("x-")) return [entry];
    const near = didYouMean(key.value, keywords);
    const message = `\`${clipText(key.value, 60)}\` is no keyword of JSON Schema`;
    const note = near ?? "it means nothing to a validator: delete it, or begin it with `x-`";
    context.report(near ? "schema-keyword" : "schema-keyword-unknown", { message, span: key.span, note });
    return near ? [] : [entry];
  });
  reportUndeclared({ ...node, entries }, context);
  return { ...node, entries: entries.filter((entry) => isOfType(entry, node, context)) };
}

function memberOf(node: MapNode, key: string): SyntaxNode | undefined {
  return node.entries.find((entry) => entry.key.value === key)?.value;
}

/** Reports names under `required` that no field has: no value could have them by intention. */
function reportUndeclared(node: MapNode, { report }: ReadContext): void {
  const [required, properties] = [memberOf(node, "required"), memberOf(node, "properties")];
  if (required?.kind !== "list" || properties?.kind !== "map") return;
  const fields = properties.entries.map(({ key }) => key.value);
  for (const item of required.items) {
    if (item.kind !== "scalar" || fields.includes(item.text)) continue;
    const near = didYouMean(item.text, fields);
    const message = `\`${clipText(item.text, 60)}\` is required, and \`properties\` has no such field`;
    report(near ? "schema-keyword" : "schema-keyword-unknown", { message, span: item.span, note: near ?? "declare it there" });
  }
}

/** A default that the type refuses would fail each call that leaves the field out. */
function isOfType({ key, value }: MapEntry, node: MapNode, { path, report }: ReadContext): boolean {
  const type = memberOf(node, "type");
  if (key.value !== "default" || type?.kind !== "scalar" || !types.includes(type.text.trim())) return true;
  if (value.kind === "unreadable" || typesOf(value).includes(type.text.trim())) return true;
  const message = `\`${path}.default\` is ${describeNode(value)}, and the type is \`${type.text.trim()}\``;
  report("schema-keyword", { message, span: value.span, note: "write a value of the type, or delete the key" });
  return false;
}

function typesOf(node: SyntaxNode): readonly string[] {
  if (node.kind !== "scalar") return [node.kind === "list" ? "array" : "object"];
  if (node.value === null) return ["null"];
  return typeof node.value === "number" && Number.isInteger(node.value) ? ["integer", "number"] : [typeof node.value];
}

function keep(entry: MapEntry, value: SyntaxNode | undefined): MapEntry[] {
  return value ? [{ ...entry, value }] : [];
}

function checkType(node: SyntaxNode, { report }: ReadContext): SyntaxNode | undefined {
  const written = node.kind === "list" ? node.items : [node];
  const wrong = written.filter((one) => one.kind !== "scalar" || !types.includes(one.text.trim()));
  for (const one of wrong) {
    const text = one.kind === "scalar" ? one.text.trim() : "";
    const message =
      one.kind === "scalar" ? `\`${clipText(text, 40)}\` is not a type` : `a type is a word, not ${describeNode(one)}`;
    const note = didYouMean(text, types) ?? `the types are ${quoteNames(types)}`;
    report("schema-type", { message, span: one.span, note });
  }
  return wrong.length > 0 ? undefined : node;
}

function checkRequired(node: SyntaxNode, { path, report }: ReadContext): SyntaxNode | undefined {
  if (node.kind === "list" || node.kind === "unreadable") return node;
  const note = "write `required: [name]` beside `properties`, with the names of the fields";
  return report("schema-keyword", {
    message: `\`${path}\` is a list of names, not ${describeNode(node)}`,
    span: node.span,
    note,
  });
}

function checkEnum(node: SyntaxNode, { path, report }: ReadContext): SyntaxNode | undefined {
  if (node.kind === "list" || node.kind === "unreadable") return node;
  const example = node.kind === "scalar" ? node.text.split(",").map((text) => text.trim()) : ["a", "b"];
  const message = `\`${path}\` is a list of values, not ${describeNode(node)}`;
  return report("schema-keyword", { message, span: node.span, note: `write \`enum: [${clipText(example.join(", "), 80)}]\`` });
}

function checkPattern(node: SyntaxNode, { path, report }: ReadContext): SyntaxNode | undefined {
  if (node.kind !== "scalar") return node;
  try {
    new RegExp(node.text, "u");
    return node;
  } catch (thrown) {
    const message = `\`${path}\` is no regular expression: ${errorMessage(thrown).replace(/^.*: /, "")}`;
    const note = "put it in quotes, and a `\\` before a character that stands for itself";
    return report("schema-keyword", { message, span: node.span, note });
  }
}

/** Formats of an author's own are passed on. */
function checkFormat(node: SyntaxNode, { report }: ReadContext): SyntaxNode {
  if (node.kind !== "scalar" || formats.includes(node.text)) return node;
  const near = didYouMean(node.text, formats);
  const message = `\`${clipText(node.text, 60)}\` is no format of JSON Schema`;
  if (near) report("schema-keyword-unknown", { message, span: node.span, note: near });
  return node;
}

function checkCount(node: SyntaxNode, { path, report }: ReadContext): SyntaxNode | undefined {
  if (node.kind === "unreadable" || (node.kind === "scalar" && Number.isSafeInteger(node.value) && Number(node.value) >= 0))
    return node;
  const message = `\`${path}\` is a whole number from 0, not ${describeNode(node)}`;
  return report("schema-keyword", { message, span: node.span });
}

function checkMembers(node: SyntaxNode, context: ReadContext): SyntaxNode | undefined {
  if (node.kind === "unreadable") return node;
  if (node.kind !== "map") {
    const message = `\`${context.path}\` is a map from names to schemas, not ${describeNode(node)}`;
    return context.report("schema-keyword", {
      message,
      span: node.span,
      note: "write `name: { type: string }`, a name on each line",
    });
  }
  const entries = node.entries.map((entry) => ({
    ...entry,
    value: checkSchema(entry.value, contextAt(context, entry.key.value)),
  }));
  return { ...node, entries };
}

function checkItems(node: SyntaxNode, context: ReadContext): SyntaxNode {
  if (node.kind !== "list") return node;
  return { ...node, items: node.items.map((item, index) => checkSchema(item, contextAt(context, index))) };
}
