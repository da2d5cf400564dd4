import type { JournalContents, JournalEnds } from "../../journal/read-journal.ts";
import { isCodeOfWorker } from "../../protocol/call.ts";
import type { FactOf, JournalEntry, Outcome } from "../../protocol/fact.ts";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { counted, show } from "../explain/phrases.ts";
import { renderChecked } from "../render-checked.ts";
import { renderCompaction } from "../render-compaction.ts";
import { renderDecision } from "../render-decision.ts";
import { renderResult } from "../render-result.ts";
import { renderUsage } from "../render-usage.ts";
import { callLabel } from "../text/call-label.ts";
import { modelLabel } from "../text/model-label.ts";
import { renderLines } from "../text/render-lines.ts";
import { wrapWords } from "../text/wrap-text.ts";
import { renderLedgers } from "./context-ledger.ts";

type Journal = Pick<JournalContents, "version" | "entries" | "problems" | "torn">;

/** Summarizes a run in one line: when it began, and how it ended or how far it got. */
export function summarizeJournal({ version, first, last, undone }: Omit<JournalEnds, "entryCall">): string {
  if (first?.type !== "run-start" || !last) return "nothing is recorded: it ended before it began";
  const started = readable(first, () => new Date(first.time).toISOString().replace("T", " ").slice(0, 16));
  return `${started}  ${renderEnd(last)}${version === 1 ? "; too old to be replayed" : ""}${undone ? "; taken back" : ""}`;
}

/** A damaged entry takes its own line and no other. */
function readable<T>(entry: JournalEntry, render: () => T): T | string {
  try {
    return render();
  } catch {
    return `(entry ${entry.n}, ${entry.type}, is damaged)`;
  }
}

/** Renders a run from its journal: calls, approvals, and what was under way when it broke off. */
export function renderJournal(journal: Journal, columns: number): string {
  const { version, entries, problems } = journal;
  const [first, last] = [entries[0], entries.findLast(({ type }) => type !== "undo")];
  const summary = summarizeJournal({ version, ...(first && last ? { first, last } : {}) });
  const damaged = [...problems].map(([n, problem]) => [n, `(entry ${n}: ${problem})`] as const);
  if (first?.type !== "run-start") return renderLines([summary, ...damaged.map(([, line]) => `  ${line}`)], columns);
  const { runId, program, entry, mode, version: recordedBy, programDigest } = first;
  const head = [
    readable(first, () => `run ${runId} of ${program}, entry ${entry}, approvals: ${mode}`),
    readable(first, () => `llm-do ${recordedBy}, program ${programDigest.slice(0, 12)}`),
    `started ${summary}`,
    ...(version === 1 ? ["recorded by an older llm-do: it can be shown, and not replayed"] : []),
  ];
  const shown = entries.map((one) => [one.n, readable(one, () => renderEntry(one, columns))] as const);
  const lines = [...shown, ...damaged]
    .sort(([a], [b]) => a - b)
    .flatMap(([, line]) => (line === undefined ? [] : wrapEntry(line.trimStart(), columns)));
  const ledgers = renderLedgers(entries);
  return renderLines([...head, ...lines, ...renderUnfinished(journal), ...ledgers], columns);
}

/** Reasons of failures stay whole. */
function wrapEntry(line: string, columns: number): string[] {
  const [first = "", ...more] = wrapWords(show(line), Math.max(20, columns - 6));
  return [`  ${first}`, ...more.map((text) => `      ${text}`)];
}

function renderEnd(last: JournalEntry): string {
  if (last.type === "run-end") {
    return readable(last, () => {
      const { requests, inputTokens, outputTokens } = last.usage;
      const denied = last.denied > 0 ? `, ${counted(last.denied, "call")} denied` : "";
      return `${last.stopReason}${denied}, ${counted(requests, "request")}, ${counted(inputTokens + outputTokens, "token")}`;
    });
  }
  if (last.type === "answer") return "suspended, and answered";
  return `still running, or killed: no end after ${last.n + 1} entries`;
}

function renderCodeEnd({ type, reason }: Record<string, unknown>): string {
  return type === "answer" ? "answers" : `leaves it to the prompt: ${String(reason)}`;
}

/** Shows the lines that a program of a model printed: they are a part of its result. */
function renderPrinted({ callPath, result }: FactOf<"call-end">): string {
  const value = callPath.endsWith("run_program") ? result?.["value"] : undefined;
  const printed = isRecord(value) ? value["printed"] : undefined;
  return Array.isArray(printed) ? `; it printed ${clipText(JSON.stringify(printed), longestReason)}` : "";
}

function renderEntry(entry: JournalEntry, columns: number): string | undefined {
  const label = "callPath" in entry ? callLabel(entry.callPath) : "";
  switch (entry.type) {
    case "run-end":
      if (!isRecord(entry.error)) return undefined;
      return `  ${entry.stopReason === "suspended" ? "" : "failed: "}${String(entry.error["message"])}`;
    case "call-start":
      return `  ${label} starts${entry.model ? ` on ${modelLabel(entry.model)}` : ""}`;
    case "call-end":
      if (isCodeOfWorker(entry.callPath) && isRecord(entry.output)) return `  ${label} ${renderCodeEnd(entry.output)}`;
      return `  ${label} ends: ${entry.stopReason}${entry.stopReason === "cut" ? ` (${entry.reason ?? ""})` : ""}, ${renderUsage(entry.usage)}${renderPrinted(entry)}`;
    case "verdict":
      return entry.verdict.type === "allowed" ? undefined : `  ${label}: ${entry.verdict.type} (${entry.verdict.why})`;
    case "decision":
      return `  ${label} ${renderDecision(entry)}`;
    case "answer":
      return `  ${label} ${renderDecision({ decision: entry.decision, source: "person" })}, for when the run goes on`;
    case "revocation":
      return `  ${label} revoked an approval for the run: ${entry.worker} > ${entry.tool}`;
    case "refusal":
      return `  ${label} ${renderResult({ ok: false, error: entry.error as unknown as JsonObject }, longestReason)}`;
    case "limit":
      return `  ${label}: the limit of ${entry.allowed} ${entry.limit.replaceAll("_", " ")} is reached`;
    case "result":
      return entry.kind === "tool" ? renderOutcome(label, entry.outcome, columns) : undefined;
    case "compaction":
      return `  ${label}${entry.key.replace(/^compaction (\d+).*/, ", turn $1")}: ${renderCompaction(entry)}`;
    case "cut":
      return `  ${label}: the result of ${formatCount(entry.characters)} characters was cut, as ${entry.id}`;
    case "attempt":
      return `  goes on: attempt ${entry.number} at ${new Date(entry.time).toISOString().replace("T", " ").slice(0, 16)}`;
    case "worker":
      return `  ${label} created the worker ${entry.name}`;
    case "undo":
      return `  taken back: ${counted(entry.restored.length, "file")} restored, ${entry.removed.length} removed, ${entry.left.length} left`;
    case "checked":
      return `  ${label} ${renderChecked(entry)}`;
    case "run-start":
    case "grant":
    case "intent":
    case "code-call":
    case "abort":
    case "artifact":
      return undefined;
  }
}

const longestReason = 2000;

/** A value is cut at the line's end, and the reason of a failure is not. */
function renderOutcome(label: string, outcome: Outcome, columns: number): string {
  if (outcome.type === "value" && isRecord(outcome.value) && outcome.value["ok"] === false)
    return `  ${label} ${renderResult(outcome.value, longestReason)}`;
  if (outcome.type === "value") return clipText(`  ${label} ${renderResult(outcome.value, columns)}`, columns - 6, "...");
  const { partial } = outcome.type === "interrupted" ? outcome : {};
  const after = partial === undefined ? "" : ` after ${JSON.stringify(partial)}`;
  return clipText(`  ${label} was interrupted${after}`, columns - 6, "...");
}

function renderUnfinished({ entries, torn }: Journal): string[] {
  const last = entries.findLast(({ type }) => type !== "undo")?.type;
  if (last === "run-end" || last === "answer") return [];
  const open = unfinishedEffects(entries);
  const tornLine = torn ? ["  (its last line is cut off, as by a kill)"] : [];
  return ["under way at the last entry:", ...(open.length > 0 ? open : ["  nothing"]), ...tornLine];
}

/** Effects whose intent is recorded and whose outcome is not. */
function unfinishedEffects(entries: readonly JournalEntry[]): string[] {
  const open = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "intent" && entry.type !== "result") continue;
    const id = `${entry.callPath} ${entry.key}`;
    if (entry.type === "result") open.delete(id);
    else
      open.set(
        id,
        `  ${readable(entry, () => callLabel(entry.callPath))}: ${effectNames[entry.kind]}${entry.sideEffect ? ", may have had its effect" : ""}`,
      );
  }
  return [...open.values()];
}

const effectNames = {
  model: "a model request",
  tool: "a tool",
  question: "a question",
  connect: "a connection",
  step: "a step of code",
} as const;
