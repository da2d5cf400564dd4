import type { JsonValue } from "../protocol/json.ts";
import { renderIssues, type Schema } from "../schema/schema.ts";
import { isTooDeep } from "../util/to-json-value.ts";

export type ReadOutput = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: string };

/** Reads an answer: the text as it is, or, where there is a schema, JSON (also inside a code fence) that fits it. */
export async function readOutput(schema: Schema | undefined, text: string): Promise<ReadOutput> {
  if (!schema) return { ok: true, value: text };
  let value: unknown;
  try {
    value = JSON.parse(unfenced(text.trim()));
  } catch {
    return { ok: false, problem: "it is not JSON" };
  }
  // Deeper values would overflow the stack of the functions that walk them later.
  if (isTooDeep(value)) return { ok: false, problem: "it is nested too deep" };
  const checked = await schema.validate(value);
  return checked.ok ? { ok: true, value: checked.value as JsonValue } : { ok: false, problem: renderIssues(checked.issues) };
}

/** Without a regular expression: models write long runs of blanks, and a search that backtracks takes minutes there. */
function unfenced(text: string): string {
  if (!text.startsWith("```") || !text.endsWith("```") || text.length < 6) return text;
  const inner = text.slice(3, -3);
  return inner.startsWith("json") ? inner.slice(4) : inner;
}
