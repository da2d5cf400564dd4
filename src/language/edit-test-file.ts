import { isMap, isScalar, isSeq, parseDocument, stringify } from "yaml";
import type { JsonObject } from "../protocol/json.ts";

/**
 * Adds a case at the end of a test file's `cases`, and changes nothing else of its text. Undefined if they are not written as a list
 * with a line for each.
 */
export function addCase(text: string | undefined, keys: JsonObject): string | undefined {
  const item = stringify([keys], { version: "1.2", lineWidth: 0, aliasDuplicateObjects: false });
  if (text === undefined) return `cases:\n${indented(item, "  ")}`;
  const { contents } = parseDocument(text, { logLevel: "silent" });
  const cases = isMap(contents) ? contents.items.find(({ key }) => isScalar(key) && key.value === "cases")?.value : undefined;
  const [from = 0, to = 0] = (isSeq(cases) && !cases.flow && cases.range) || [];
  const margin = text.slice(text.lastIndexOf("\n", from) + 1, from);
  if (to === 0 || margin.trim() !== "") return undefined;
  const lineEnd = text.indexOf("\n", Math.max(to - 1, from));
  const end = lineEnd < 0 ? text.length : lineEnd + 1;
  return `${text.slice(0, end)}${lineEnd < 0 ? "\n" : ""}${indented(item, margin)}${text.slice(end)}`;
}

function indented(text: string, margin: string): string {
  return text.replace(/^(?=.)/gm, margin);
}
