import { isRecord } from "../protocol/json.ts";
import type { SchemaIssue } from "./schema.ts";

/** Adds what is wrong with a value to a list. Fills in defaults of fields, in the value itself. */
export type PlainCheck = (value: unknown, path: SchemaIssue["path"], issues: SchemaIssue[]) => void;

/**
 * Returns the check of a schema that has only the keywords below, in the words of the validator's library, which takes longer to load
 * than most programs to compile. Undefined for every other schema, and for one that is malformed: the library judges those.
 */
export function plainCheck(schema: unknown): PlainCheck | undefined {
  if (schema === true) return () => {};
  if (!isRecord(schema) || !Object.keys(schema).every((key) => Object.hasOwn(keywords, key) || key.startsWith("x-")))
    return undefined;
  const checks: PlainCheck[] = [];
  for (const [key, make] of Object.entries(keywords)) {
    if (!Object.hasOwn(schema, key)) continue;
    const check = make(schema[key], schema);
    if (check === undefined) return undefined;
    checks.push(check);
  }
  return (value, path, issues) => {
    if (isRecord(value)) fillIn(value, schema["properties"]);
    for (const check of checks) check(value, path, issues);
  };
}

type PlainSource = Readonly<Record<string, unknown>>;

type Keyword = (given: unknown, schema: PlainSource) => PlainCheck | undefined;

const annotation =
  (isOne: (given: unknown) => boolean): Keyword =>
  (given) =>
    isOne(given) ? () => {} : undefined;

const isText = (given: unknown) => typeof given === "string";
const isCount = (given: unknown) => Number.isInteger(given) && Number(given) >= 0;

interface Bound {
  readonly isOne?: (given: unknown) => boolean;
  /** The bounded number of a value, such as its length; undefined if the keyword does not apply. */
  readonly measure?: (value: unknown) => number | undefined;
  readonly holds: (measured: number, given: number) => boolean;
  readonly says: string;
}

/** A keyword that bounds a number, or what is counted. `{}` in its message stands for the bound. */
const bound =
  ({
    isOne = Number.isFinite,
    measure = (value) => (typeof value === "number" ? value : undefined),
    holds,
    says,
  }: Bound): Keyword =>
  (given) => {
    if (!isOne(given)) return undefined;
    const message = says.replace("{}", String(given));
    return (value, path, issues) => {
      const measured = measure(value);
      if (measured !== undefined && !holds(measured, Number(given))) issues.push({ path, message });
    };
  };

const atLeast = (measured: number, given: number) => measured >= given;
const atMost = (measured: number, given: number) => measured <= given;
const characters = {
  isOne: isCount,
  measure: (value: unknown) => (typeof value === "string" ? countCharacters(value) : undefined),
};
const items = { isOne: isCount, measure: (value: unknown) => (Array.isArray(value) ? value.length : undefined) };

/** Two units of a text are one character where they are a pair of surrogates. */
function countCharacters(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

/** In the order in which they are checked. */
const keywords: Readonly<Record<string, Keyword>> = {
  title: annotation(isText),
  description: annotation(isText),
  format: annotation(isText),
  default: annotation(() => true),
  examples: annotation(Array.isArray),
  type: checkType,
  const: (given) => oneOf([given], "must be equal to constant"),
  enum: (given) =>
    Array.isArray(given) && given.length > 0 ? oneOf(given, `must be one of ${JSON.stringify(given)}`) : undefined,
  anyOf: checkAny,
  maximum: bound({ holds: atMost, says: "must be <= {}" }),
  minimum: bound({ holds: atLeast, says: "must be >= {}" }),
  exclusiveMaximum: bound({ holds: (measured, given) => measured < given, says: "must be < {}" }),
  exclusiveMinimum: bound({ holds: (measured, given) => measured > given, says: "must be > {}" }),
  maxLength: bound({ ...characters, holds: atMost, says: "must NOT have more than {} characters" }),
  minLength: bound({ ...characters, holds: atLeast, says: "must NOT have fewer than {} characters" }),
  pattern: checkPattern,
  maxItems: bound({ ...items, holds: atMost, says: "must NOT have more than {} items" }),
  minItems: bound({ ...items, holds: atLeast, says: "must NOT have fewer than {} items" }),
  items: checkItems,
  required: checkRequired,
  additionalProperties: checkOthers,
  properties: checkProperties,
};

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: isText,
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: isRecord,
};

function checkType(given: unknown): PlainCheck | undefined {
  const names: unknown[] = Array.isArray(given) ? given : [given];
  const accepted = names.flatMap((name) => (typeof name === "string" && Object.hasOwn(types, name) ? (types[name] ?? []) : []));
  if (accepted.length === 0 || accepted.length !== names.length || new Set(names).size < names.length) return undefined;
  const message = `must be ${names.join(",")}`;
  return (value, path, issues) => {
    if (!accepted.some((is) => is(value))) issues.push({ path, message });
  };
}

function oneOf(values: readonly unknown[], message: string): PlainCheck | undefined {
  if (values.some((one) => typeof one === "object" && one !== null)) return undefined;
  return (value, path, issues) => {
    if (!values.includes(value)) issues.push({ path, message });
  };
}

/** Leaves defaults beside and below branches to the library: they are filled in after the branches, which fill in nothing. */
function checkAny(given: unknown, schema: PlainSource): PlainCheck | undefined {
  const branches = Array.isArray(given) && !JSON.stringify(schema).includes('"default":') ? given.map(plainCheck) : [];
  if (branches.length === 0 || branches.includes(undefined)) return undefined;
  return (value, path, issues) => {
    const found: SchemaIssue[] = [];
    for (const branch of branches) {
      const before = found.length;
      branch?.(value, path, found);
      if (found.length === before) return;
    }
    issues.push(...found, { path, message: "must match a schema in anyOf" });
  };
}

function checkPattern(given: unknown): PlainCheck | undefined {
  if (typeof given !== "string") return undefined;
  try {
    const pattern = new RegExp(given, "u");
    return (value, path, issues) => {
      if (typeof value === "string" && !pattern.test(value)) issues.push({ path, message: `must match pattern "${given}"` });
    };
  } catch {
    return undefined;
  }
}

function checkItems(given: unknown): PlainCheck | undefined {
  const check = plainCheck(given);
  if (check === undefined) return undefined;
  return (value, path, issues) => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) check(item, [...path, index], issues);
  };
}

function checkRequired(given: unknown): PlainCheck | undefined {
  if (!Array.isArray(given) || !given.every(isText) || new Set(given).size < given.length) return undefined;
  return (value, path, issues) => {
    if (!isRecord(value)) return;
    for (const name of given) if (!has(value, name)) issues.push({ path: [...path, name], message: "is missing" });
  };
}

function checkOthers(given: unknown, { properties }: PlainSource): PlainCheck | undefined {
  const check = given === false ? refuseField : plainCheck(given);
  const known = isRecord(properties) ? properties : {};
  return (
    check &&
    ((value, path, issues) => {
      if (!isRecord(value)) return;
      for (const name of Object.keys(value)) if (!Object.hasOwn(known, name)) check(value[name], [...path, name], issues);
    })
  );
}

const refuseField: PlainCheck = (_, path, issues) => issues.push({ path, message: "is not a field of this schema" });

function checkProperties(given: unknown): PlainCheck | undefined {
  if (!isRecord(given) || Object.hasOwn(given, "__proto__")) return undefined;
  const fields = Object.entries(given).map(([name, schema]) => [name, plainCheck(schema)] as const);
  if (fields.some(([, check]) => check === undefined)) return undefined;
  return (value, path, issues) => {
    if (!isRecord(value)) return;
    for (const [name, check] of fields) if (has(value, name)) check?.(value[name], [...path, name], issues);
  };
}

function has(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** Fills in the defaults of fields that are not there. */
function fillIn(value: Record<string, unknown>, properties: unknown): void {
  for (const [name, schema] of isRecord(properties) ? Object.entries(properties) : [])
    if (isRecord(schema) && schema["default"] !== undefined && !has(value, name))
      value[name] = structuredClone(schema["default"]);
}
