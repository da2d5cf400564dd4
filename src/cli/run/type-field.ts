import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { UsageError } from "../exit-codes.ts";

/** A text that was given for a field, and the flag that gave it, for messages: `-i count=many`. */
export interface GivenText {
  readonly flag: string;
  readonly text: string;
}

/**
 * The value that a field's schema makes of its texts: numbers and booleans as they are, JSON for lists and objects, any other
 * text as text. A list also takes one item for each time that its field is given. Throws a `UsageError`.
 */
export function typeField(schema: JsonSchema, given: readonly GivenText[], root: JsonSchema): JsonValue {
  const types = typesOf(schema, root);
  const [first, second] = given;
  const isList = types.has("array") && !types.has("string");
  if (isList && (second || !first?.text.trimStart().startsWith("["))) {
    const { items } = resolved(schema, root);
    return given.map((one) => typeText(isRecord(items) ? (items as JsonSchema) : {}, one, root));
  }
  if (second) throw new UsageError(`${second.flag}: this field is given twice, and is no list`);
  return typeText(schema, first ?? { flag: "-i", text: "" }, root);
}

function typeText(written: JsonSchema, { flag, text }: GivenText, root: JsonSchema): JsonValue {
  const schema = resolved(written, root);
  const types = typesOf(schema, root);
  const value = readJson(text);
  const fits = types.size === 0 || namesOf(value).some((name) => types.has(name));
  const typed = value !== undefined && fits ? value : types.size === 0 || types.has("string") ? text : undefined;
  if (typed === undefined) throw new UsageError(`${flag}: this must be ${describeTypes(types)}`);
  const choices = Array.isArray(schema["enum"]) ? (schema["enum"] as readonly JsonValue[]) : undefined;
  if (choices && !choices.some((choice) => canonicalJson(choice) === canonicalJson(typed)))
    throw new UsageError(`${flag}: this must be one of ${choices.map(showChoice).join(", ")}`);
  return typed;
}

function showChoice(choice: JsonValue): string {
  return typeof choice === "string" ? choice : JSON.stringify(choice);
}

/** Undefined if it is no JSON, or a number too large to be one. `True` is true: who types it means that. */
function readJson(text: string): JsonValue | undefined {
  if (/^\s*(?:true|false)\s*$/i.test(text)) return text.trim().toLowerCase() === "true";
  const value = parseJson(text) as JsonValue | undefined;
  return typeof value === "number" && !Number.isFinite(value) ? undefined : value;
}

/** The types of JSON Schema that a value has; a text is told by its schema alone, never by quotes around it. */
function namesOf(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || typeof value === "string") return [];
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  if (typeof value === "number") return Number.isInteger(value) ? ["integer", "number"] : ["number"];
  return [typeof value];
}

/** The types that a schema names, itself or by its choices; none where it says nothing. */
function typesOf(written: JsonSchema, root: JsonSchema, depth = 0): ReadonlySet<string> {
  const schema = resolved(written, root);
  const { type, enum: choices, anyOf, oneOf } = schema;
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.map(String));
  if (Array.isArray(choices)) {
    return new Set(choices.flatMap((choice: JsonValue) => (typeof choice === "string" ? ["string"] : namesOf(choice))));
  }
  const members = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list.filter(isRecord) : []));
  if (depth > 8) return new Set();
  return new Set(members.flatMap((member) => [...typesOf(member as JsonSchema, root, depth + 1)]));
}

/** A schema behind `$ref: "#/…"`; others are not followed. */
function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let found: unknown = schema;
  for (let steps = 0; steps < 8; steps++) {
    const { $ref } = found as JsonSchema;
    if (typeof $ref !== "string" || !$ref.startsWith("#/")) return found as JsonSchema;
    found = $ref
      .slice(2)
      .split("/")
      .reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), root);
    if (!isRecord(found)) return {};
  }
  return {};
}

const typePhrases: Readonly<Record<string, string>> = {
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list, as JSON",
  object: "an object, as JSON",
  null: "null",
};

function describeTypes(types: ReadonlySet<string>): string {
  return [...types].map((type) => typePhrases[type] ?? type).join(" or ");
}
