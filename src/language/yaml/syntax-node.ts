import type { Span, Spanned } from "../../diagnostics/source.ts";

/**
 * The tree of a YAML text, reduced to what the format knows: maps with string keys, lists and scalars, each with its
 * place. Aliases are already followed, so a node may occur at several places of the tree.
 */
export type SyntaxNode = MapNode | ListNode | ScalarNode | UnreadableNode;

export interface MapNode {
  readonly kind: "map";
  readonly span: Span;
  /** Each key once, in the order of the text. */
  readonly entries: readonly MapEntry[];
  /** An entry that is no YAML was reported and left out: what seems to be missing may be there. */
  readonly isPartial?: boolean;
}

export interface MapEntry {
  readonly key: Spanned<string>;
  readonly value: SyntaxNode;
}

export interface ListNode {
  readonly kind: "list";
  readonly span: Span;
  readonly items: readonly SyntaxNode[];
}

export interface ScalarNode {
  readonly kind: "scalar";
  readonly span: Span;
  readonly value: string | number | boolean | null;
  /** As written: `1.10` where the value is 1.1. */
  readonly text: string;
  /** Without quotes and not a block: YAML chose the type by the looks. */
  readonly plain: boolean;
}

/** A value that could not be read and was reported: readers of the tree ignore it. */
export interface UnreadableNode {
  readonly kind: "unreadable";
  readonly span: Span;
}
