import type { JournalEntry } from "../protocol/fact.ts";
import { isRecord, recordsIn } from "../protocol/json.ts";
import { escapeText } from "../util/escape-text.ts";
import { renderLines } from "./render-lines.ts";

/**
 * Shows what each call was sent and what it answered, in the order of the journal. Secrets are tokens; texts are whole, and indented: none of
 * their lines looks like a heading.
 */
export function renderMessages(entries: readonly JournalEntry[]): string {
  return entries.flatMap(renderEntry).join("");
}

function renderEntry(entry: JournalEntry): readonly string[] {
  if (entry.type === "intent" && entry.kind === "model" && isRecord(entry.detail)) {
    const { system, messages } = entry.detail;
    const parts = Array.isArray(system) ? system.map((text) => ({ type: "text", text })) : [];
    const sent = recordsIn(messages).filter(({ role }) => role !== "assistant");
    return [
      ...renderParts(`${entry.callPath}, instructions`, parts),
      ...sent.flatMap(({ role, parts }) =>
        renderParts(`${entry.callPath}, ${role === "tool" ? "results" : "sent"}`, recordsIn(parts)),
      ),
    ];
  }
  if (entry.type !== "result" || entry.kind !== "model" || entry.outcome.type !== "value") return [];
  const message = isRecord(entry.outcome.value) ? entry.outcome.value["message"] : undefined;
  const turn = /^model (\d+)/.exec(entry.key)?.[1] ?? "?";
  return renderParts(`${entry.callPath}, answer ${turn}`, isRecord(message) ? recordsIn(message["parts"]) : []);
}

function renderParts(head: string, parts: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return parts.length === 0 ? [] : [renderLines([`--- ${head}`]), ...parts.map((part) => `${showLines(textOf(part))}\n`)];
}

function textOf(part: Readonly<Record<string, unknown>>): string {
  const { type, text, name, args, result, value, bytes, mediaType } = part;
  if (typeof text === "string") return type === "reasoning" ? `(thinks) ${text}` : text;
  if (type === "file") return `(file ${String(name)}, ${String(mediaType)}, ${String(bytes)} bytes)`;
  const what = args ?? result ?? value ?? null;
  return `${String(name ?? type)}${args === undefined ? " returned" : ""} ${typeof what === "string" ? what : JSON.stringify(what)}`;
}

function showLines(text: string): string {
  return escapeText(text, { keepNewlines: true, keepBackslashes: true }).replaceAll(/^/gm, "  ");
}
