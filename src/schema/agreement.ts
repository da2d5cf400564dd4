import { isRecord, type JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { followReference } from "./follow-reference.ts";

/** Longest `maxLength` of a text that is compared letter by letter; a longer one is free text. Characters. */
const shortText = 100;

/** `uncompared`: free text, of which nothing but a judge can say whether two mean the same. */
export type FieldAgreement = "same" | "different" | "uncompared";

export interface AgreementOptions {
  /** By the path of a number (`score`, `scores.market`): how far two may be apart and still agree. Wins over `x-agree` of the schema. */
  readonly within?: Readonly<Record<string, number>>;
}

/** By the path of each field that holds a value; the whole output is `""` where it is no object. */
export type Agreement = ReadonlyMap<string, FieldAgreement>;

/**
 * Compares two outputs of one worker, field by field, by its output schema. Booleans, numbers, enums, constants and short texts agree
 * where they are equal, texts after trimming and Unicode NFC; numbers also within a bound; arrays in order, or as sets where the field has
 * `x-agree: { set: true }`. A text without a bound is `uncompared`, and so is the output of a worker without a schema.
 */
export function compareOutputs(
  schema: JsonSchema | undefined,
  { one, other }: { readonly one: JsonValue; readonly other: JsonValue },
  options: AgreementOptions = {},
): Agreement {
  const found = new Map<string, FieldAgreement>();
  compareField({ schema: schema ?? { type: "string" }, path: "", root: schema ?? {}, options, found }, one, other);
  return found;
}

/** True if all fields that can be compared are the same, and there is one. Undefined if nothing can be compared. */
export function agrees(agreement: Agreement): boolean | undefined {
  const compared = [...agreement.values()].filter((one) => one !== "uncompared");
  return compared.length === 0 ? undefined : compared.every((one) => one === "same");
}

/** The paths of an output schema's free texts, which nothing but a judge compares. */
export function freeTexts(schema: JsonSchema | undefined): readonly string[] {
  if (!schema) return [""];
  const paths: string[] = [];
  const visit = (field: unknown, path: string, depth: number) => {
    if (!isRecord(field) || depth > 20) return;
    const resolved = resolveReference(field, schema);
    if (isFreeText(resolved)) paths.push(path);
    for (const [name, inner] of Object.entries(isRecord(resolved["properties"]) ? resolved["properties"] : {}))
      visit(inner, join(path, name), depth + 1);
    visit(resolved["items"], path, depth + 1);
  };
  visit(schema, "", 0);
  return [...new Set(paths)];
}

interface Field {
  readonly schema: Record<string, unknown>;
  readonly path: string;
  readonly root: JsonSchema;
  readonly options: AgreementOptions;
  readonly found: Map<string, FieldAgreement>;
}

function compareField(field: Field, one: JsonValue | undefined, other: JsonValue | undefined): void {
  const schema = resolveReference(field.schema, field.root);
  const { path, found } = field;
  if (isRecord(one) && isRecord(other) && !isSetOrOpaque(schema)) {
    const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    for (const name of [...names].sort()) {
      const inner = properties[name];
      const next = { ...field, schema: isRecord(inner) ? inner : {}, path: join(path, name) };
      compareField(next, one[name] as JsonValue, other[name] as JsonValue);
    }
    if (names.size === 0) found.set(path, "same");
    return;
  }
  found.set(path, compareValues({ ...field, schema }, one, other));
}

function compareValues(field: Field, one: JsonValue | undefined, other: JsonValue | undefined): FieldAgreement {
  const { schema, path, options } = field;
  if (isFreeText(schema) && typeof one === "string" && typeof other === "string") return "uncompared";
  if (Array.isArray(one) && Array.isArray(other)) return compareArrays(field, one, other);
  const rule = isRecord(schema["x-agree"]) ? schema["x-agree"] : {};
  const within = options.within?.[path] ?? (typeof rule["within"] === "number" ? rule["within"] : 0);
  if (typeof one === "number" && typeof other === "number") return verdict(Math.abs(one - other) <= within);
  return verdict(toComparable(one) === toComparable(other));
}

function compareArrays(field: Field, one: readonly JsonValue[], other: readonly JsonValue[]): FieldAgreement {
  const items = resolveReference(isRecord(field.schema["items"]) ? field.schema["items"] : {}, field.root);
  if (isFreeText(items)) return one.length === 0 && other.length === 0 ? "same" : "uncompared";
  const rule = isRecord(field.schema["x-agree"]) ? field.schema["x-agree"] : {};
  if (rule["set"] === true) {
    const asSet = (values: readonly JsonValue[]) => [...new Set(values.map(toComparable))].sort().join("\n");
    return verdict(asSet(one) === asSet(other));
  }
  if (one.length !== other.length) return "different";
  const each = one.map((value, index) => {
    const found = new Map<string, FieldAgreement>();
    compareField({ ...field, schema: items, found }, value, other[index]);
    return [...found.values()];
  });
  const all = each.flat();
  if (all.includes("different")) return "different";
  return all.length > 0 && all.every((inner) => inner === "uncompared") ? "uncompared" : "same";
}

function verdict(isSame: boolean): FieldAgreement {
  return isSame ? "same" : "different";
}

/** A text that equal values have in common. */
function toComparable(value: JsonValue | undefined): string {
  return value === undefined ? "" : canonicalJson(normalise(value));
}

function normalise(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.trim().normalize("NFC");
  if (Array.isArray(value)) return value.map(normalise);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, normalise(inner as JsonValue)]))
    : value;
}

function isFreeText(schema: Record<string, unknown>): boolean {
  if (![schema["type"]].flat().includes("string")) return false;
  const { enum: values, const: constant, maxLength, format, pattern } = schema;
  const isBound = values !== undefined || constant !== undefined || format !== undefined || pattern !== undefined;
  return !isBound && !(typeof maxLength === "number" && maxLength <= shortText);
}

function isSetOrOpaque(schema: Record<string, unknown>): boolean {
  return schema["const"] !== undefined || schema["enum"] !== undefined;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Follows a reference within the schema once; a reference to elsewhere has no keys. */
function resolveReference(schema: Record<string, unknown>, root: JsonSchema): Record<string, unknown> {
  const { $ref } = schema;
  if (typeof $ref !== "string") return schema;
  const found = followReference(root, $ref);
  return isRecord(found) ? found : {};
}
