import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../../src/diagnostics/diagnostic.ts";
import type { Source, Spanned } from "../../src/diagnostics/source.ts";
import { parseWorkerFile } from "../../src/language/parse-worker-file.ts";
import { parseTemplate, type Template } from "../../src/language/template.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { JsonSchema } from "../../src/protocol/tool.ts";
import { showPosition } from "./tree.ts";

/**
 * One folder a case: `input.worker`, the files that it renders, and what comes of it. `diagnostics.txt` has a line for
 * each diagnostic (code, file:line:column, severity); `values.json` is an input, `rendered.txt` the instructions made
 * of it and, under a line of dashes, the prompt.
 */
export const templateFolder = join(import.meta.dirname, "templates/samples");

export interface TemplateCase {
  readonly name: string;
  readonly text: string;
  readonly diagnostics: string | undefined;
  readonly values: JsonObject | undefined;
  readonly rendered: string | undefined;
}

export function readTemplateCases(): TemplateCase[] {
  return readdirSync(templateFolder).map((name) => {
    const values = readOptional(name, "values.json");
    return {
      name,
      text: readOptional(name, "input.worker") ?? "",
      diagnostics: readOptional(name, "diagnostics.txt"),
      values: values === undefined ? undefined : (JSON.parse(values) as JsonObject),
      rendered: readOptional(name, "rendered.txt"),
    };
  });
}

function readOptional(name: string, file: string): string | undefined {
  const path = join(templateFolder, name, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

export interface CheckedCase {
  readonly templates: readonly (Template | undefined)[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The templates of a case's worker: its instructions and, if it has one, its prompt. */
export async function checkCase({ name, text }: TemplateCase): Promise<CheckedCase> {
  const { file } = parseWorkerFile({ name: "input.worker", text });
  const written = [file?.instructions, file?.prompt].filter((one): one is Spanned<string> => one !== undefined);
  const schema = file?.input?.value;
  const variables: JsonSchema | undefined = schema?.kind === "data" ? schema.jsonSchema : undefined;
  const readInclude = async (path: string): Promise<Source | undefined> => {
    const included = readOptional(name, path);
    return included === undefined ? undefined : { name: path, text: included };
  };
  const parsed = await Promise.all(written.map((one) => parseTemplate(one, { variables, readInclude })));
  return { templates: parsed.map(({ template }) => template), diagnostics: parsed.flatMap(({ diagnostics }) => diagnostics) };
}

export function renderCase({ templates }: CheckedCase, values: JsonObject): string {
  return templates.map((template) => template?.render(values) ?? "").join("---\n");
}

export function showPlaced({ code, span, severity }: Diagnostic): string {
  return `${code} ${span ? `${span.source.name}:${showPosition(span)}` : "-"} ${severity}\n`;
}
