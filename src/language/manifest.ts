import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Source } from "../diagnostics/source.ts";
import { clipText } from "../util/text/clip-text.ts";
import {
  type Fields,
  list,
  mapOf,
  type NamedValue,
  type RecordOf,
  readFields,
  record,
  recordSchema,
} from "./shapes/collection-shapes.ts";
import { generatedWorkersShape } from "./shapes/generated-workers-shape.ts";
import { locatedMap } from "./shapes/json-shape.ts";
import { waitingShape } from "./shapes/model-settings-shape.ts";
import { describeNode, linesNote } from "./shapes/node-problems.ts";
import { boolean, checkName, oneOf, text, writtenText } from "./shapes/scalar-shapes.ts";
import { mcpServersShape, providersShape } from "./shapes/server-shapes.ts";
import { type ReadContext, refined, type Shape, spanned } from "./shapes/shape.ts";
import { toolsetsShape } from "./shapes/toolsets-shape.ts";
import type { ToolsetSyntax, WorkerFile } from "./worker-file.ts";
import { workerKeys } from "./worker-keys.ts";
import { parseYaml } from "./yaml/parse-yaml.ts";
import type { MapNode, SyntaxNode } from "./yaml/syntax-node.ts";

/** The settings of a worker that a profile can hold: all but those that say which worker it is. */
export type ProfileSyntax = Omit<WorkerFile, "source" | "instructions" | "extras" | "name">;

const { name: _name, ...profileKeys } = workerKeys;

const profiles: Shape<readonly NamedValue<ProfileSyntax>[]> = mapOf(record(profileKeys), { checkName });

/** A named configuration says what it configures: its name is its own. */
const namedToolsets: Shape<readonly ToolsetSyntax[]> = refined(toolsetsShape, (toolsets, _node, context) =>
  toolsets.filter(({ reference, use }) => {
    if (use) return true;
    const message = `\`toolsets.${clipText(reference.value, 64)}\` needs the key \`_use\``;
    const note = "write `reader: { _use: filesystem }`, and `reader: {}` under `toolsets` of a worker";
    context.report("missing-key", { message, span: reference.span, note });
    return false;
  }),
);

const mode = oneOf(["prompt", "reject_all"], {
  approve_all: "only the user who starts a run can approve everything: `--approve-all`",
});

const effect = oneOf(["ask", "block"], {
  deny: "a rule that denies is written `effect: block`",
  allow: "a manifest can only tighten: write `_approval_config` under the toolset, or start the run with `--approve`",
});

const rule = record(
  {
    effect: { shape: effect, required: true, description: "What becomes of calls that match." },
    rule: { shape: text(), required: true, description: "Which calls: `tool`, `worker/tool`, or `worker/tool(pattern)`." },
  },
  { note: 'write `{ effect: block, rule: "shell(rm *)" }`' },
);

/** The table of what a manifest may say. */
export const manifestKeys = {
  name: { shape: text(), description: "What the program is called. By default the name of its folder." },
  version: { shape: writtenText(), description: "The program's version." },
  description: { shape: text({ prose: true }), description: "What the program does." },
  entry: { shape: text(), default: "main", description: "What starts a run: a worker's name, or code as `tools.ts:main`." },
  model: { shape: text(), description: "The model of workers that name none, as `provider:name`." },
  toolsets: { shape: namedToolsets, description: "Named configurations of toolsets, for workers that name them." },
  sandbox: { shape: workerKeys.sandbox.shape, description: "What tools can reach, for workers that declare no `sandbox`." },
  profiles: { shape: profiles, description: "Named settings for workers that extend them." },
  context: {
    shape: workerKeys.context.shape,
    description: "How much of a long conversation a model is sent, where the worker does not say.",
  },
  model_settings: {
    shape: waitingShape,
    description: "How long requests wait and how often they are made again, where the worker does not say.",
  },
  limits: { shape: workerKeys.limits.shape, description: "How much a run may spend." },
  approval: {
    shape: record(
      {
        mode: { shape: mode, description: "What a run does at most where a call asks: ask a person, or deny." },
        rules: {
          shape: list(rule),
          description: "Calls that ask or are blocked, whatever else is said of them: `worker/tool(pattern)`.",
        },
      },
      { note: "write `{ mode: reject_all }`, or `{ rules: [{ effect: block, rule: … }] }`" },
    ),
    description: "What asks for approval. A manifest can only tighten it.",
  },
  allowed_modules: {
    shape: list(spanned(text())),
    description: "Which npm packages workers may refer to, as patterns. By default the dependencies of `package.json`.",
  },
  args: { shape: locatedMap({ note: "write `{ input: … }`" }), description: "The entry's input where a run is given none." },
  journal: { shape: boolean(), default: true, description: "Whether runs are recorded." },
  mcp_servers: {
    shape: mcpServersShape,
    description: "MCP servers by name, for workers that name them under `mcp`.",
  },
  providers: { shape: providersShape, description: "Servers of models, by the name before the colon of a model's id." },
  auth: { shape: workerKeys.auth.shape, default: "off", description: "Whether models are reached by the user's login." },
  debug: { shape: boolean(), default: false, description: "Whether all calls are shown in full detail." },
  generated_workers: { shape: generatedWorkersShape, description: "Where workers made in a run are kept, and what they may do." },
} satisfies Fields;

/** The syntax tree of `llm-do.yaml`. A key that is absent or that could not be read is absent here. */
export type ManifestFile = RecordOf<typeof manifestKeys> & { readonly source: Source };

export interface ParsedManifest {
  readonly file: ManifestFile;
  readonly diagnostics: readonly Diagnostic[];
}

/** The manifest's JSON Schema, for editors. */
export const manifestSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "llm-do.yaml",
  ...recordSchema(manifestKeys),
};

/** Reads `llm-do.yaml`. Reports all mistakes; never throws. */
export function parseManifest(source: Source): ParsedManifest {
  const diagnostics = new DiagnosticList();
  const context: ReadContext = { path: "", report: diagnostics.report, elsewhere: findElsewhere };
  const start = source.text.startsWith("\uFEFF") ? 1 : 0;
  const root = parseYaml({ source, start, end: source.text.length }, diagnostics.report);
  if (root.kind !== "map") reportNotMap(root, context);
  const keys = root.kind === "map" ? readFields(withoutOwnKeys(root), manifestKeys, context) : undefined;
  return { file: { ...keys, source }, diagnostics: diagnostics.toArray() };
}

function findElsewhere(key: string): string | undefined {
  const note = `it is a key of worker files, and of profiles: \`profiles: { name: { ${key}: … } }\``;
  return Object.hasOwn(workerKeys, key) ? note : undefined;
}

/** Keys that begin with `x-` are the author's, as in a worker file. */
function withoutOwnKeys(root: MapNode): MapNode {
  return { ...root, entries: root.entries.filter(({ key }) => !key.value.startsWith("x-")) };
}

function reportNotMap(root: SyntaxNode, context: ReadContext): void {
  if (root.kind === "unreadable") return;
  const message = `a manifest has to be a map, not ${describeNode(root)}`;
  context.report("manifest-not-map", { message, span: root.span, note: linesNote(root) });
}
