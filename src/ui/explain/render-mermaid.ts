import type { Outline, OutlinedWorker } from "../../protocol/outline.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { planCalls } from "./plan-calls.ts";

interface Chart {
  readonly lines: string[];
  /** Nodes of workers by their names, which code calls them by. */
  readonly byName: Map<string, string>;
  /** Nodes of workers by their ids. */
  readonly byId: Map<string, string>;
}

/**
 * A Mermaid flowchart: workers are nodes, tools leaves, and an edge says what happens to the call. Names of nodes are made
 * here, and every label is escaped, so that no text of a program is taken for syntax.
 */
export function renderMermaid(outline: Outline): string {
  const { entry, workers } = outline;
  const ids = workers.map(({ id }, index) => [id, `w${index}`] as const);
  const names = workers.map(({ name }, index) => [name, `w${index}`] as const);
  const chart: Chart = { lines: ["flowchart LR"], byId: new Map(ids), byName: new Map(names.reverse()) };
  if (entry.kind === "code") addCodeEntry(chart, entry, workers);
  for (const { id, name, model } of workers)
    add(chart, `${chart.byId.get(id)}["${label(name)}${model ? `<br/>${label(model.id)}` : ""}"]`);
  for (const worker of workers) addCalls(chart, worker);
  return `${chart.lines.join("\n")}\n`;
}

function addCodeEntry(
  chart: Chart,
  { name, file }: { readonly name: string; readonly file: string },
  workers: readonly OutlinedWorker[],
): void {
  add(chart, `entry[["${label(name)}<br/>${label(file)}"]]`);
  for (const { id } of workers) add(chart, `entry -->|may call| ${chart.byId.get(id)}`);
}

function addCalls(chart: Chart, worker: OutlinedWorker): void {
  const from = chart.byId.get(worker.id) ?? "";
  let leaves = 0;
  for (const toolset of worker.toolsets) {
    for (const { tools, plan } of planCalls(toolset)) {
      for (const { name, calls = [] } of tools) {
        const called = toolset.worker === undefined ? undefined : chart.byId.get(toolset.worker);
        const node = called ?? `${from}t${leaves++}`;
        if (called === undefined) add(chart, `${node}(["${label(name)}"])`);
        add(chart, `${from} -->|${plan.verdict}| ${node}`);
        for (const id of toolset.workers ?? []) add(chart, `${node} -.->|may call| ${chart.byId.get(id)}`);
        for (const [index, callee] of calls.entries()) addCallOfCode(chart, { node, callee, leaf: `${node}c${index}` });
      }
    }
  }
}

function addCallOfCode(
  chart: Chart,
  { node, callee, leaf }: { readonly node: string; readonly callee: string; readonly leaf: string },
): void {
  const known = chart.byName.get(callee);
  if (known === undefined) add(chart, `${leaf}(["${label(callee)}"])`);
  add(chart, `${node} -.->|may call| ${known ?? leaf}`);
}

function add(chart: Chart, line: string): void {
  chart.lines.push(`  ${line}`);
}

/** Escapes a text inside quotes: all but letters, digits and a few harmless signs become entities that Mermaid reads. */
function label(text: string): string {
  return escapeText(text, { keepBackslashes: true }).replace(
    /[^\p{L}\p{M}\p{N} _.,:/@*+=-]/gu,
    (sign) => `#${sign.codePointAt(0)};`,
  );
}
