import type { Spanned } from "../../diagnostics/source.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { getOwn } from "../../util/get-own.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import type { MapEntry, MapNode, SyntaxNode } from "../yaml/syntax-node.ts";
import { refuseValue } from "./node-problems.ts";
import { contextAt, type ReadContext, type Shape } from "./shape.ts";

/** One row of a table of keys. */
export interface Field<T = unknown> {
  readonly shape: Shape<T>;
  readonly description: string;
  readonly required?: true;
  /** The default, for editors and the reference. */
  readonly default?: JsonValue;
}

export type Fields = Readonly<Record<string, Field>>;

/** The record that a table of keys reads. Keys that are not required may be absent. */
export type RecordOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends { required: true } ? K : never]: FieldValue<F[K]>;
} & { readonly [K in keyof F as F[K] extends { required: true } ? never : K]?: FieldValue<F[K]> };

type FieldValue<F> = F extends Field<infer T> ? Spanned<T> : never;

export interface RecordOptions {
  /** The note where a value is not a map. A function gets the text that stands there. */
  readonly note?: string | ((text: string | undefined) => string);
}

/** A map with the keys of a table and no others. */
export function record<const F extends Fields>(fields: F, options: RecordOptions = {}): Shape<RecordOf<F>> {
  return {
    jsonSchema: recordSchema(fields),
    read(node, context) {
      if (node.kind !== "map") return refuseValue(node, context, { wanted: "a map", note: noteOnValue(node, options) });
      return readFields(node, fields, context);
    },
  };
}

function noteOnValue(node: SyntaxNode, { note }: RecordOptions): string | undefined {
  if (typeof note !== "function") return note;
  return note(node.kind === "scalar" && typeof node.value === "string" ? node.value : undefined);
}

export function recordSchema(fields: Fields): JsonObject {
  const properties: [string, JsonValue][] = Object.entries(fields).map(([key, field]) => {
    const fallback = field.default === undefined ? {} : { default: field.default };
    return [key, { ...field.shape.jsonSchema, description: field.description, ...fallback }];
  });
  const required = requiredKeys(fields);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Reads a map's entries by a table of keys. Undefined if a required key is missing or could not be read. */
export function readFields<F extends Fields>(node: MapNode, fields: F, context: ReadContext): RecordOf<F> | undefined {
  const values: Record<string, Spanned<unknown>> = {};
  for (const entry of node.entries) {
    const field = Object.hasOwn(fields, entry.key.value) ? fields[entry.key.value] : undefined;
    if (field === undefined) reportUnknownKey(entry, fields, context);
    const value = field?.shape.read(entry.value, contextAt(context, entry.key.value));
    if (value !== undefined) values[entry.key.value] = { value, span: entry.value.span };
  }
  if (!node.isPartial) reportMissing(node, fields, context);
  const isComplete = requiredKeys(fields).every((key) => Object.hasOwn(values, key));
  return isComplete ? (values as RecordOf<F>) : undefined;
}

function requiredKeys(fields: Fields): string[] {
  return Object.keys(fields).filter((key) => fields[key]?.required);
}

function reportMissing(node: MapNode, fields: Fields, context: ReadContext): void {
  const written = new Set(node.entries.map((entry) => entry.key.value));
  for (const key of requiredKeys(fields).filter((name) => !written.has(name))) {
    const subject = context.path === "" ? "this" : `\`${context.path}\``;
    context.report("missing-key", { message: `${subject} needs the key \`${key}\``, span: node.span });
  }
}

/** Other names of keys. */
const otherNames: Readonly<Record<string, string>> = {
  max_tokens: "max_output_tokens",
  max_turns: "turns",
  max_depth: "depth",
  entrypoint: "entry",
  scopes: "paths",
  path: "root",
  allowed_suffixes: "suffixes",
  max_bytes: "max_file_bytes",
  network: "network_enabled",
  approval_config: "_approval_config",
};

/** Finds the key that is meant by one that a map does not have: of this map, or of a map in it. */
function meantBy(key: string, fields: Fields): string | undefined {
  const names = [key, ...(Object.hasOwn(otherNames, key) ? [otherNames[key] ?? key] : [])];
  const here = names.find((name) => Object.hasOwn(fields, name));
  if (here !== undefined) return `did you mean \`${here}: …\`?`;
  for (const [outer, { shape }] of Object.entries(fields)) {
    const { properties = {} } = shape.jsonSchema as { readonly properties?: JsonObject };
    const inner = names.find((name) => Object.hasOwn(properties, name));
    if (inner !== undefined) return `did you mean \`${outer}: { ${inner}: … }\`?`;
  }
  return undefined;
}

const noteOnRefused = "did you mean `refused: { TOOL: 1 }`? It counts the calls that were denied or blocked";

/** Notes on keys of other tools, by a key of the map that they are written in, and then by themselves. */
const otherKeys: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mode: {
    write: "write `mode: rw`",
    writable: "write `mode: rw`",
    rw: "write `mode: rw`",
    read_only: "write `mode: ro`, or leave it out",
    readonly: "write `mode: ro`, or leave it out",
    ro: "write `mode: ro`, or leave it out",
  },
  effect: {
    block: "write `effect: block` and `rule: …`",
    deny: "write `effect: block` and `rule: …`",
    ask: "write `effect: ask` and `rule: …`",
    tool: "write the tool as `rule`",
  },
  reasoning: {
    thinking: "did you mean `reasoning: …`?",
    reasoning_effort: "did you mean `reasoning: …`?",
    effort: "did you mean `reasoning: …`?",
  },
  refused: { denied: noteOnRefused, blocked: noteOnRefused, rejected: noteOnRefused },
};

function noteOnOtherKey(key: string, fields: Fields): string | undefined {
  const [table] = Object.entries(otherKeys).filter(([owner]) => Object.hasOwn(fields, owner));
  return table && getOwn(table[1], key);
}

/** The map that an entry belongs into, where its value fits the values of a single one: a folder under `paths`. */
function mapOfEntry({ key, value }: MapEntry, fields: Fields): string | undefined {
  if (value.kind !== "map" || value.entries.length === 0) return undefined;
  const keys = value.entries.map((entry) => entry.key.value);
  const fitting = Object.entries(fields).filter(([, { shape }]) => {
    const { additionalProperties } = shape.jsonSchema as { readonly additionalProperties?: { readonly properties?: JsonObject } };
    const { properties } = additionalProperties || {};
    return properties !== undefined && keys.every((one) => Object.hasOwn(properties, one));
  });
  const [name] = fitting.length === 1 ? (fitting[0] ?? []) : [];
  return name === undefined ? undefined : `it belongs under \`${name}\`: \`${name}: { ${clipText(key.value, 60)}: … }\``;
}

function reportUnknownKey(entry: MapEntry, fields: Fields, context: ReadContext): void {
  const known = Object.keys(fields);
  const key = clipText(entry.key.value, 80);
  const message = context.path === "" ? `unknown key \`${key}\`` : `\`${context.path}\` has no key \`${key}\``;
  const all = `${known.length === 1 ? "the only key is" : "the keys are"} ${quoteNames(known)}`;
  const { value } = entry.key;
  const meant = meantBy(value, fields) ?? noteOnOtherKey(value, fields) ?? mapOfEntry(entry, fields);
  const note = meant ?? didYouMean(value, known) ?? context.elsewhere?.(value) ?? all;
  context.report("unknown-key", { message, span: entry.key.span, note });
}

export interface ListOptions {
  /** Rejects a list without entries, if it would be ambiguous. */
  readonly nonEmpty?: boolean;
}

/** A list of values of one shape. Entries that cannot be read are left out. */
export function list<T>(shape: Shape<T>, options: ListOptions = {}): Shape<readonly T[]> {
  return {
    jsonSchema: { type: "array", items: shape.jsonSchema, ...(options.nonEmpty && { minItems: 1 }) },
    read(node, context) {
      if (node.kind !== "list") return refuseValue(node, context, { wanted: "a list", note: listNote(node) });
      if (node.items.length === 0 && options.nonEmpty) {
        const note = "delete the key if there is no restriction to make";
        return context.report("empty-list", { message: `\`${context.path}\` is empty`, span: node.span, note });
      }
      const values = node.items.map((item, index) => shape.read(item, contextAt(context, index)));
      return values.filter((value) => value !== undefined);
    },
  };
}

/** A text where a list is wanted is often a list with commas. */
function listNote(node: SyntaxNode): string | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "string") return undefined;
  const items = node.value.split(",").map((item) => JSON.stringify(item.trim()));
  return `write \`[${clipText(items.join(", "), 120)}]\``;
}

export interface NamedValue<T> {
  readonly name: Spanned<string>;
  readonly value: Spanned<T>;
}

/** A map from names that the author chooses to values of one shape, in the order written. */
export function mapOf<T>(
  shape: Shape<T>,
  options: RecordOptions & {
    readonly checkName?: (name: string, node: Pick<SyntaxNode, "span">, context: ReadContext) => boolean;
  } = {},
): Shape<readonly NamedValue<T>[]> {
  return {
    jsonSchema: { type: "object", additionalProperties: shape.jsonSchema },
    read(node, context) {
      if (node.kind !== "map") return refuseValue(node, context, { wanted: "a map", note: noteOnValue(node, options) });
      return node.entries.flatMap((entry) => {
        const isName = options.checkName?.(entry.key.value, entry.key, context) ?? true;
        const value = shape.read(entry.value, contextAt(context, entry.key.value));
        return isName && value !== undefined ? [{ name: entry.key, value: { value, span: entry.value.span } }] : [];
      });
    },
  };
}
