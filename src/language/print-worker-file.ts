import { stringify } from "yaml";
import { isRecord, type JsonObject } from "../protocol/json.ts";
import type { ModelSettingsSyntax, SandboxSyntax, SchemaSyntax, ScopeSyntax, ToolsetSyntax, WorkerFile } from "./worker-file.ts";

/**
 * The text of a tree. Reading it gives the same tree again, but for the places; comments and the short notation of
 * schemas are not kept.
 */
export function printWorkerFile({ source: _source, instructions, extras, ...keys }: WorkerFile): string {
  const frontmatter = new Map([...toFrontmatter(keys), ...Object.entries(extras)]);
  const yaml = frontmatter.size === 0 ? "" : stringify(frontmatter, yamlOptions);
  return `---\n${yaml}---\n${instructions.value}`;
}

/** The keys of a tree as they are written, in maps: a key may have any name. */
function toFrontmatter({ input, output, model_settings, sandbox, toolsets, ...keys }: FileKeys): Map<string, unknown> {
  const frontmatter = new Map<string, unknown>();
  for (const [key, written] of Object.entries(keys)) {
    if (written !== undefined) frontmatter.set(key, withoutSpans(written));
  }
  if (model_settings) frontmatter.set("model_settings", toWrittenSettings(model_settings.value));
  if (input) frontmatter.set("input", toWrittenSchema(input.value));
  if (output) frontmatter.set("output", toWrittenSchema(output.value));
  if (sandbox) frontmatter.set("sandbox", toWrittenSandbox(sandbox.value));
  if (toolsets)
    frontmatter.set("toolsets", new Map(toolsets.value.map((toolset) => [toolset.reference.value, toWrittenToolset(toolset)])));
  return frontmatter;
}

type FileKeys = { readonly [K in Exclude<keyof WorkerFile, "source" | "instructions" | "extras">]?: WorkerFile[K] | undefined };

/** The keys of a tree as plain data, in the words of a file. */
export function dataOf(keys: FileKeys): JsonObject {
  return withoutMaps(toFrontmatter(keys)) as JsonObject;
}

function withoutMaps(written: unknown): unknown {
  if (!(written instanceof Map)) return written;
  return Object.fromEntries([...written].map(([key, value]) => [key, withoutMaps(value)]));
}

/** The same for a file that is made of data, but for its texts and schemas. The data has the keys and values of a file. */
export function printFrontmatter(
  { description, input, output }: Pick<WorkerFile, "description" | "input" | "output">,
  data: JsonObject,
  instructions: string,
): string {
  const frontmatter = {
    ...(description ? { description: description.value } : {}),
    ...(input ? { input: toWrittenSchema(input.value) } : {}),
    ...(output ? { output: toWrittenSchema(output.value) } : {}),
    ...data,
  };
  const yaml = Object.keys(frontmatter).length === 0 ? "" : stringify(frontmatter, yamlOptions);
  return `---\n${yaml}---\n${instructions}${instructions.endsWith("\n") ? "" : "\n"}`;
}

/** The settings of a file, as lines; schemas are JSON Schema. The data has the keys and values of a file. */
export function printSettings(data: JsonObject): string {
  return stringify(data, yamlOptions);
}

const yamlOptions = { version: "1.2", lineWidth: 0, aliasDuplicateObjects: false } as const;

/** Puts the bare value in the place of each `{ value, span }`, at any depth. */
function withoutSpans(written: unknown): unknown {
  if (Array.isArray(written)) return written.map(withoutSpans);
  if (!isRecord(written)) return written;
  if ("span" in written) return withoutSpans(written["value"]);
  return Object.fromEntries(Object.entries(written).map(([key, value]) => [key, withoutSpans(value)]));
}

/** A reference, or JSON Schema; with `$schema` where its keys could be those of the short notation. */
function toWrittenSchema(schema: SchemaSyntax): JsonObject | string {
  if (schema.kind === "reference") return schema.reference.value;
  const { jsonSchema } = schema;
  const { type, properties, $ref } = jsonSchema;
  const isPlain = $ref !== undefined || (type === "object" && isRecord(properties));
  return isPlain ? jsonSchema : { $schema: "https://json-schema.org/draft/2020-12/schema", ...jsonSchema };
}

/** Options of providers are data, and may have keys of any name. */
function toWrittenSettings({ provider_options, ...settings }: ModelSettingsSyntax): Map<string, unknown> {
  const written = new Map<string, unknown>(Object.entries(settings).map(([key, value]) => [key, withoutSpans(value)]));
  if (provider_options) written.set("provider_options", provider_options.value.options);
  return written;
}

function toWrittenSandbox({ paths, ...others }: SandboxSyntax): Map<string, unknown> {
  const written = new Map<string, unknown>(Object.entries(others).map(([key, value]) => [key, withoutSpans(value)]));
  if (paths) written.set("paths", toWrittenScopes(paths.value));
  return written;
}

function toWrittenScopes(scopes: readonly ScopeSyntax[]): Map<string, unknown> {
  return new Map(scopes.map(({ name, ...scope }) => [name.value, withoutSpans(scope)]));
}

function toWrittenToolset({ config, approvals, prefix, use }: ToolsetSyntax): Map<string, unknown> {
  const written = new Map<string, unknown>(Object.entries(config.value));
  if (use) written.set("_use", use.value);
  if (prefix) written.set("_prefix", prefix.value);
  if (approvals) {
    written.set(
      "_approval_config",
      new Map(approvals.value.map(({ tool, preApproved }) => [tool.value, { pre_approved: preApproved.value }])),
    );
  }
  return written;
}
