import type { JournalEntry } from "../protocol/journal-entry.ts";
import { clipText } from "../util/clip-text.ts";
import { escapeText } from "../util/escape-text.ts";
import { callLabel } from "./call-label.ts";
import { renderUsage } from "./render-usage.ts";

interface Journal {
  readonly entries: readonly JournalEntry[];
  readonly torn: boolean;
}

/** One line on a run: when, what, and how it ended or how far it got. */
export function summarizeJournal(journal: Journal): string {
  const [first] = journal.entries;
  const last = journal.entries.at(-1);
  if (first?.type !== "run-start" || !last) return "empty: the run ended before it began";
  const started = new Date(first.time).toISOString().replace("T", " ").slice(0, 19);
  const end =
    last.type === "run-end"
      ? `${last.stopReason}, ${renderUsage(last.usage)}`
      : `broken off after ${journal.entries.length} entries`;
  return `${started}  ${first.program}  ${end}`;
}

/** A run as its journal tells it: calls, approvals, and what was under way when it broke off. */
export function renderJournal(journal: Journal): string {
  const lines = journal.entries.map(renderEntry).filter((line) => line !== undefined);
  const open = unfinishedSteps(journal.entries);
  const last = journal.entries.at(-1);
  const end =
    last?.type === "run-end"
      ? []
      : [
          `broken off${journal.torn ? " in the middle of a line" : ""}; under way were:`,
          ...(open.length > 0 ? open : ["  nothing"]),
        ];
  return [summarizeJournal(journal), ...lines, ...end].map((line) => `${line}\n`).join("");
}

function renderEntry(entry: JournalEntry): string | undefined {
  switch (entry.type) {
    case "run-start":
      return `run ${entry.runId} of ${entry.program} (${entry.programDigest.slice(0, 12)}), entry ${entry.entry}, approvals: ${entry.mode}`;
    case "run-end":
      return `run ${entry.stopReason}: ${renderUsage(entry.usage)}${entry.error ? `; ${show(String(entry.error["message"]))}` : ""}`;
    case "call-start":
      return `  ${callLabel(entry.callPath)} starts${entry.model ? ` on ${entry.model}` : ""}`;
    case "call-end":
      return `  ${callLabel(entry.callPath)} ends: ${entry.stopReason}, ${renderUsage(entry.usage)}`;
    case "verdict":
      return entry.verdict.type === "allowed"
        ? undefined
        : `  ${callLabel(entry.callPath)}: ${entry.verdict.type} (${show(entry.verdict.why)})`;
    case "decision":
      return `  ${callLabel(entry.callPath)}: ${entry.decision.type} (${entry.source})${entry.decision.note ? `, ${show(entry.decision.note)}` : ""}`;
    case "result":
      return entry.kind === "tool"
        ? `  ${callLabel(entry.callPath)} ${show(clipText(JSON.stringify(entry.detail), 160, "..."))}`
        : undefined;
    case "grant":
    case "intent":
      return undefined;
  }
}

/** Steps whose intent is recorded and whose result is not. */
function unfinishedSteps(entries: readonly JournalEntry[]): string[] {
  const open = new Map<number, string>();
  for (const entry of entries) {
    if (entry.type === "intent")
      open.set(entry.step, `  ${callLabel(entry.callPath)}: ${entry.kind}${entry.sideEffect ? ", may have had its effect" : ""}`);
    if (entry.type === "result") open.delete(entry.step);
  }
  return [...open.values()];
}

function show(text: string): string {
  return escapeText(text, { keepBackslashes: true });
}
