import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Source, Span } from "../diagnostics/source.ts";
import { builtInToolsets } from "../protocol/built-in-toolsets.ts";
import type { JsonValue } from "../protocol/json.ts";
import { manifestKeys } from "./manifest.ts";
import { readFields } from "./shapes/collection-shapes.ts";
import { readJson } from "./shapes/json-shape.ts";
import { describeNode, linesNote } from "./shapes/node-problems.ts";
import { readOldSpellings } from "./shapes/old-spellings.ts";
import type { ReadContext } from "./shapes/shape.ts";
import { splitSource } from "./split-source.ts";
import type { WorkerFile } from "./worker-file.ts";
import { extraKeys, workerKeys } from "./worker-keys.ts";
import { parseYaml } from "./yaml/parse-yaml.ts";
import type { MapEntry, MapNode, SyntaxNode } from "./yaml/syntax-node.ts";

export interface ParsedWorkerFile {
  /**
   * The readable part, also of a file with mistakes; undefined if it is no worker file at all. Nothing may be done
   * with it while there are errors, except to look for more of them.
   */
  readonly file: WorkerFile | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads a `.worker` file. Reports all mistakes, never throws, and works in proportion to the length of the text. `patch` gets
 * the tree of the frontmatter before any key is read, and returns the one to read.
 */
export function parseWorkerFile(source: Source, patch: (root: MapNode) => MapNode = (root) => root): ParsedWorkerFile {
  const list = new DiagnosticList();
  const parts = splitSource(source, list.report);
  if (!parts) return { file: undefined, diagnostics: list.toArray() };
  const context: ReadContext = { path: "", report: list.report, elsewhere: findElsewhere };
  const root = parseYaml(parts.frontmatter, list.report);
  if (root.kind !== "map") reportNotMap(root, parts.frontmatter, context);
  const keys = root.kind === "map" ? readKeys(patch(root), context) : { extras: {} };
  const instructions = { value: source.text.slice(parts.body.start, parts.body.end), span: parts.body };
  return { file: { source, ...keys, instructions }, diagnostics: list.toArray() };
}

function readKeys(root: MapNode, context: ReadContext): Omit<WorkerFile, "source" | "instructions"> {
  const isOwn = ({ key }: MapEntry): boolean => key.value.startsWith("x-");
  const known = readOldSpellings({ ...root, entries: root.entries.filter((entry) => !isOwn(entry)) }, context);
  const { version, license, metadata, ...keys } = readFields(known, { ...workerKeys, ...extraKeys }, context) ?? {};
  const own = root.entries.filter(isOwn).map(({ key, value }) => [key.value, readJson(value, { context })] as const);
  const carried = Object.entries({ version, license, metadata }).map(([key, written]) => [key, written?.value] as const);
  const extras = [...carried, ...own].filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  reportModelConflict(keys, context);
  return { ...keys, extras: Object.fromEntries(extras) };
}

/** Keys of the manifest, and keys of toolsets that are written beside `toolsets`. */
function findElsewhere(key: string): string | undefined {
  if (Object.hasOwn(manifestKeys, key)) return "it is a key of `llm-do.yaml`";
  if (builtInToolsets.some((name) => name === key)) return `write \`toolsets: { ${key}: … }\``;
  if (key === "_approval_config")
    return "write it under the toolset whose tools are meant: `toolsets: { shell: { _approval_config: … } }`";
  return key === "rules" ? "rules for commands are a key of `shell`: `toolsets: { shell: { rules: … } }`" : undefined;
}

function reportModelConflict({ model, compatible_models: patterns }: Partial<WorkerFile>, { report }: ReadContext): void {
  if (model === undefined || patterns === undefined) return;
  const notes = [{ message: "`model` is set here", span: model.span }, { message: "keep one of them" }];
  report("model-conflict", { message: "`compatible_models` cannot stand beside `model`", span: patterns.span, notes });
}

function reportNotMap(root: SyntaxNode, frontmatter: Span, { report }: ReadContext): void {
  if (root.kind === "unreadable") return;
  const span = root.span.end > root.span.start ? root.span : frontmatter;
  const note = linesNote(root);
  report("frontmatter-not-map", { message: `the frontmatter has to be a map, not ${describeNode(root)}`, span, note });
}
