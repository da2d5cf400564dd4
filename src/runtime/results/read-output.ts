import type { JsonValue } from "../../protocol/json.ts";
import { renderIssues, type Schema } from "../../schema/schema.ts";
import { isTooDeep } from "../../util/json/to-json-value.ts";

export type ReadOutput = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: string };

/**
 * Reads an answer: the text as it is, or, where there is a schema, JSON that fits it. Models write a code fence or words around it, however they
 * are asked.
 */
export async function readOutput(schema: Schema | undefined, text: string): Promise<ReadOutput> {
  if (!schema) return { ok: true, value: text };
  const value = parseJson(unfenced(text.trim())) ?? parseJson(withoutWords(text));
  if (value === undefined) return { ok: false, problem: "it is not JSON" };
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

/** From the first bracket to the last. More than one value is none: which of them counts is not known. */
function withoutWords(text: string): string {
  const start = text.search(/[[{]/);
  return start < 0 ? "" : text.slice(start, Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
