import type { Spanned } from "../../diagnostics/source.ts";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { SchemaSyntax } from "../worker-file.ts";
import type { MapNode, ScalarNode, SyntaxNode } from "../yaml/syntax-node.ts";
import { checkKeywords } from "./check-json-schema.ts";
import { readJson } from "./json-shape.ts";
import { partOf, refuseValue } from "./node-problems.ts";
import { refusePythonReference } from "./old-spellings.ts";
import { type ReadContext, refined, type Shape } from "./shape.ts";
import { readScalarType, readShortNotation } from "./short-notation.ts";

/** `output`: fields in the short notation, a single type, JSON Schema 2020-12, or a reference to a schema in code. */
export const outputShape: Shape<SchemaSyntax> = {
  jsonSchema: { type: ["string", "object"] },
  read(node, context) {
    if (node.kind === "map")
      return isJsonSchema(node) ? readJsonSchema(node, context) : { kind: "data", ...readShortNotation(node, context) };
    const isType = node.kind === "scalar" && (typeof node.value === "string" || node.text === "null");
    if (isType) return readType(node, context);
    return refuseValue(node, context, {
      wanted: "a map of fields or a type",
      note: "write `summary: string`, a field on each line",
    });
  },
};

/** `input`: the same, but always a map with fields: its JSON Schema has `type: object`. */
export const inputShape: Shape<SchemaSyntax> = refined(outputShape, (schema, node, context) => {
  if (schema.kind === "reference") return schema;
  const { type, $ref } = schema.jsonSchema;
  if (type === "object") return schema;
  if (type === undefined && ($ref !== undefined || schema.fields.length > 0)) {
    return { ...schema, jsonSchema: { type: "object", ...schema.jsonSchema } };
  }
  const note = "declare a field: `input: { input: string }`";
  return context.report("input-not-object", { message: `\`${context.path}\` has to have fields`, span: node.span, note });
});

/** Distinguishes JSON Schema from the short notation, in which a field may be called `type`. */
function isJsonSchema(node: MapNode): boolean {
  const memberOf = (key: string): SyntaxNode | undefined => node.entries.find((entry) => entry.key.value === key)?.value;
  if (memberOf("$schema") !== undefined || memberOf("$ref") !== undefined) return true;
  const type = memberOf("type");
  return type?.kind === "scalar" && type.value === "object" && ["map", "list"].includes(memberOf("properties")?.kind ?? "");
}

const dialect = "https://json-schema.org/draft/2020-12/schema";

/** `$schema` is left out of what is read: there is one dialect. */
function readJsonSchema(node: MapNode, context: ReadContext): SchemaSyntax | undefined {
  const read = readJson(checkKeywords(node, context), { context });
  if (!isRecord(read)) return undefined;
  const { $schema, ...jsonSchema } = read as JsonObject;
  const named = node.entries.find((entry) => entry.key.value === "$schema");
  if (named && (typeof $schema !== "string" || $schema.replace(/#$/, "") !== dialect)) {
    const note = `write \`${dialect}\`, or delete the key`;
    context.report("schema-dialect", { message: "schemas are JSON Schema 2020-12", span: named.value.span, note });
  }
  return { kind: "data", jsonSchema, fields: propertyNames(node) };
}

function propertyNames(node: MapNode): Spanned<string>[] {
  const properties = node.entries.find((entry) => entry.key.value === "properties")?.value;
  return properties?.kind === "map" ? properties.entries.map((entry) => entry.key) : [];
}

/** Types of the short notation have no colon, so a colon before a name makes a reference. */
const moduleReference = /^([^\s,:]+):([A-Za-z_$][\w$]*)$/;

function readType(node: ScalarNode, context: ReadContext): SchemaSyntax | undefined {
  const text = node.text.trim();
  if (refusePythonReference({ value: text, span: node.span }, context, "schema")) return undefined;
  const [, module, exportName] = moduleReference.exec(text) ?? [];
  if (module !== undefined && exportName !== undefined) {
    return { kind: "reference", reference: { value: text, span: partOf(node.span, text) }, module, exportName };
  }
  if (/^[A-Z]\w*$/.test(text)) {
    const note = `write \`./schemas.ts:${text}\` for a schema that a file of the program exports`;
    return context.report("schema-type", { message: `\`${clipText(text, 60)}\` is not a type`, span: node.span, note });
  }
  const jsonSchema = readScalarType(node, context);
  return jsonSchema && { kind: "data", jsonSchema, fields: [] };
}
