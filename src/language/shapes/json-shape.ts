import type { Span } from "../../diagnostics/source.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { MapEntry, ScalarNode, SyntaxNode } from "../yaml/syntax-node.ts";
import { refuseValue, warnOfComment } from "./node-problems.ts";
import { contextAt, type ReadContext, type Shape } from "./shape.ts";

/** Any value that JSON has. */
export function json(): Shape<JsonValue> {
  return { jsonSchema: {}, read: (node, context) => readJson(node, { context }) };
}

/** A map of any content. */
export function jsonMap(options: { readonly note?: string } = {}): Shape<JsonObject> {
  return {
    jsonSchema: { type: "object" },
    read(node, context) {
      if (node.kind !== "map") return refuseValue(node, context, { wanted: "a map", note: options.note });
      return readJsonEntries(node.entries, { context });
    },
  };
}

export interface LocatedMap {
  readonly value: JsonObject;
  /** The span of each entry, by its path (`rules.0.pattern`). */
  readonly spans: ReadonlyMap<string, Span>;
}

/** A map of any content that keeps the place of each entry. */
export function locatedMap(options: { readonly note?: string } = {}): Shape<LocatedMap> {
  return {
    jsonSchema: { type: "object" },
    read(node, context) {
      if (node.kind !== "map") return refuseValue(node, context, { wanted: "a map", note: options.note });
      const spans = new Map<string, Span>();
      return { value: readJsonEntries(node.entries, { context, spans }), spans };
    },
  };
}

export interface JsonReading {
  readonly context: ReadContext;
  /** Gets the place of each entry, by its path from where the reading began (`rules.0.pattern`). */
  readonly spans?: Map<string, Span>;
  readonly prefix?: string;
}

/** A node as plain data. What cannot be read is left out, or null in a list. */
export function readJson(node: SyntaxNode, reading: JsonReading): JsonValue | undefined {
  if (node.kind === "unreadable") return undefined;
  if (node.kind === "scalar") return readScalar(node, reading.context);
  if (node.kind === "map") return readJsonEntries(node.entries, reading);
  return node.items.map((item, index) => readJson(item, enter(reading, index, item.span)) ?? null);
}

/** `Object.fromEntries` makes own members, also of a key `__proto__`. */
export function readJsonEntries(entries: readonly MapEntry[], reading: JsonReading): JsonObject {
  const values: [string, JsonValue][] = [];
  for (const { key, value } of entries) {
    const span = { ...key.span, end: Math.max(key.span.end, value.span.end) };
    const read = readJson(value, enter(reading, key.value, span));
    if (read !== undefined) values.push([key.value, read]);
  }
  return Object.fromEntries(values);
}

function enter(reading: JsonReading, key: string | number, span: Span): JsonReading {
  const context = contextAt(reading.context, key);
  if (reading.spans === undefined) return { context };
  const path = reading.prefix === undefined ? String(key) : `${reading.prefix}.${key}`;
  reading.spans.set(path, span);
  return { context, spans: reading.spans, prefix: path };
}

function readScalar(node: ScalarNode, context: ReadContext): JsonValue | undefined {
  if (typeof node.value === "string") warnOfComment(node, { prose: false, report: context.report });
  if (typeof node.value !== "number" || isExact(node.value, node.text)) return node.value;
  const note = `put it in quotes if it is a text: \`${JSON.stringify(node.text)}\``;
  return context.report("inexact-number", { message: `\`${node.text}\` cannot be kept exactly`, span: node.span, note });
}

/** An integer that is written out has to be printed as it was written; other forms say themselves that they are rounded. */
function isExact(value: number, written: string): boolean {
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(written) || String(value) === written;
}

/** The span of the innermost key on a path that a file has. */
export function spanAt(spans: ReadonlyMap<string, Span>, path: readonly (string | number)[]): Span | undefined {
  const paths = path.map((_, index) => path.slice(0, index + 1).join("."));
  return spans.get(paths.findLast((one) => spans.has(one)) ?? "");
}
