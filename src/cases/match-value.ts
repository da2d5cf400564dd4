import type { Matcher } from "../language/test-shape.ts";
import { isRecord, type JsonValue } from "../protocol/json.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { renderIssues } from "../schema/schema.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { clipText } from "../util/clip-text.ts";

/** Returns what a value is not, a text for each; empty where it is all that the matcher says. */
export async function mismatches(value: JsonValue | undefined, matcher: Matcher): Promise<readonly string[]> {
  if (value === undefined) return ["is not there"];
  const { equals, contains = [], matches, schema, path = {} } = matcher;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const shown = `it is ${show(value)}`;
  const found: string[] = [];
  if (equals !== undefined && canonicalJson(equals) !== canonicalJson(value)) found.push(`is not ${show(equals)}; ${shown}`);
  for (const part of contains) if (!text.includes(part)) found.push(`does not contain ${show(part)}; ${shown}`);
  if (matches && !matches.test(text)) found.push(`does not match /${matches.source}/; ${shown}`);
  if (schema) {
    const checked = await fromJsonSchema(schema).validate(value);
    if (!checked.ok) found.push(`does not fit the schema: ${renderIssues(checked.issues)}; ${shown}`);
  }
  for (const [place, inner] of Object.entries(path)) {
    const problems = await mismatches(valueAt(value, place.split(".")), inner);
    found.push(...problems.map((problem) => `${place} ${problem}`));
  }
  return found;
}

function valueAt(value: JsonValue | undefined, [key, ...rest]: readonly string[]): JsonValue | undefined {
  if (key === undefined) return value;
  if (Array.isArray(value)) return valueAt((value as readonly JsonValue[])[Number(key)], rest);
  return isRecord(value) && Object.hasOwn(value, key) ? valueAt(value[key] as JsonValue, rest) : undefined;
}

function show(value: JsonValue): string {
  return clipText(JSON.stringify(value), 200);
}
