import type { JsonSchema } from "../protocol/tool.ts";
import { clipText } from "../util/clip-text.ts";
import { didYouMean, quoteNames } from "../util/did-you-mean.ts";
import { getOwn } from "../util/get-own.ts";
import { partOf } from "./part-of.ts";
import type { ReadContext } from "./shape.ts";
import type { ScalarNode } from "./syntax-node.ts";
import { warnOfComment } from "./warn-of-comment.ts";

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

/** What other languages call them. */
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
  const text = node.text.trim();
  const comma = text.indexOf(",");
  const type = comma === -1 ? text : text.slice(0, comma).trimEnd();
  const description = comma === -1 ? "" : text.slice(comma + 1).trim();
  warnOfComment(node, { prose: description !== "", report: context.report });
  const schema = getOwn(scalarTypes, type);
  if (schema !== undefined) return description === "" ? schema : { ...schema, description };
  const message = `\`${clipText(type, 60)}\` is not a type`;
  return context.report("schema-type", { message, span: partOf(node.span, type), note: noteFor(type) });
}

function noteFor(type: string): string {
  if (/\.[cm]?[jt]s$/.test(type)) return `a reference ends in the name of an export: \`${clipText(type, 60)}:Name\``;
  if (type.endsWith("[]")) return "a list is written `name(array): string`";
  const known = getOwn(otherNames, type.toLowerCase());
  if (known !== undefined) return `did you mean ${known}?`;
  const types = Object.keys(scalarTypes);
  return didYouMean(type, types) ?? `the types are ${quoteNames(types)}`;
}
