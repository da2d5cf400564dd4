import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { renderEditorSchema } from "./editor-schemas.ts";
import { type TemplateName, templates } from "./init-templates.ts";
import { packageFolder } from "./read-pages.ts";

export interface InitSettings {
  readonly name: string;
  readonly template: TemplateName;
  /** `provider:name`, for workers that name none; by default the template's script. */
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
    ["llm-do.yaml", renderManifest(name, model ?? `scripted:${templates[template].script}`) + (own.get("llm-do.yaml") ?? "")],
    ["schema/worker.schema.json", renderEditorSchema("worker")],
    ["schema/manifest.schema.json", renderEditorSchema("manifest")],
    ["schema/test.schema.json", renderEditorSchema("test")],
  ]);
}

function renderManifest(name: string, model: string): string {
  const hint = model.startsWith("scripted:") ? "# A script plays the model. With a key: anthropic:claude-sonnet-4-5\n" : "";
  return `# yaml-language-server: $schema=./schema/manifest.schema.json\nname: ${renderText(name)}\n${hint}model: ${renderText(model)}\n`;
}

/** Quoted wherever YAML could read something else than the text. */
function renderText(text: string): string {
  return /^[A-Za-z][\w-]*(?:[:/.][\w.-]+)*$/.test(text) && !/^(?:true|false|null)$/i.test(text) ? text : JSON.stringify(text);
}
