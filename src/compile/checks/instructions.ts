import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { OutlinedWorker } from "../../protocol/outline.ts";
import { builtInTools } from "../../toolsets/tool-name.ts";
import { quoteNames } from "../../util/text/did-you-mean.ts";
import { editDistance } from "../../util/text/nearest-names.ts";
import type { Compilation } from "../compilation.ts";
import type { Graph } from "../powers/ceiling.ts";
import type { ResolvedWorker } from "../resolve/resolve-workers.ts";

/** A name in backticks, with the words before and after it that say that it is a tool. */
const quoted = /(\b(?:use|using|call|calling|calls|invoke|run|ask|asks|tool)\s+(?:the\s+)?)?`([A-Za-z][\w-]*)`(\s+tools?\b)?/gi;

/** Reports names in backticks that are meant for tools which the worker does not have. Nothing is reported where not all are known. */
export async function checkInstructions(
  { diagnostics, home }: Compilation,
  resolved: Iterable<ResolvedWorker>,
  graph: Graph,
): Promise<void> {
  for (const worker of resolved) {
    const outlined = graph.workers.get(worker.id);
    const tools = outlined && toolsOf(outlined, graph);
    if (!tools || worker.generated) continue;
    for (const { name, start, isCalled, isTool } of unknownNames(worker, [...tools, ...otherNames(worker, outlined)])) {
      const near = [...tools].filter((tool) => isMisspelt(name, tool));
      const isWorker = isCalled && name !== worker.name && (await home.names.workerNames()).includes(name);
      if (near.length === 0 && !isTool && !isWorker) continue;
      const span = { source: worker.file.instructions.span.source, start, end: start + name.length };
      const note = isWorker ? `name it under \`toolsets\`: \`${name}: {}\`` : noteOn(near, tools);
      diagnostics.report("instructions-tool", { message: `\`${worker.name}\` has no tool \`${name}\``, span, note });
    }
  }
}

interface QuotedName {
  readonly name: string;
  /** In the worker's file. */
  readonly start: number;
  /** The words before it tell the model to call it. */
  readonly isCalled: boolean;
  /** It can be nothing but a tool. */
  readonly isTool: boolean;
}

/** Names in backticks that are none of the known ones, each once. */
function unknownNames({ file: { instructions } }: ResolvedWorker, known: readonly string[]): readonly QuotedName[] {
  const seen = new Set(known);
  return [...instructions.value.matchAll(quoted)].flatMap(({ 0: whole, 1: before = "", 2: name = "", 3: after = "", index }) => {
    if (seen.has(name)) return [];
    seen.add(name);
    const isCalled = /^(?:use|using|call|calling|calls|invoke|run|ask|asks)\b/i.test(before);
    const isTool = builtInTools.has(name) || after !== "" || (isCalled && name.includes("_"));
    return [{ name, start: instructions.span.start + index + whole.indexOf("`") + 1, isCalled, isTool }];
  });
}

function noteOn(near: readonly string[], tools: ReadonlySet<string>): string {
  if (near.length > 0) return `did you mean ${quoteNames(near, " or ")}?`;
  return tools.size > 0 ? `its tools: ${quoteNames([...tools].sort())}` : "it has no tools: name them under `toolsets`";
}

/** Undefined if not all are known. */
function toolsOf({ toolsets }: OutlinedWorker, { workers }: Graph): ReadonlySet<string> | undefined {
  const tools = toolsets.flatMap((toolset) => toolset.tools);
  if (toolsets.some(({ kind }) => kind === "unverified") || tools.some(({ unverified }) => unverified)) return undefined;
  const called = toolsets.flatMap((toolset) => toolset.workers ?? []).flatMap((id) => workers.get(id)?.name ?? []);
  return new Set([...tools.map(({ name }) => name), ...called]);
}

/** Names that are no tools: toolsets, scopes, and fields of the schemas. */
function otherNames({ references }: ResolvedWorker, { scopes, input, output }: OutlinedWorker): ReadonlySet<string> {
  const fields = new Set<string>();
  for (const schema of [input, output]) if (schema) collectFields(schema as JsonValue, fields);
  return new Set([...references.map(({ syntax }) => syntax.reference.value), ...scopes.map(({ name }) => name), ...fields]);
}

/** Collects the keys and the texts of a schema: fields, and values of enumerations. */
function collectFields(value: JsonValue, into: Set<string>): void {
  if (typeof value === "string") into.add(value);
  else if (Array.isArray(value)) for (const item of value) collectFields(item, into);
  else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) {
      into.add(key);
      collectFields(member as JsonValue, into);
    }
  }
}

function isMisspelt(name: string, tool: string): boolean {
  const distance = editDistance(name.toLowerCase(), tool.toLowerCase());
  return distance <= Math.min(2, Math.floor(tool.length / 4));
}
