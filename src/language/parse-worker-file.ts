import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Source, Span, Spanned } from "../diagnostics/source.ts";
import type { JsonValue } from "../protocol/json.ts";
import { readFields } from "./collection-shapes.ts";
import { readJson } from "./json-shape.ts";
import { readOldSpellings } from "./old-spellings.ts";
import { parseYaml } from "./parse-yaml.ts";
import { describeNode } from "./refuse-value.ts";
import type { ReadContext } from "./shape.ts";
import { splitSource } from "./split-source.ts";
import type { MapNode, SyntaxNode } from "./syntax-node.ts";
import type { WorkerFile } from "./worker-file.ts";
import { extraKeys, workerKeys } from "./worker-keys.ts";

export interface ParsedWorkerFile {
  /**
   * What could be read, also of a file with mistakes; undefined where it is no worker file at all. Nothing may be done
   * with it while there are errors, except to look for more of them.
   */
  readonly file: WorkerFile | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads a `.worker` file. Tells all mistakes at once, never throws, and works in proportion to the length of the text. `patch`
 * gets the frontmatter's tree before any key is read, and gives the one to read.
 */
export function parseWorkerFile(source: Source, patch: (root: MapNode) => MapNode = (root) => root): ParsedWorkerFile {
  const parts = splitSource(source);
  if (!("frontmatter" in parts)) return { file: undefined, diagnostics: [parts] };
  const list = new DiagnosticList();
  const context: ReadContext = { path: "", report: list.report };
  const root = parseYaml(parts.frontmatter, list.report);
  const keys = readKeys(root.kind === "map" ? patch(root) : root, parts.frontmatter, context);
  const instructions = { value: source.text.slice(parts.body.start, parts.body.end), span: parts.body };
  return { file: { source, ...keys, instructions }, diagnostics: list.toArray() };
}

type Keys = Omit<WorkerFile, "source" | "instructions">;

function readKeys(root: SyntaxNode, frontmatter: Span, context: ReadContext): Keys {
  if (root.kind !== "map") {
    if (root.kind !== "unreadable") reportNotMap(root, frontmatter, context);
    return { extras: {} };
  }
  const isOwn = (key: string): boolean => key.startsWith("x-");
  const known = readOldSpellings({ ...root, entries: root.entries.filter((entry) => !isOwn(entry.key.value)) }, context);
  const { version, license, metadata, ...keys } = readFields(known, { ...workerKeys, ...extraKeys }, context) ?? {};
  const own = root.entries.filter((entry) => isOwn(entry.key.value));
  const extras: [string, JsonValue | undefined][] = [
    ...Object.entries({ version, license, metadata }).map(
      ([key, written]) => [key, written?.value] as [string, JsonValue | undefined],
    ),
    ...own.map(({ key, value }) => [key.value, readJson(value, { context })] as [string, JsonValue | undefined]),
  ];
  reportModelConflict(keys, context);
  return { ...keys, extras: withoutAbsent(extras) };
}

function withoutAbsent(entries: readonly [string, JsonValue | undefined][]): Record<string, JsonValue> {
  return Object.fromEntries(entries.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined));
}

function reportModelConflict(
  keys: { model?: Spanned<unknown>; compatible_models?: Spanned<unknown> },
  context: ReadContext,
): void {
  const { model, compatible_models } = keys;
  if (model === undefined || compatible_models === undefined) return;
  const notes = [{ message: "`model` is set here", span: model.span }, { message: "keep one of them" }];
  const message = "`compatible_models` cannot stand beside `model`";
  context.report("model-conflict", { message, span: compatible_models.span, notes });
}

function explainColon(next: string): string {
  if (next.trim() === "") return "what follows the colon looks like a space, but is another character: type the space again";
  return "a space has to follow the colon: `key: value`";
}

function reportNotMap(root: SyntaxNode, frontmatter: Span, context: ReadContext): void {
  const span = root.span.end > root.span.start ? root.span : frontmatter;
  const [, afterColon] = (root.kind === "scalar" && /^[\w-]+:([^ ])/.exec(root.text)) || [];
  const note = afterColon === undefined ? "write lines of `key: value`" : explainColon(afterColon);
  const message = `the frontmatter has to be a map, not ${describeNode(root)}`;
  context.report("frontmatter-not-map", { message, span, note: note });
}
