import type { Spanned } from "../diagnostics/source.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { clipText } from "../util/clip-text.ts";
import { getOwn } from "../util/get-own.ts";
import { readJson } from "./json-shape.ts";
import type { ReadContext } from "./shape.ts";
import type { MapNode } from "./syntax-node.ts";

/** Keys that have a newer name and take the same values. */
const renamedKeys: Readonly<Record<string, string>> = {
  schema_in_ref: "input",
  input_model_ref: "input",
  schema_out_ref: "output",
  output_schema_ref: "output",
  schema_object: "output",
};

const below = "move the text under the closing `---`: the instructions are there";

/** Keys of older worker files, with what to write in their place for the value that the author wrote. */
const removedKeys: Readonly<Record<string, string | ((value: JsonValue) => string)>> = {
  system: below,
  instructions: below,
  sandboxes: (folders) => `write \`sandbox: { paths: ${showYaml(mapValues(folders, toScope))} }\``,
  tool_rules: (rules) => `write \`_approval_config: ${showYaml(toApprovals(rules))}\` under the toolset that has the tool`,
  shell_rules: (rules) => `write \`toolsets: { shell: { rules: ${showYaml(rules)} } }\``,
  shell_default: (standard) => `write \`toolsets: { shell: { default: ${showYaml(standard)} } }\``,
  shell_cwd: (folder) =>
    `name the folder ${showYaml(folder)} under \`sandbox.paths\`: the model chooses one of these folders for each command`,
  allow_workers: (names) => `write \`toolsets: { delegation: { allow_workers: ${showYaml(names)} } }\``,
  entry: "delete it: the entry is `main.worker`, `entry` of `llm-do.yaml`, or `--entry` on the command line",
  tools: (names) => `write \`toolsets: ${showYaml(toToolsets(names, "tool_name"))}\``,
  options: (settings) => `write \`model_settings: ${showYaml(settings)}\``,
  params: (names) => `write \`input: ${showYaml(toFields(names))}\`, where \`?\` after a name makes a field optional`,
  defaults: (values) =>
    `write ${pairsOf(values)
      .map(([name, value]) => `\`{{ ${name} | default: ${JSON.stringify(value)} }}\``)
      .join(", ")} in the text`,
  functions:
    "a worker file holds no code: export each function from `tools.ts` with `tool({ input, run })`, and name it under `toolsets`",
};

function pairsOf(value: JsonValue): readonly (readonly [string, JsonValue])[] {
  return isRecord(value) ? Object.entries(value as JsonObject) : [];
}

function mapValues(value: JsonValue, change: (one: JsonValue) => JsonValue): JsonValue {
  return isRecord(value) ? Object.fromEntries(pairsOf(value).map(([key, one]) => [key, change(one)])) : value;
}

const scopeKeys: Readonly<Record<string, string>> = { path: "root", allowed_suffixes: "suffixes", max_bytes: "max_file_bytes" };

function toScope(folder: JsonValue): JsonValue {
  if (typeof folder === "string") return { root: folder };
  return isRecord(folder)
    ? Object.fromEntries(pairsOf(folder).map(([key, one]) => [getOwn(scopeKeys, key) ?? key, one]))
    : folder;
}

/** Reads `[{ name: "sandbox.write", approval_required: false }]`, or a map by the names of tools. */
function toApprovals(rules: JsonValue): JsonValue {
  const listed: (readonly [string, JsonValue])[] = Array.isArray(rules)
    ? rules.flatMap((rule) => (isRecord(rule) ? [[String(rule["name"] ?? "tool_name"), rule as JsonObject] as const] : []))
    : [...pairsOf(rules)];
  const approvals = listed.map(([name, rule]) => {
    const isFree = isRecord(rule) && rule["approval_required"] === false && rule["allowed"] !== false;
    return [name.replace(/^.*\./, ""), { pre_approved: isFree }] as const;
  });
  return Object.fromEntries(approvals.length > 0 ? approvals : [["tool_name", { pre_approved: true }]]);
}

const olderTools: Readonly<Record<string, string>> = { Files: "filesystem", Shell: "shell", TemplateCall: "delegation" };

function toToolsets(names: JsonValue, standard: string): JsonValue {
  const listed = Array.isArray(names) ? names.map(String) : pairsOf(names).map(([name]) => name);
  const written = listed.length > 0 ? listed : [standard];
  return Object.fromEntries(written.map((name) => [getOwn(olderTools, name) ?? name, {}]));
}

/** Reads a list of names, or a map from names to what is said of them. */
function toFields(params: JsonValue): JsonValue {
  const names = Array.isArray(params) ? params.map(String) : pairsOf(params).map(([name]) => name);
  return Object.fromEntries((names.length > 0 ? names : ["company"]).map((name) => [name, "string"]));
}

/** A value as YAML on one line. */
function showYaml(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(showYaml).join(", ")}]`;
  if (isRecord(value)) {
    const pairs = pairsOf(value as JsonObject).map(([key, one]) => `${showText(key)}: ${showYaml(one)}`);
    return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
  }
  return typeof value === "string" ? showText(value) : JSON.stringify(value);
}

function showText(text: string): string {
  return /^[A-Za-z_./][\w./-]*$/.test(text) && !/^(?:true|false|null|yes|no|on|off)$/i.test(text) ? text : JSON.stringify(text);
}

/** Renames or removes the older keys of a worker's map, and reports each of them. */
export function readOldSpellings(node: MapNode, context: ReadContext): MapNode {
  const names = new Set(node.entries.map(({ key }) => key.value));
  const entries = node.entries.flatMap((entry) => {
    const { value: name, span } = entry.key;
    const current = getOwn(renamedKeys, name);
    const note = getOwn(removedKeys, name);
    if (current !== undefined) {
      const isTwice = names.has(current);
      names.add(current);
      const message = `\`${name}\` is now called \`${current}\`${isTwice ? ", which is written too" : ""}`;
      const rename = isTwice ? `keep \`${current}\` alone` : `rename it to \`${current}\``;
      context.report(isTwice ? "duplicate-key" : "old-spelling", { message, span, note: rename });
      return isTwice ? [] : [{ ...entry, key: { value: current, span } }];
    }
    if (note === undefined) return [entry];
    const value = readJson(entry.value, { context: { ...context, report: () => undefined } }) ?? "";
    const message = `\`${name}\` is a key of older worker files`;
    const code = name === "functions" ? "inline-code" : "removed-key";
    context.report(code, { message, span, note: clipText(typeof note === "string" ? note : note(value), 400) });
    return [];
  });
  return { ...node, entries };
}

/** `module.Class` or `path.py:Class`. */
const pythonReference = /^(?:(?<file>[^\s,:]*)\.py:|(?:[A-Za-z_]\w*\.)+(?=[A-Z]))(?<name>[A-Za-z_]\w*)$/;

const builtIns: Readonly<Record<string, string>> = {
  ShellToolset: "shell",
  FileSystemToolset: "filesystem",
  FilesystemToolset: "filesystem",
  FileToolset: "filesystem",
  DelegationToolset: "delegation",
};

/** Reports a reference to a Python class with what to write instead. False for any other text. */
export function refusePythonReference(
  { value, span }: Spanned<string>,
  context: ReadContext,
  what: "schema" | "toolset",
): boolean {
  const { file, name } = pythonReference.exec(value)?.groups ?? {};
  if (name === undefined) return false;
  const builtIn = what === "toolset" && file === undefined ? getOwn(builtIns, name) : undefined;
  const path = clipText((file ?? `${what}s`).replace(/^(?!\.{0,2}\/)/, "./"), 80);
  const reference = `\`${path}.ts:${name}\` for a file of the program, \`package:${name}\` for an npm package`;
  const message = `\`${clipText(value, 80)}\` refers to Python; a ${what} is TypeScript here`;
  context.report("python-reference", { message, span, note: `write ${builtIn === undefined ? reference : `\`${builtIn}\``}` });
  return true;
}
