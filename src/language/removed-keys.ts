import { stringify } from "yaml";
import { clipText } from "../util/clip-text.ts";
import type { SyntaxNode } from "./syntax-node.ts";

/** What to tell of a key that is no more. */
export interface Removed {
  readonly code: "removed-key" | "inline-code";
  readonly message: string;
  readonly note: string;
}

/** Keys of older worker files whose values have another form or another place by now. */
export const removedKeys: Readonly<Record<string, (value: SyntaxNode) => Removed>> = {
  system: () => removed("system", "the instructions are the text under the closing `---`: move it there"),
  instructions: () => removed("instructions", "the instructions are the text under the closing `---`: move them there"),
  sandboxes: (value) =>
    removed("sandboxes", example("folders are named under `sandbox.paths`", { sandbox: { paths: toScopes(value) } })),
  tool_rules: () =>
    removed(
      "tool_rules",
      example("which calls are pre-approved is said where a toolset is named", {
        toolsets: { name: { _approval_config: { tool_name: { pre_approved: true } } } },
      }),
    ),
  shell_rules: (value) => removed("shell_rules", shellExample({ rules: toRules(value) })),
  shell_default: () => removed("shell_default", shellExample({ default: { approval_required: true } })),
  shell_cwd: () =>
    removed("shell_cwd", "name the folder under `sandbox.paths`: a command runs in a folder that the model chooses among these"),
  allow_workers: (value) =>
    removed(
      "allow_workers",
      example("it belongs to the toolset that calls workers", {
        toolsets: { delegation: { allow_workers: namesIn(value, "*") } },
      }),
    ),
  entry: () =>
    removed(
      "entry",
      "delete it: the entry is `main.worker`, or what `entry` in `llm-do.yaml` or `--entry` on the command line says",
    ),
  tools: (value) =>
    removed(
      "tools",
      example("tools are named under `toolsets`", {
        toolsets: Object.fromEntries(namesIn(value, "my_tool").map((name) => [name, {}])),
      }),
    ),
  options: () =>
    removed(
      "options",
      example("options of the model are called `model_settings`", {
        model_settings: { temperature: 0.2, max_output_tokens: 4000 },
      }),
    ),
  params: () => removed("params", inputExample()),
  defaults: () => removed("defaults", `${inputExample()}\na default is written in the text: {{ company | default: "none" }}`),
  functions: () => ({
    code: "inline-code",
    message: "a worker file holds no code: `functions` is never run",
    note: "export the functions from `tools.ts` with `tool({ … })`, and name them under `toolsets`",
  }),
};

function inputExample(): string {
  return example("parameters are fields of the input, and `?` makes one optional", { input: { "company?": "string" } });
}

function removed(key: string, note: string): Removed {
  return { code: "removed-key", message: `\`${key}\` is a key of older worker files`, note };
}

function example(sentence: string, lines: unknown): string {
  return `${sentence}:\n${stringify(lines, { lineWidth: 0 }).trimEnd()}`;
}

function shellExample(config: unknown): string {
  return example("it belongs to the toolset `shell`", { toolsets: { shell: config } });
}

const shownEntries = 5;

/** The first names in a list (or the only one), for an example that looks like what was written. */
function namesIn(value: SyntaxNode, otherwise: string): string[] {
  const nodes = value.kind === "list" ? value.items : [value];
  const texts = nodes.map((node) => (node.kind === "scalar" && typeof node.value === "string" ? node.value : ""));
  const names = texts.filter((text) => /^[\w*-]{1,64}$/.test(text)).slice(0, shownEntries);
  return names.length > 0 ? names : [otherwise];
}

function toRules(value: SyntaxNode): unknown[] {
  const rules = value.kind === "list" ? value.items.slice(0, shownEntries) : [];
  const patterns = rules.map((rule) => memberOf(rule, "pattern") ?? "git log");
  return (patterns.length > 0 ? patterns : ["git log"]).map((pattern) => ({ pattern, approval_required: true }));
}

function toScopes(value: SyntaxNode): unknown {
  const folders = value.kind === "map" ? value.entries.slice(0, shownEntries) : [];
  const scopes = folders.map(({ key, value: folder }) => {
    const root = memberOf(folder, "root") ?? memberOf(folder, "path") ?? "./folder";
    return [clipText(key.value, 64), { root, mode: memberOf(folder, "mode") === "rw" ? "rw" : "ro" }];
  });
  return scopes.length > 0 ? Object.fromEntries(scopes) : { name: { root: "./folder", mode: "ro" } };
}

function memberOf(node: SyntaxNode, key: string): string | undefined {
  const value = node.kind === "map" ? node.entries.find((entry) => entry.key.value === key)?.value : undefined;
  return value?.kind === "scalar" && typeof value.value === "string" ? clipText(value.value, 64) : undefined;
}
