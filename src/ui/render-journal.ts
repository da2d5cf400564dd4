import type { JournalEntry } from "../protocol/journal-entry.ts";
import { clipText } from "../util/clip-text.ts";
import { escapeText } from "../util/escape-text.ts";
import { callLabel } from "./call-label.ts";
import { modelLabel } from "./model-label.ts";
import { renderDecision } from "./render-decision.ts";
import { renderResult } from "./render-result.ts";
import { renderUsage } from "./render-usage.ts";

interface Journal {
  readonly entries: readonly JournalEntry[];
  readonly torn: boolean;
}

/** One line on a run: when it began, and how it ended or how far it got. */
export function summarizeJournal(journal: Journal): string {
  const [first] = journal.entries;
  if (first?.type !== "run-start") return "nothing is recorded: it ended before it began";
  const started = readable(first, () => new Date(first.time).toISOString().replace("T", " ").slice(0, 16));
  return `${started}  ${renderEnd(journal)}`;
}

/** A damaged entry takes its own line and no other: its fields are as they are in the file. */
function readable<T>(entry: JournalEntry, render: () => T): T | string {
  try {
    return render();
  } catch {
    return `(entry ${entry.n}, ${show(entry.type)}, is damaged)`;
  }
}

/** A run as its journal tells it: calls, approvals, and what was under way when it broke off. */
export function renderJournal(journal: Journal, columns: number): string {
  const [first] = journal.entries;
  if (first?.type !== "run-start") return `${summarizeJournal(journal)}\n`;
  const { runId, program, entry, mode, version, programDigest } = first;
  const head = [
    readable(first, () => `run ${runId} of ${show(program)}, entry ${show(entry)}, approvals: ${mode}`),
    readable(first, () => `llm-do ${version}, program ${programDigest.slice(0, 12)}`),
    `started ${summarizeJournal(journal)}`,
  ];
  const lines = journal.entries.flatMap((one) => {
    const line = readable(one, () => renderEntry(one, columns));
    return line === undefined ? [] : [line.startsWith("  ") ? line : `  ${line}`];
  });
  return [...head, ...lines, ...renderUnfinished(journal)].map((line) => `${clip(line, columns)}\n`).join("");
}

function renderEnd({ entries }: Journal): string {
  const last = entries.at(-1);
  if (last?.type === "run-end") {
    return readable(last, () => {
      const { requests, inputTokens, outputTokens } = last.usage;
      return `${last.stopReason}, ${count(requests, "request")}, ${count(inputTokens + outputTokens, "token")}`;
    });
  }
  return `no end after ${entries.length} entries: killed, or still running`;
}

function count(number: number, one: string): string {
  return `${number.toLocaleString("en-US")} ${one}${number === 1 ? "" : "s"}`;
}

function renderEntry(entry: JournalEntry, columns: number): string | undefined {
  const label = "callPath" in entry ? callLabel(entry.callPath) : "";
  switch (entry.type) {
    case "run-end":
      return entry.error ? `  failed: ${show(String(entry.error["message"]))}` : undefined;
    case "call-start":
      return `  ${label} starts${entry.model ? ` on ${show(modelLabel(entry.model))}` : ""}`;
    case "call-end":
      return `  ${label} ends: ${entry.stopReason}${entry.stopReason === "cut" ? ` (${show(entry.reason ?? "")})` : ""}, ${renderUsage(entry.usage)}`;
    case "verdict":
      return entry.verdict.type === "allowed" ? undefined : `  ${label}: ${entry.verdict.type} (${show(entry.verdict.why)})`;
    case "decision":
      return `  ${label} ${renderDecision(entry.decision, entry.source)}`;
    case "revocation":
      return `  ${label} revoked an approval for the run: ${show(entry.worker)} > ${show(entry.tool)}`;
    case "result":
      if (entry.kind !== "tool") return undefined;
      return `  ${label} ${renderResult(entry.detail["result"] ?? { ok: false, error: entry.detail["error"] ?? null }, columns)}`;
    case "run-start":
    case "grant":
    case "intent":
      return undefined;
  }
}

function renderUnfinished({ entries, torn }: Journal): string[] {
  if (entries.at(-1)?.type === "run-end") return [];
  const open = unfinishedSteps(entries);
  const tornLine = torn ? ["  (its last line is cut off, as by a kill)"] : [];
  return ["under way at the last entry:", ...(open.length > 0 ? open : ["  nothing"]), ...tornLine];
}

/** Steps whose intent is recorded and whose result is not. */
function unfinishedSteps(entries: readonly JournalEntry[]): string[] {
  const open = new Map<number, string>();
  for (const entry of entries) {
    if (entry.type === "intent")
      open.set(
        entry.step,
        `  ${readable(entry, () => callLabel(entry.callPath))}: ${stepNames[entry.kind]}${entry.sideEffect ? ", may have had its effect" : ""}`,
      );
    if (entry.type === "result") open.delete(entry.step);
  }
  return [...open.values()];
}

const stepNames = { model: "a model request", tool: "a tool", worker: "a call to a worker", question: "a question" } as const;

function clip(line: string, columns: number): string {
  return clipText(line, columns, "...");
}

function show(text: string): string {
  return escapeText(text, { keepBackslashes: true });
}
