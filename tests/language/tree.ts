import { positionAt } from "../../src/diagnostics/position.ts";
import type { Source, Span } from "../../src/diagnostics/source.ts";
import { isRecord } from "../../src/protocol/json.ts";

/** A tree for comparison: bare values in the place of spanned ones, maps as objects, no source. */
export function withoutSpans(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withoutSpans);
  if (tree instanceof Map) return [...tree].map(([path, span]) => `${path} ${showPosition(span as Span)}`);
  if (!isRecord(tree)) return tree;
  if ("value" in tree && isRecord(tree["span"]) && isSpan(tree["span"])) return withoutSpans(tree["value"]);
  const kept = Object.entries(tree).filter(([key]) => key !== "source");
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutSpans(value)]));
}

/** Without the places of configuration either, which printing moves. */
export function withoutPlaces(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(withoutSpans(tree)), (key, value) => (/^(config|option)Spans$/.test(key) ? undefined : value));
}

export function showPosition(span: Span): string {
  const { line, column } = positionAt(span.source, span.start);
  return `${line}:${column}`;
}

/** Every span anywhere in a value. */
export function spansIn(tree: unknown, found: Span[] = []): Span[] {
  if (tree instanceof Map) for (const span of tree.values()) spansIn(span, found);
  else if (Array.isArray(tree)) for (const item of tree) spansIn(item, found);
  else if (isRecord(tree)) {
    if (isSpan(tree)) found.push(tree);
    else for (const [key, value] of Object.entries(tree)) if (key !== "source") spansIn(value, found);
  }
  return found;
}

function isSpan(value: Record<string, unknown>): value is Record<string, unknown> & Span {
  return "start" in value && "end" in value && isSource(value["source"]);
}

function isSource(value: unknown): value is Source {
  return isRecord(value) && typeof value["text"] === "string";
}
