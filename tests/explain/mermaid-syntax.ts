/** A flowchart as it was written, with its labels read back. */
export interface Flowchart {
  readonly nodes: ReadonlyMap<string, string>;
  readonly edges: readonly { readonly from: string; readonly label: string; readonly to: string }[];
}

/** Words that Mermaid takes for syntax where a node's name stands. */
const reserved = /^(?:end|graph|flowchart|subgraph|direction|style|linkStyle|classDef|class|click|default)$/i;
const shapes = [/^\["(.*)"\]$/, /^\(\["(.*)"\]\)$/, /^\[\["(.*)"\]\]$/];

/**
 * Reads the part of Mermaid's flowchart syntax that is made here, and nothing else: a header, nodes with quoted labels, edges
 * with plain labels. Throws where a line is neither, where a label holds a sign that is not escaped, or where an edge leads
 * from or to a node that is not there.
 */
export function parseFlowchart(text: string): Flowchart {
  const [header, ...lines] = text.trimEnd().split("\n");
  if (!/^flowchart (?:LR|TD)$/.test(header ?? "")) throw new Error(`no header: ${header}`);
  const nodes = new Map<string, string>();
  const edges: { from: string; label: string; to: string }[] = [];
  for (const line of lines) {
    const [, from = "", label = "", to = ""] = /^ {2}(\w+) (?:-->|-\.->)\|([a-z ]+)\| (\w+)$/.exec(line) ?? [];
    if (from !== "") edges.push({ from, label, to });
    else addNode(nodes, line);
  }
  for (const { from, to } of edges) for (const id of [from, to]) if (!nodes.has(id)) throw new Error(`no node ${id}`);
  return { nodes, edges };
}

function addNode(nodes: Map<string, string>, line: string): void {
  const [, id = "", rest = ""] = /^ {2}([A-Za-z]\w*)(\W.*)$/.exec(line) ?? [];
  if (id === "" || reserved.test(id)) throw new Error(`neither a node nor an edge: ${line}`);
  if (nodes.has(id)) throw new Error(`a second node ${id}`);
  const label = shapes.map((shape) => shape.exec(rest)?.[1]).find((found) => found !== undefined);
  if (label === undefined) throw new Error(`no shape: ${line}`);
  nodes.set(id, label.split("<br/>").map(readLabel).join("\n"));
}

function readLabel(label: string): string {
  const plain = label.replace(/#\d+;/g, "");
  if (/["#;<>&`[\]{}()|\\\p{C}]/u.test(plain)) throw new Error(`a sign is not escaped: ${label}`);
  return label.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
