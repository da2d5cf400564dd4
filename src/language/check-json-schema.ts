import { clipText } from "../util/clip-text.ts";
import { didYouMean, quoteNames } from "../util/did-you-mean.ts";
import { describeNode } from "./node-problems.ts";
import { contextAt, type ReadContext } from "./shape.ts";
import type { MapEntry, MapNode, SyntaxNode } from "./syntax-node.ts";

const types = ["string", "number", "integer", "boolean", "null", "array", "object"];

type Check = (node: SyntaxNode, context: ReadContext) => SyntaxNode | undefined;

/** Keywords of JSON Schema 2020-12 whose values hold schemas, or that have one form that authors miss. */
const checks: Readonly<Record<string, Check>> = {
  type: checkType,
  required: checkRequired,
  ...each(["items", "not", "if", "then", "else", "contains", "propertyNames"], checkSchema),
  ...each(["additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contentSchema"], checkSchema),
  ...each(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"], checkMembers),
  ...each(["allOf", "anyOf", "oneOf", "prefixItems"], checkItems),
};

const others =
  "title description default examples enum const format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minContains maxContains minProperties maxProperties dependentRequired deprecated readOnly writeOnly contentEncoding contentMediaType $id $ref $schema $anchor $dynamicRef $dynamicAnchor $comment $vocabulary";

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
  return { ...node, entries };
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

function checkMembers(node: SyntaxNode, context: ReadContext): SyntaxNode {
  if (node.kind !== "map") return node;
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
