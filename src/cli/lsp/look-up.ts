import { dirname, join } from "node:path";
import { lexModule } from "../../compile/modules/lex-module.ts";
import type { Span } from "../../diagnostics/source.ts";
import { listModels } from "../../models/model-catalog.ts";
import { builtInProviders } from "../../models/providers/providers.ts";
import type { OutlinedToolset } from "../../protocol/outline.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { describeSchema } from "./complete.ts";
import { type Cursor, endOfWord, findCursor } from "./cursor.ts";
import { exportsOf, includeFolders, type OpenDocument, schemasAt, variablesOf, workerPath } from "./open-document.ts";

/** A place in a file. Without a span: its beginning. */
export interface Definition {
  readonly path: string;
  readonly span?: Span;
}

function cursorAt({ text, kind }: OpenDocument, offset: number): Cursor | undefined {
  return findCursor(text, endOfWord(text, offset), kind);
}

/** Explains what stands at a place, in Markdown. Undefined in prose. */
export async function hover(document: OpenDocument, offset: number): Promise<string | undefined> {
  const cursor = cursorAt(document, offset);
  if (!cursor || cursor.prefix === "") return undefined;
  const { prefix: name } = cursor;
  if (cursor.kind === "file") return undefined;
  if (cursor.kind === "variable") {
    const variable = variablesOf(document).find((one) => one.name === name.split(".")[0]);
    return variable && `**${variable.name}** — ${describeSchema(variable.schema) || "a field of the input"}`;
  }
  const { path } = cursor;
  if (cursor.kind === "value") return path.at(-1) === "model" ? describeModel(name) : hoverKey(document, path);
  return hoverKey(document, [...path, name]);
}

function hoverKey(document: OpenDocument, path: readonly string[]): string | undefined {
  const name = path.at(-1) ?? "";
  const toolset = path.at(-2) === "toolsets" ? findToolset(document, name) : undefined;
  const described = schemasAt(document.kind, path)
    .map(describeSchema)
    .find((one) => one !== "");
  if (toolset) return describeToolset(toolset);
  return described === undefined ? undefined : `**${name}** — ${described}`;
}

function findToolset({ outline }: OpenDocument, reference: string): OutlinedToolset | undefined {
  return outline?.workers.flatMap(({ toolsets }) => toolsets).find((one) => one.reference === reference);
}

function describeToolset({ reference, kind, tools, beyond = [] }: OutlinedToolset): string {
  const rows = tools.map(({ name, plan }) => `- \`${name}\` ${plan.verdict}: ${plan.why}`);
  const more = beyond.map((ability) => `- it can, and its caller cannot: ${ability}`);
  return [`**${reference}** — ${kind}`, ...rows, ...more].join("\n");
}

async function describeModel(id: string): Promise<string | undefined> {
  const found = (await listModels(id, builtInProviders)).find((model) => model.id === id);
  if (!found) return undefined;
  const { price, contextWindow } = found;
  const facts = [
    ...(contextWindow === undefined ? [] : [`${formatCount(contextWindow)} tokens of context`]),
    ...(price ? [`$${price.input} in, $${price.output} out for a million tokens`] : []),
  ];
  return `**${id}**${facts.length > 0 ? ` — ${facts.join("; ")}` : ""}`;
}

/** Finds the worker, the code, the file or the field that a name means. */
export async function define(document: OpenDocument, offset: number): Promise<Definition | undefined> {
  const cursor = cursorAt(document, offset);
  if (!cursor) return undefined;
  const { prefix, start } = cursor;
  if (cursor.kind === "variable") {
    const span = variablesOf(document).find(({ name }) => name === prefix.split(".")[0])?.span;
    return span && { path: document.path, span };
  }
  if (cursor.kind === "file") return findFile(document, includeFolders(document), wordFrom(document.text, start, /^[^"'\n]*/));
  const name = wordFrom(document.text, start, /^[\w.@:/*-]*?(?=:?(?:[^\w.@:/*-]|$))/);
  return defineName(document, name);
}

function wordFrom(text: string, start: number, pattern: RegExp): string {
  return pattern.exec(text.slice(start, start + 500))?.[0] ?? "";
}

async function defineName(document: OpenDocument, name: string): Promise<Definition | undefined> {
  const worker = await workerPath(document, name);
  if (worker !== undefined) return { path: worker };
  const exported = (await exportsOf(document)).get(name);
  if (exported) return exported;
  const [, module = "", symbol] = /^(\.{1,2}\/[^:]+|[^:/]+\.(?:md|txt|worker))(?::(\w+))?$/.exec(name) ?? [];
  const file = module === "" ? undefined : await findFile(document, [dirname(document.path), document.root], module);
  if (!file || symbol === undefined) return file;
  const { names } = await lexModule({ name: file.path, text: await document.host.files.readText(file.path) });
  const span = names.get(symbol);
  return span ? { ...file, span } : file;
}

async function findFile({ host }: OpenDocument, folders: readonly string[], name: string): Promise<Definition | undefined> {
  for (const folder of folders) {
    const path = join(folder, name);
    if ((await host.files.kind(path)) === "file") return { path };
  }
  return undefined;
}
