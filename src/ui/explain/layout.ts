import { wrapWords } from "../text/wrap-text.ts";

/** A line of a tree, with the lines below it. The text is wrapped beside the label. */
export interface TreeNode {
  readonly label?: string;
  readonly text: string;
  readonly children: readonly TreeNode[];
}

/** A label in the left column, and the texts beside it. */
export interface Row {
  readonly label: string;
  readonly texts: readonly string[];
}

/** Least width of a text: in a narrower terminal, lines are longer than the terminal is wide. */
const leastText = 20;
const shortestVerdict = 8;

/** Returns the lines of a tree, in ASCII. */
export function drawTree(root: TreeNode, columns: number): string[] {
  return [...wrap(root.text, columns - 2).map((line) => `  ${line}`), ...drawBranches(root.children, "  ", columns)];
}

function drawBranches(nodes: readonly TreeNode[], prefix: string, columns: number): string[] {
  return nodes.flatMap(({ label = "", text, children }, index) => {
    const isLast = index === nodes.length - 1;
    const below = `${prefix}${isLast ? " " : "|"}   `;
    const width = label === "" ? 0 : Math.max(shortestVerdict, label.length + 1);
    const hanging = children.length > 0 ? `|${" ".repeat(Math.max(0, width - 1))}` : " ".repeat(width);
    const [first = "", ...rest] = wrap(text, columns - below.length - hanging.length);
    return [
      `${prefix}${isLast ? "`" : "|"}-- ${label.padEnd(width)}${first}`,
      ...rest.map((line) => `${below}${hanging}${line}`),
      ...drawBranches(children, below, columns),
    ];
  });
}

/** Returns the lines of two columns. Rows with equal texts are merged under all of their labels. */
export function drawRows(rows: readonly Row[], columns: number): string[] {
  const merged = mergeRows(rows);
  const width = Math.min(Math.floor(columns * 0.4), Math.max(0, ...merged.map(({ label }) => label.length)));
  return merged.flatMap(({ label, texts }) => {
    const indent = " ".repeat(width + 4);
    const lines = texts.flatMap((text) => wrap(text, columns - indent.length)).map((line) => `${indent}${line}`);
    const labels = wrap(label, columns - 2);
    if (label.length > width) return [...labels.map((line) => `  ${line}`), ...lines];
    return lines.map((line, index) => (index === 0 ? `  ${label.padEnd(width)}  ${line.slice(indent.length)}` : line));
  });
}

function mergeRows(rows: readonly Row[]): Row[] {
  const merged = new Map<string, { readonly labels: string[]; readonly texts: readonly string[] }>();
  for (const { label, texts } of rows) {
    const key = texts.join("\n");
    const known = merged.get(key);
    if (known) known.labels.push(label);
    else merged.set(key, { labels: [label], texts });
  }
  return [...merged.values()].map(({ labels, texts }) => ({ label: labels.join(", "), texts }));
}

/** Wraps a text. A long word can leave a blank at the end of a line, which is removed. */
function wrap(text: string, columns: number): string[] {
  return wrapWords(text, Math.max(leastText, columns)).map((line) => line.trimEnd());
}
