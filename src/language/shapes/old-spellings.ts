import type { Spanned } from "../../diagnostics/source.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { MapNode } from "../yaml/syntax-node.ts";
import { readJson } from "./json-shape.ts";
import type { ReadContext } from "./shape.ts";

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
  sandboxes: (folders) => `write \`sandbox: { paths: ${showYaml(toScopes(folders))} }\``,
  tool_rules: describeToolRules,
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

/** Reads a map from names to folders, or the path of a single folder. */
function toScopes(folders: JsonValue): JsonValue {
  if (!isRecord(folders)) return { files: toScope(folders) };
  return Object.fromEntries(pairsOf(folders as JsonObject).map(([name, folder]) => [name, toScope(folder)]));
}

const scopeKeys: Readonly<Record<string, string>> = {
  path: "root",
  allowed_suffixes: "suffixes",
  text_suffixes: "suffixes",
  attachment_suffixes: "suffixes",
  max_bytes: "max_file_bytes",
};

const modes: Readonly<Record<string, string>> = { read: "ro", write: "rw", out: "rw" };

/** Suffixes of several keys are one list. */
function toScope(folder: JsonValue): JsonValue {
  if (!isRecord(folder)) return { root: typeof folder === "string" && folder !== "" ? folder : "./folder" };
  const scope: Record<string, JsonValue> = {};
  for (const [name, value] of pairsOf(folder as JsonObject)) {
    const key = getOwn(scopeKeys, name) ?? name;
    const before = scope[key];
    if (key === "mode") scope[key] = getOwn(modes, String(value)) ?? value;
    else scope[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
  }
  return scope;
}

/** Reads `[{ name: "sandbox.write", approval_required: false, allowed: true }]`, or a map by the names of tools. */
function describeToolRules(rules: JsonValue): string {
  const listed: (readonly [string, JsonValue])[] = Array.isArray(rules)
    ? rules.map((rule) => [isRecord(rule) ? String(rule["name"] ?? "tool_name") : String(rule), rule])
    : [...pairsOf(rules)];
  const tools = (listed.length > 0 ? listed : ([["tool_name", { approval_required: false }]] as const)).map(([name, rule]) => {
    const said: JsonObject = isRecord(rule) ? (rule as JsonObject) : {};
    const approval = { pre_approved: said["approval_required"] === false };
    return { name: name.replace(/^.*\./, ""), isBlocked: said["allowed"] === false, approval };
  });
  const approvals = tools.flatMap(({ name, isBlocked, approval }) => (isBlocked ? [] : [[name, approval] as const]));
  const blocks = tools.flatMap(({ name, isBlocked }) => (isBlocked ? [{ effect: "block", rule: name }] : []));
  const notes = [
    `\`_approval_config: ${showYaml(Object.fromEntries(approvals))}\` under the toolset that has the tool`,
    `\`approval: { rules: ${showYaml(blocks)} }\` in \`llm-do.yaml\``,
  ];
  return `write ${notes.filter((_, index) => [approvals, blocks][index]?.length).join(", and ")}`;
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
