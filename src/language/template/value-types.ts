import { isRecord, type JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { getOwn } from "../../util/get-own.ts";

/** The JSON Schema of a value; undefined if it is not known. */
export type ValueType = JsonSchema | undefined;

/** The member of a value under a name; where there is none, the kind of the value and the names that it has. */
export type Member =
  | { readonly found: true; readonly type: ValueType }
  | { readonly found: false; readonly what: string; readonly names: readonly string[] };

const maxHops = 16;
const combining = ["allOf", "anyOf", "oneOf"] as const;
const number: JsonSchema = { type: "number" };

/** Reads the schema of a worker's input as the types of a template's variables. */
export class ValueTypes {
  readonly #root: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** The fields of the input, each with its type; undefined if a part of the schema cannot be followed. */
  fields(): ReadonlyMap<string, ValueType> | undefined {
    const fields = new Map<string, ValueType>();
    return this.#collect(this.#root, fields, 0) ? fields : undefined;
  }

  /** The type of `value.key`. */
  member(type: ValueType, key: string): Member {
    const schema = this.#follow(type);
    switch (schema && kindOf(schema)) {
      case "object":
        return memberOfMap(schema ?? {}, key);
      case "array":
        return this.#memberOfList(schema, key);
      case "string":
        return key === "size" ? found(number) : { found: false, what: "a text", names: ["size"] };
      case "number":
      case "integer":
      case "boolean":
        return { found: false, what: kindOf(schema ?? {}) === "boolean" ? "a boolean" : "a number", names: [] };
      default:
        return found(undefined);
    }
  }

  /** The names of a map's fields, as far as they are known. */
  declared(type: ValueType): readonly string[] {
    const fields = new Map<string, ValueType>();
    if (type !== undefined) this.#collect(type, fields, 0);
    return [...fields.keys()];
  }

  /** The type of the items in a loop over a value. */
  item(type: ValueType): ValueType {
    const schema = this.#follow(type);
    return schema && kindOf(schema) === "array" ? asSchema(schema["items"]) : undefined;
  }

  #memberOfList(schema: ValueType, key: string): Member {
    if (key === "size") return found(number);
    if (key === "first" || key === "last" || /^-?\d+$/.test(key)) return found(this.item(schema));
    return { found: false, what: "a list", names: ["size", "first", "last"] };
  }

  #collect(type: ValueType, fields: Map<string, ValueType>, depth: number): boolean {
    const schema = this.#resolve(type);
    if (schema === undefined || depth > maxHops) return false;
    for (const [name, field] of Object.entries(asSchema(schema["properties"]) ?? {})) {
      fields.set(name, fields.has(name) ? undefined : asSchema(field));
    }
    const parts = combining.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as JsonValue[]) : []));
    return parts.every((part) => this.#collect(asSchema(part), fields, depth + 1));
  }

  /** A schema that says by itself what the value is; undefined for one that combines others. */
  #follow(type: ValueType): ValueType {
    const schema = this.#resolve(type);
    return schema && combining.some((key) => key in schema) ? undefined : schema;
  }

  #resolve(type: ValueType): ValueType {
    let schema = type;
    for (let hop = 0; schema !== undefined && "$ref" in schema; hop++) {
      const { $ref: reference } = schema;
      if (hop >= maxHops || typeof reference !== "string") return undefined;
      schema = pointTo(this.#root, reference);
    }
    return schema;
  }
}

function memberOfMap(schema: JsonSchema, key: string): Member {
  const properties = asSchema(schema["properties"]);
  if (properties && Object.hasOwn(properties, key)) return found(asSchema(properties[key]));
  const { additionalProperties: others, patternProperties } = schema;
  const isOpen = patternProperties !== undefined || (others === undefined ? properties === undefined : others !== false);
  if (key === "size" || isOpen) return found(key === "size" ? undefined : asSchema(others));
  return { found: false, what: "a map", names: Object.keys(properties ?? {}) };
}

function found(type: ValueType): Member {
  return { found: true, type };
}

/** The one type of a schema, `null` beside it left out. */
function kindOf({ type }: JsonSchema): string | undefined {
  if (typeof type === "string") return type;
  const kinds = Array.isArray(type) ? type.filter((kind) => kind !== "null") : [];
  return kinds.length === 1 && typeof kinds[0] === "string" ? kinds[0] : undefined;
}

function pointTo(root: JsonSchema, reference: string): ValueType {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let value: JsonValue | undefined = root;
  for (const part of reference.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value = isRecord(value) ? getOwn(value as JsonSchema, key) : undefined;
  }
  return asSchema(value);
}

function asSchema(value: JsonValue | undefined): ValueType {
  return isRecord(value) ? (value as JsonSchema) : undefined;
}

/**
 * A copy of a value for a template: plain data and nothing else, in which the fields that its schema declares and that
 * are absent are there, as null, so that they are known to be empty. They do not show when the value is printed.
 */
export function prepareValue(value: unknown, type: ValueType, types: ValueTypes | undefined): unknown {
  if (Array.isArray(value)) {
    const item = types?.item(type);
    return value.map((entry) => prepareValue(entry, item, types));
  }
  if (isRecord(value)) return prepareMap(value, type, types);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

function prepareMap(value: Readonly<Record<string, unknown>>, type: ValueType, types: ValueTypes | undefined): object {
  const copy = Object.create(null) as object;
  const define = (key: string, member: unknown, enumerable: boolean): void => {
    Object.defineProperty(copy, key, { value: member, enumerable, configurable: true, writable: true });
  };
  for (const [key, member] of Object.entries(value)) {
    const known = types?.member(type, key);
    define(key, prepareValue(member, known?.found ? known.type : undefined, types), true);
  }
  for (const key of types?.declared(type) ?? []) if (!Object.hasOwn(copy, key)) define(key, null, false);
  return copy;
}
