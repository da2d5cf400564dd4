import { isRecord, type JsonValue } from "../protocol/json.ts";
import { clipText } from "../util/clip-text.ts";
import { show } from "./explain/phrases.ts";

/** Renders the result of a tool's call in one line: `gave …`, or `failed (denied): …`; of a call that waits, that it does. Takes results of a journal, too. */
export function renderResult(result: JsonValue, longest: number): string {
  if (!isRecord(result)) return clip(JSON.stringify(result), longest);
  const { ok, value, error } = result;
  if (ok === true) return `gave ${clip(JSON.stringify(value), longest)}`;
  if (!isRecord(error)) return `failed: ${clip(String(error), longest)}`;
  if (error["type"] === "suspended") return "waits until the run goes on";
  return `failed (${String(error["type"])}): ${clip(String(error["error"]), longest)}`;
}

function clip(text: string, longest: number): string {
  return show(clipText(text, longest, "..."));
}
