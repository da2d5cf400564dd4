import { basename, dirname, join } from "node:path";
import { folderNames } from "../../compile/home.ts";
import { lexModule } from "../../compile/modules/lex-module.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { Host } from "../../host/host.ts";
import { parseWorkerFile } from "../../language/parse-worker-file.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { Outline } from "../../protocol/outline.ts";
import { asObject, createEditorSchema } from "../programs/editor-schemas.ts";
import type { DocumentKind } from "./cursor.ts";

/** A document that is open in the editor, with the program that it belongs to. */
export interface OpenDocument {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
  readonly kind: DocumentKind;
  /** The program's folder. */
  readonly root: string;
  /** With the texts that are being typed. */
  readonly host: Host;
  /** The outline of its latest version without errors. */
  readonly outline: Outline | undefined;
}

export function kindOf(path: string): DocumentKind {
  if (path.endsWith(".worker")) return "worker";
  return basename(path) === "llm-do.yaml" ? "manifest" : "template";
}

/** A field that a template can print, and the place that declares it. */
export interface TemplateVariable {
  readonly name: string;
  readonly schema: JsonObject;
  readonly span?: Span;
}

/** The fields of the worker's input. A template of its own file has those that its text uses, which nobody declares. */
export function variablesOf({ text, kind }: Pick<OpenDocument, "text" | "kind">): readonly TemplateVariable[] {
  if (kind !== "worker") return [];
  const { file } = parseWorkerFile({ name: "", text });
  if (!file?.input) return ["input", "attachments"].map((name) => ({ name, schema: {} }));
  const input = file.input.value;
  if (input.kind !== "data") return [];
  const properties = asObject(input.jsonSchema["properties"]);
  return input.fields.map(({ value: name, span }) => ({ name, schema: asObject(properties[name]), span }));
}

/** Workers of the program and exports of its code: what a name under `toolsets` can be, beside what comes with llm-do. */
export async function exportsOf({
  host,
  root,
}: OpenDocument): Promise<ReadonlyMap<string, { readonly path: string; readonly span: Span }>> {
  const found = new Map<string, { readonly path: string; readonly span: Span }>();
  for (const path of await folderNames(host, root).codeFiles()) {
    const { names } = await lexModule({ name: path, text: await host.files.readText(path) });
    for (const [name, span] of names) found.set(name, { path, span });
  }
  return found;
}

export async function workersOf({ host, root }: OpenDocument): Promise<readonly string[]> {
  return folderNames(host, root, join(root, "workers", "generated")).workerNames();
}

export async function workerPath({ host, root }: OpenDocument, name: string): Promise<string | undefined> {
  return (await folderNames(host, root, join(root, "workers", "generated")).workerPaths(name))[0];
}

/** The folders in which a template's files are looked for. */
export function includeFolders({ path, root }: OpenDocument): readonly string[] {
  return [...new Set([dirname(path), join(root, "templates")])];
}

/** The schemas of a place in the frontmatter, by its keys. Several where a value can have several forms. */
export function schemasAt(kind: DocumentKind, path: readonly string[]): readonly JsonObject[] {
  let schemas: readonly JsonObject[] = [createEditorSchema(kind === "manifest" ? "manifest" : "worker")];
  for (const key of path) schemas = schemas.flatMap((schema) => formsOf(schema).flatMap((form) => below(form, key)));
  return schemas.flatMap(formsOf);
}

function below(schema: JsonObject, key: string): readonly JsonObject[] {
  const items = asObject(schema["items"]);
  const found = asObject(schema["properties"])[key] ?? asObject(schema["additionalProperties"]);
  const inList = formsOf(items).flatMap((item) => (isRecord(item["properties"]) ? below(item, key) : []));
  return isRecord(found) && Object.keys(found).length > 0 ? [found as JsonObject, ...inList] : inList;
}

/** Alternatives, and the items of a list: a cursor in a list is at its item. */
function formsOf(schema: JsonObject): readonly JsonObject[] {
  const parts = ["anyOf", "oneOf", "allOf"].flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : []));
  return [schema, ...parts.flatMap((part) => formsOf(asObject(part as JsonValue)))];
}
