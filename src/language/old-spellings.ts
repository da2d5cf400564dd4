import type { Spanned } from "../diagnostics/source.ts";
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

/** Keys of older worker files, with what to write instead. `…` stands for the value that the author wrote. */
const removedKeys: Readonly<Record<string, string>> = {
  system: "move the text under the closing `---`: the instructions are there",
  instructions: "move the text under the closing `---`: the instructions are there",
  sandboxes: "write `sandbox: { paths: … }`, where each folder has the keys `root` and `mode`",
  tool_rules: "write `_approval_config: { tool_name: { pre_approved: true } }` under the toolset that has the tool",
  shell_rules: "write `toolsets: { shell: { rules: … } }`",
  shell_default: "write `toolsets: { shell: { default: … } }`",
  shell_cwd: "name the folder … under `sandbox.paths`: the model chooses one of these folders for each command",
  allow_workers: "name each of … under `toolsets`, as `toolsets: { worker_name: {} }`",
  entry: "delete it: the entry is `main.worker`, `entry` of `llm-do.yaml`, or `--entry` on the command line",
  tools: "name each of … under `toolsets`, as `toolsets: { tool_name: {} }`",
  options: "write `model_settings: …`",
  params: "write `input: …`, where `?` after a name makes a field optional",
  defaults: 'write each of … in the text, as `{{ company | default: "none" }}`',
  functions:
    "a worker file holds no code: export each function from `tools.ts` with `tool({ input, run })`, and name it under `toolsets`",
};

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
    const written = JSON.stringify(readJson(entry.value, { context: { ...context, report: () => undefined } }) ?? "");
    const message = `\`${name}\` is a key of older worker files`;
    const code = name === "functions" ? "inline-code" : "removed-key";
    context.report(code, { message, span, note: note.replace("…", () => clipText(written, 100)) });
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
