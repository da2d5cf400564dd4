import { type Document, isAlias, isMap, isPair, isScalar, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import type { Report } from "../../diagnostics/diagnose.ts";
import type { Span, Spanned } from "../../diagnostics/source.ts";
import { getOwn } from "../../util/get-own.ts";
import type { MapEntry, ScalarNode, SyntaxNode, UnreadableNode } from "./syntax-node.ts";

/** YAML nodes to our tree, in one pass and without recursion deeper than the text may be nested. */
export function buildSyntaxTree(contents: Document["contents"], span: Span, report: Report): SyntaxNode {
  if (contents === null) return { kind: "map", span: { ...span, end: span.start }, entries: [] };
  return new TreeBuilder(span, report).build(contents);
}

/** The most values that all aliases of a text together may stand for. */
const maxAliased = 10_000;

const coreTags: Readonly<Record<string, (node: SyntaxNode) => boolean>> = {
  str: (node) => node.kind === "scalar" && typeof node.value === "string",
  int: (node) => node.kind === "scalar" && Number.isInteger(node.value),
  float: (node) => node.kind === "scalar" && typeof node.value === "number",
  bool: (node) => node.kind === "scalar" && typeof node.value === "boolean",
  null: (node) => node.kind === "scalar" && node.value === null,
  map: (node) => node.kind === "map",
  seq: (node) => node.kind === "list",
};
const coreTagPrefix = "tag:yaml.org,2002:";

interface ParsedNode {
  readonly range?: readonly [number, number, number] | null;
  readonly tag?: string;
  readonly anchor?: string;
}

class TreeBuilder {
  readonly #whole: Span;
  readonly #report: Report;
  readonly #anchors = new Map<string, SyntaxNode>();
  /** The number of nodes below a node, with all aliases followed. */
  readonly #sizes = new WeakMap<SyntaxNode, number>();
  #aliased = 0;

  constructor(whole: Span, report: Report) {
    this.#whole = whole;
    this.#report = report;
  }

  build(node: unknown): SyntaxNode {
    const parsed = (node ?? {}) as ParsedNode;
    const span = this.#spanOf(parsed);
    if (isAlias(node)) return this.#follow(node.source, span);
    if (parsed.anchor !== undefined) this.#anchors.delete(parsed.anchor);
    const built = this.#checkTag(parsed, this.#buildValue(node, span));
    if (parsed.anchor !== undefined) this.#anchors.set(parsed.anchor, built);
    return built;
  }

  #buildValue(node: unknown, span: Span): SyntaxNode {
    if (isMap(node)) return this.#buildMap(node, span);
    if (isSeq(node)) return this.#buildList(node, span);
    if (isScalar(node)) return buildScalar(node, span);
    return unreadable(span);
  }

  #buildList(list: YAMLSeq, span: Span): SyntaxNode {
    const items = list.items.map((item) => (isPair(item) ? unreadable(span) : this.build(item)));
    return this.#measured({ kind: "list", span, items }, items);
  }

  #buildMap(map: YAMLMap, span: Span): SyntaxNode {
    const entries = new Map<string, MapEntry>();
    let before: MapEntry | undefined;
    for (const pair of map.items) {
      const entry = this.#buildEntry(pair);
      if (entry === undefined) continue;
      if (map.flow && pair.value === null && before && this.#reportComma(before, entry)) continue;
      before = entry;
      const first = entries.get(entry.key.value);
      if (first === undefined) entries.set(entry.key.value, entry);
      else this.#reportDuplicate(first, entry);
    }
    const kept = [...entries.values()];
    return this.#measured(
      { kind: "map", span, entries: kept },
      kept.map((entry) => entry.value),
    );
  }

  #buildEntry(pair: Pair): MapEntry | undefined {
    const key = this.#keyOf(pair.key);
    if (key.value === "<<") {
      const note = "write the keys out, or refer to a whole value with `*name`";
      return this.#report("yaml-merge-key", { message: "the merge key `<<` is not supported", span: key.span, note });
    }
    const nothing: ScalarNode = { kind: "scalar", span: key.span, value: null, text: "", plain: true };
    return { key, value: pair.value === null || pair.value === undefined ? nothing : this.build(pair.value) };
  }

  #keyOf(node: unknown): Spanned<string> {
    const parsed = (node ?? {}) as ParsedNode;
    const span = this.#spanOf(parsed);
    if (isScalar(node)) return { value: typeof node.value === "string" ? node.value : (node.source ?? ""), span };
    return { value: span.source.text.slice(span.start, span.end), span };
  }

  /** `{ market: integer, 1 to 5 }`: to YAML, `1 to 5` is a key. */
  #reportComma(before: MapEntry, entry: MapEntry): boolean {
    if (before.value.kind !== "scalar" || typeof before.value.value !== "string" || !before.value.plain) return false;
    const whole = `${before.value.value}, ${entry.key.value}`;
    const note = `put the value in quotes: \`${before.key.value}: ${JSON.stringify(whole)}\``;
    const message = `the comma ends the value of \`${before.key.value}\`: \`${entry.key.value}\` is a key without a value`;
    this.#report("yaml-flow-comma", { message, span: entry.key.span, note });
    return true;
  }

  #reportDuplicate(first: MapEntry, entry: MapEntry): void {
    const notes = [{ message: "the first one is here", span: first.key.span }];
    this.#report("duplicate-key", { message: `\`${entry.key.value}\` is written twice`, span: entry.key.span, notes });
  }

  #checkTag({ tag }: ParsedNode, node: SyntaxNode): SyntaxNode {
    if (tag === undefined || node.kind === "unreadable") return node;
    const isCore = tag.startsWith(coreTagPrefix);
    const fits = isCore ? getOwn(coreTags, tag.slice(coreTagPrefix.length)) : undefined;
    if (fits?.(node)) return node;
    const shown = isCore ? `!!${tag.slice(coreTagPrefix.length)}` : tag;
    const message = fits ? `the value does not fit its YAML tag \`${shown}\`` : `the YAML tag \`${shown}\` is not supported`;
    this.#report("yaml-tag", { message, span: node.span, note: "delete the tag: frontmatter is plain data" });
    return unreadable(node.span);
  }

  /** The same node again, with the alias' own place. */
  #follow(name: string, span: Span): SyntaxNode {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const note = `if \`*${name}\` is a glob, put it in quotes: \`"*${name}"\``;
      this.#report("yaml-alias", { message: `there is no anchor \`&${name}\` above`, span, note });
      return unreadable(span);
    }
    const size = this.#sizes.get(target) ?? 1;
    this.#aliased += size;
    if (this.#aliased > maxAliased) {
      if (this.#aliased - size <= maxAliased)
        this.#report("yaml-alias-expansion", { message: `the aliases stand for more than ${maxAliased} values`, span });
      return unreadable(span);
    }
    const copy = { ...target, span };
    this.#sizes.set(copy, size);
    return copy;
  }

  #measured(node: SyntaxNode, children: readonly SyntaxNode[]): SyntaxNode {
    this.#sizes.set(
      node,
      children.reduce((sum, child) => sum + (this.#sizes.get(child) ?? 1), 1),
    );
    return node;
  }

  #spanOf(node: ParsedNode): Span {
    const { source, start, end } = this.#whole;
    const from = Math.min(start + (node.range?.[0] ?? 0), end);
    let to = Math.max(from, Math.min(start + (node.range?.[1] ?? 0), end));
    while (to > from && " \t\r\n".includes(source.text.charAt(to - 1))) to--;
    return { source, start: from, end: to };
  }
}

function unreadable(span: Span): UnreadableNode {
  return { kind: "unreadable", span };
}

function buildScalar(node: Scalar, span: Span): SyntaxNode {
  const { value, source = "" } = node;
  const isPlainValue = value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (!isPlainValue) return unreadable(span);
  return { kind: "scalar", span, value, text: source, plain: node.type === "PLAIN" };
}
