import type { Spanned } from "../../diagnostics/source.ts";
import type { SchemaReferenceSyntax, SchemaSyntax } from "../../language/worker-file.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { fromJsonSchema, jsonSchemaProblem } from "../../schema/from-json-schema.ts";
import type { Schema } from "../../schema/schema.ts";
import { type SchemaSource, toSchema } from "../../schema/to-schema.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { Compilation } from "../compilation.ts";
import type { Home } from "../home.ts";
import { findExport } from "../modules/find-export.ts";

/** `known` is false if the schema is in code that could not be looked at: then anything fits. */
export interface LinkedSchema {
  readonly schema: Schema;
  readonly known: boolean;
}

/** The schema that a worker writes or refers to. Undefined if it has none, or, with a diagnostic, none that can be used. */
export async function linkSchema(
  compilation: Compilation,
  syntax: Spanned<SchemaSyntax> | undefined,
  home: Home,
): Promise<LinkedSchema | undefined> {
  if (!syntax) return undefined;
  const { value, span } = syntax;
  if (value.kind === "reference") return linkReference(compilation, value, home);
  const problem = await jsonSchemaProblem(value.jsonSchema);
  if (problem === undefined) return { schema: fromJsonSchema(value.jsonSchema), known: true };
  const [, reference] = /can't resolve reference (\S+) /.exec(problem) ?? [];
  const start = span.source.text.indexOf(reference ?? "", span.start);
  const place = reference === undefined || start > span.end ? span : { ...span, start, end: start + reference.length };
  return compilation.diagnostics.report("schema-invalid", { message: `this schema cannot be used: ${problem}`, span: place });
}

/** The same for `input`, which has to describe an object, because workers are called with one. */
export async function linkInputSchema(
  compilation: Compilation,
  syntax: Spanned<SchemaSyntax> | undefined,
  home: Home,
): Promise<LinkedSchema | undefined> {
  const linked = await linkSchema(compilation, syntax, home);
  if (!linked?.known || linked.schema.jsonSchema["type"] === "object") return linked;
  const message = "`input` has to describe an object with fields";
  return compilation.diagnostics.report("schema-invalid", { message, span: syntax?.span });
}

const anything: JsonSchema = { type: "object" };

/** `./schemas.ts:Pitch`: any Standard Schema that can say its JSON Schema, or JSON Schema as data. */
async function linkReference(
  compilation: Compilation,
  { reference }: SchemaReferenceSyntax,
  home: Home,
): Promise<LinkedSchema | undefined> {
  const { diagnostics } = compilation;
  const found = await findExport(compilation, reference, home);
  if (!found) return undefined;
  const { span } = reference;
  const shown = clipText(reference.value, 80);
  if (!found.verified) {
    const message = `\`${shown}\` is code, and the program is not trusted: what the schema says is not known`;
    diagnostics.report("not-verified-untrusted", { message, span });
    return { schema: fromJsonSchema(anything), known: false };
  }
  const schema = await readSchema(found.value);
  if ("jsonSchema" in schema) return { schema, known: true };
  const note = "export a schema of zod, valibot or arktype, or JSON Schema as data";
  return diagnostics.report("schema-not-one", { message: `\`${shown}\`: ${schema.problem}`, span, note });
}

async function readSchema(value: unknown): Promise<Schema | { readonly problem: string }> {
  try {
    const schema = toSchema(value as SchemaSource);
    await schema.settle?.();
    const problem = await jsonSchemaProblem(schema.jsonSchema);
    return problem === undefined ? schema : { problem: `it is no JSON Schema: ${problem}` };
  } catch (thrown) {
    return { problem: errorMessage(thrown) };
  }
}
