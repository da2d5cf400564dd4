import type { JournalEntry } from "../../protocol/fact.ts";
import { isRecord, recordsIn } from "../../protocol/json.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { renderLines } from "../text/render-lines.ts";

/**
 * Shows what each call was sent and what it answered, in the order of the journal. Secrets are tokens; texts are whole, and have a margin: none
 * of their lines looks like a heading, a call or a result.
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
  return parts.length === 0 ? [] : [renderLines([`--- ${head}`]), ...parts.map(renderPart)];
}

/** What the program knows of a part is a line of its own; texts of models, files and tools have a margin. */
function renderPart(part: Readonly<Record<string, unknown>>): string {
  const { type, text, name, args, result, value, bytes, mediaType } = part;
  if (typeof text === "string") return `${type === "reasoning" ? ownLine("(thinks)") : ""}${withMargin(text)}`;
  if (type === "file") return ownLine(`(file ${String(name)}, ${String(mediaType)}, ${String(bytes)} bytes)`);
  const what = args ?? result ?? value ?? null;
  const head = `${String(name ?? type)}${args === undefined ? " returned" : ""}`;
  return typeof what === "string" ? ownLine(head) + withMargin(what) : ownLine(`${head} ${JSON.stringify(what)}`);
}

function ownLine(text: string): string {
  return `  ${escapeText(text, { keepBackslashes: true })}\n`;
}

function withMargin(text: string): string {
  return `${escapeText(text, { keepNewlines: true, keepBackslashes: true }).replaceAll(/^/gm, "  | ")}\n`;
}
