import { dirname, join } from "node:path";
import type { JsonObject } from "../../protocol/json.ts";
import { listModelNames } from "../completion/values.ts";
import { asObject } from "../programs/editor-schemas.ts";
import { type Cursor, findCursor } from "./cursor.ts";
import { exportsOf, includeFolders, type OpenDocument, schemasAt, variablesOf, workersOf } from "./open-document.ts";

export interface Completion {
  readonly label: string;
  readonly detail: string;
  /** Written in the place of the text from `start` to the cursor. */
  readonly text: string;
  readonly start: number;
}

type Offer = Omit<Completion, "start">;

/** Returns what can be written at a place; nothing in prose. */
export async function complete(document: OpenDocument, offset: number): Promise<readonly Completion[]> {
  const cursor = findCursor(document.text, offset, document.kind);
  if (!cursor) return [];
  const offers = await offersAt(document, cursor);
  const unique = new Map(offers.map((offer) => [offer.label, offer]));
  return [...unique.values()]
    .filter(({ label }) => fits(label, cursor.prefix))
    .map((offer) => ({ ...offer, start: cursor.start }));
}

/** Editors filter by themselves; a long list is filtered here. */
function fits(label: string, prefix: string): boolean {
  return prefix === "" || label.toLowerCase().includes(prefix.toLowerCase());
}

async function offersAt(document: OpenDocument, cursor: Cursor): Promise<readonly Offer[]> {
  switch (cursor.kind) {
    case "variable":
      return offerVariables(document, cursor.prefix);
    case "file":
      return offerFiles(document, cursor.prefix);
    case "key":
      return [...offerKeys(document, cursor.path), ...(await offerNames(document, cursor.path))];
    case "value":
      return offerValues(document, cursor.path, cursor.prefix);
  }
}

function offerVariables(document: OpenDocument, prefix: string): readonly Offer[] {
  if (prefix.includes(".")) return [];
  return variablesOf(document).map(({ name, schema }) => ({ label: name, detail: describeSchema(schema), text: name }));
}

async function offerFiles(document: OpenDocument, prefix: string): Promise<readonly Offer[]> {
  const below = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const found: Offer[] = [];
  for (const folder of includeFolders(document)) {
    const names = await document.host.files.names(join(folder, below)).catch(() => []);
    for (const name of names.filter((one) => /\.(md|txt|liquid)$/.test(one)))
      found.push({ label: below + name, detail: "file", text: below + name });
  }
  return found;
}

function offerKeys({ kind }: OpenDocument, path: readonly string[]): readonly Offer[] {
  return schemasAt(kind, path).flatMap((schema) => {
    const items = asObject(schema["items"]);
    const properties = Object.entries({ ...asObject(items["properties"]), ...asObject(schema["properties"]) });
    return properties.map(([key, value]) => ({ label: key, detail: describeSchema(asObject(value)), text: `${key}: ` }));
  });
}

/** Names of the program that are keys. */
async function offerNames(document: OpenDocument, path: readonly string[]): Promise<readonly Offer[]> {
  const [last = "", toolset = "", above] = path.toReversed();
  if (last === "toolsets") {
    const empty = (detail: string) => (label: string) => ({ label, detail, text: `${label}: {}` });
    const exported = [...(await exportsOf(document)).keys()];
    return [...(await workersOf(document)).map(empty("worker")), ...exported.map(empty("tools.ts"))];
  }
  if (last !== "_approval_config" || above !== "toolsets") return [];
  const tools = (document.outline?.workers ?? []).flatMap(
    ({ toolsets }) => toolsets.find(({ reference }) => reference === toolset)?.tools ?? [],
  );
  return [...tools, { name: '"*"', description: "all tools of this toolset" }].map(({ name, description }) => ({
    ...{ label: name, detail: description, text: `${name}: ` },
  }));
}

const shortTypes = ["string", "number", "integer", "boolean", "array", "object", "enum", "attachment", "any", "null"];

async function offerValues(document: OpenDocument, path: readonly string[], prefix: string): Promise<readonly Offer[]> {
  const [last = "", above] = path.toReversed();
  const plain = (detail: string) => (label: string) => ({ label, detail, text: label });
  if ((last === "model" || last === "compatible_models") && path.length <= 2) {
    const models = await listModelNames({ word: prefix });
    return models.map(({ value, description }) => ({ label: value, detail: description, text: value }));
  }
  if (last === "allow_workers" || (last === "entry" && document.kind === "manifest"))
    return (await workersOf(document)).map(plain("worker"));
  if (last === "fragments" || last === "system_fragments") {
    const names = await document.host.files.names(dirname(document.path)).catch(() => []);
    return names.filter((name) => /\.(md|txt)$/.test(name)).map(plain("file"));
  }
  if ((above === "input" || above === "output") && path.length === 2) return shortTypes.map(plain("type"));
  return schemasAt(document.kind, path).flatMap((schema) => valuesOf(schema).map(plain(describeSchema(schema))));
}

function valuesOf(schema: JsonObject): readonly string[] {
  const items = asObject(schema["items"]);
  const written = [schema["enum"], items["enum"]].flatMap((one) => (Array.isArray(one) ? one : []));
  const constants = [schema["const"], items["const"]].filter((one) => one !== undefined);
  const isBoolean = schema["type"] === "boolean";
  return [...written, ...constants, ...(isBoolean ? [true, false] : [])].map(String);
}

export function describeSchema(schema: JsonObject): string {
  const { type, description } = schema;
  return [typeof type === "string" ? type : "", typeof description === "string" ? description : ""]
    .filter((one) => one !== "")
    .join(": ");
}
