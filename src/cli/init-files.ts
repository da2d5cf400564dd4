import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { renderEditorSchema } from "./editor-schemas.ts";
import type { TemplateName } from "./init-templates.ts";
import { packageFolder } from "./read-pages.ts";

export interface InitSettings {
  readonly name: string;
  readonly template: TemplateName;
  /** `provider:name`, for workers that name none. */
  readonly model?: string | undefined;
}

/** The files of a new program, by their paths in it, with `/`. It runs as it is. */
export async function createInitFiles({ name, template, model }: InitSettings): Promise<ReadonlyMap<string, string>> {
  const folder = join(packageFolder(), "templates", template);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.map(async (file) => [relative(folder, file).replaceAll(sep, "/"), await readFile(file, "utf8")] as const);
  const own = new Map(await Promise.all(read));
  return new Map([
    ...own,
    ["llm-do.yaml", renderManifest(name, model) + (own.get("llm-do.yaml") ?? "")],
    ["schema/worker.schema.json", renderEditorSchema("worker")],
    ["schema/manifest.schema.json", renderEditorSchema("manifest")],
    ["schema/test.schema.json", renderEditorSchema("test")],
  ]);
}

function renderManifest(name: string, model: string | undefined): string {
  const models =
    model === undefined
      ? "# The model of workers that name none. Until it is set: --model, or LLM_DO_MODEL.\n# model: anthropic:claude-sonnet-4-5\n"
      : `model: ${renderText(model)}\n`;
  return `# yaml-language-server: $schema=./schema/manifest.schema.json\nname: ${renderText(name)}\n${models}`;
}

/** Quoted wherever YAML could read something else than the text. */
function renderText(text: string): string {
  return /^[A-Za-z][\w-]*(?:[:/.][\w.-]+)*$/.test(text) && !/^(?:true|false|null)$/i.test(text) ? text : JSON.stringify(text);
}
