import { isRecord } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import type { Schema, SchemaIssue } from "../schema/schema.ts";
import { quoteNames } from "../util/text/did-you-mean.ts";
import { nearestNames } from "../util/text/nearest-names.ts";

/** The part of JSON Schema in which the configurations of our toolsets are described. */
export interface ConfigField {
  readonly type: "array" | "boolean" | "integer" | "object" | "string";
  readonly description?: string;
  /** Filled in on the first level alone. */
  readonly default?: unknown;
  readonly examples?: readonly string[];
  readonly items?: ConfigField;
  readonly properties?: Readonly<Record<string, ConfigField>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly minimum?: number;
  /** Only of a text. */
  readonly pattern?: string;
}

type Path = SchemaIssue["path"];

/** Checks the map under a toolset's reference, without a library to load. `check` says what no field can. */
export function configSchema<Config>(
  properties: Readonly<Record<string, ConfigField>>,
  check: (given: Readonly<Record<string, unknown>>) => readonly SchemaIssue[] = () => [],
): Schema<Config> {
  const field: ConfigField = { type: "object", properties, additionalProperties: false };
  const defaults = Object.entries(properties).flatMap(([key, { default: value }]) => (value === undefined ? [] : [[key, value]]));
  return {
    jsonSchema: field as unknown as JsonSchema,
    validate(value) {
      const given = value ?? {};
      const issues = [...issuesOf(given, field, []), ...(isRecord(given) ? check(given) : [])];
      if (issues.length > 0) return { ok: false, issues };
      return { ok: true, value: { ...Object.fromEntries(defaults), ...(given as Config) } };
    },
  };
}

function issuesOf(value: unknown, field: ConfigField, path: Path): readonly SchemaIssue[] {
  const { items, properties, required = [] } = field;
  if (!fits(value, field)) return [{ path, message: `must be ${describe(field)}${exampleFor(value, field)}` }];
  if (items !== undefined) return (value as unknown[]).flatMap((item, index) => issuesOf(item, items, [...path, index]));
  if (properties === undefined) return [];
  const given = value as Record<string, unknown>;
  const known = Object.keys(properties);
  return [
    ...Object.keys(given).flatMap((key) => (known.includes(key) ? [] : [unknownKey(key, known, path)])),
    ...required.flatMap((key) => (given[key] === undefined ? [{ path, message: `has no ${key}` }] : [])),
    ...Object.entries(properties).flatMap(([key, one]) =>
      given[key] === undefined ? [] : issuesOf(given[key], one, [...path, key]),
    ),
  ];
}

function fits(value: unknown, { type, minimum = Number.NEGATIVE_INFINITY, pattern = "" }: ConfigField): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isSafeInteger(value) && (value as number) >= minimum;
  return typeof value === type && (typeof value !== "string" || new RegExp(pattern).test(value));
}

function describe({ type, items, required, minimum, examples }: ConfigField): string {
  if (type === "array") return items?.type === "string" ? "a list of texts" : "a list of maps";
  if (type === "object") return required === undefined ? "a map" : `a map with ${required.join(", ")}`;
  if (type === "boolean") return "true or false";
  if (type === "integer") return minimum === undefined ? "a whole number" : `a whole number from ${minimum}`;
  return examples === undefined ? "a text" : `a text, such as ${examples[0]}`;
}

/** A text in the place of a map with one required key is probably meant as that key's value. */
function exampleFor(value: unknown, { properties = {}, required: [key, ...others] = [] }: ConfigField): string {
  if (typeof value !== "string" || key === undefined || others.length > 0) return "";
  return `: { ${key}: ${properties[key]?.type === "string" ? JSON.stringify(value) : "true"} }`;
}

function unknownKey(key: string, known: readonly string[], path: Path): SchemaIssue {
  const [near] = nearestNames(key, known);
  const hint = near === undefined ? `known are ${quoteNames(known)}` : `did you mean \`${near}\`?`;
  return { path: [...path, key], message: `is unknown; ${hint}` };
}
