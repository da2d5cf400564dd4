import { isRecord, type JsonValue } from "../protocol/json.ts";
import { clipText } from "../util/text/clip-text.ts";
import { show } from "./explain/phrases.ts";

/** Renders the result of a tool's call in one line: `gave …`, or `failed (denied): …`; of a call that waits, that it does. Takes results of a journal, too. */
export function renderResult(result: JsonValue, longest: number): string {
  if (!isRecord(result)) return clip(JSON.stringify(result), longest);
  const { ok, value, error } = result;
  if (ok === true) return `gave ${clip(JSON.stringify(value), longest)}`;
  if (!isRecord(error)) return `failed: ${clip(String(error), longest)}`;
  if (error["type"] === "suspended") return "waits until the run goes on";
  const hint = typeof error["hint"] === "string" && !hintsForModels.has(String(error["type"])) ? error["hint"] : "";
  return `failed (${String(error["type"])}): ${clip(joinHint(String(error["error"]), hint), longest)}`;
}

/** Their hints are always the same. */
const hintsForModels: ReadonlySet<string> = new Set(["tool_failed", "invalid_arguments"]);

/** Adds what is allowed instead. */
function joinHint(error: string, hint: string): string {
  if (hint === "") return error;
  return /[.!?]$/.test(error) ? `${error} ${hint}` : `${error}; ${hint}`;
}

function clip(text: string, longest: number): string {
  return show(clipText(text, longest, "..."));
}
