import type { CallPath } from "../../protocol/call.ts";
import type { JournalEntry } from "../../protocol/fact.ts";
import { isRecord } from "../../protocol/json.ts";
import { addUsage, noUsage, type Usage } from "../../protocol/usage.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { counted } from "../explain/phrases.ts";
import { renderUsage } from "../render-usage.ts";
import { renderLines } from "../text/render-lines.ts";
import { sentParts } from "./context-ledger.ts";

/** The most turns, and parts of contexts, that have a line of their own. */
const mostRows = 15;

interface Cost {
  readonly label: string;
  readonly usage: Usage;
}

/** Lists what a run cost by worker and by turn, the most expensive first, and what took the most in its contexts. */
export function renderCosts(entries: readonly JournalEntry[]): string {
  const [workers, turns] = readCosts(entries);
  if (turns.length === 0) return "no request is recorded\n";
  const parts = sentParts(entries);
  const sent = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const partRows = parts.map(
    ({ callPath, part, tokens, requests }) =>
      `${formatCount(tokens)} tokens (${Math.round((100 * tokens) / Math.max(1, sent))}%) in ${counted(requests, "request")}: ${callPath}, ${part}`,
  );
  const lines = [
    "by worker, with requests that failed and were made again:",
    ...workers.map(renderCost),
    "by turn, as `llm-do fork --at` takes it:",
    ...cut(turns.map(renderCost), "turn"),
    "by part of a context, as far as it was sent, at four characters a token:",
    ...cut(partRows, "part"),
  ];
  return renderLines(lines.map((line) => (line.endsWith(":") && !line.startsWith(" ") ? line : `  ${line}`)));
}

function cut(rows: readonly string[], noun: string): readonly string[] {
  const rest = rows.length - mostRows;
  return rest > 0 ? [...rows.slice(0, mostRows), `and ${counted(rest, `smaller ${noun}`)}`] : rows;
}

function renderCost({ label, usage }: Cost): string {
  return `${label}: ${renderUsage(usage)}`;
}

function readCosts(entries: readonly JournalEntry[]): readonly [workers: readonly Cost[], turns: readonly Cost[]] {
  const names = new Map<CallPath, string>();
  const [workers, turns] = [new Map<string, Usage>(), new Map<string, Usage>()];
  const add = (costs: Map<string, Usage>, label: string, usage: Usage) =>
    costs.set(label, addUsage(costs.get(label) ?? noUsage, usage));
  for (const entry of entries) {
    if (entry.type === "call-start") names.set(entry.callPath, entry.name);
    if (entry.type !== "result" || entry.kind !== "model" || entry.shared) continue;
    const { callPath, key, outcome } = entry;
    const value = outcome.type === "value" && isRecord(outcome.value) ? outcome.value["usage"] : undefined;
    const usage = (outcome.type === "value" ? value : outcome.usage) as Usage | undefined;
    if (!usage) continue;
    add(workers, names.get(callPath) ?? callPath, usage);
    add(turns, `${callPath}@${/^model (\d+)/.exec(key)?.[1] ?? "?"}`, usage);
  }
  return [sortCosts(workers), sortCosts(turns)];
}

function sortCosts(costs: ReadonlyMap<string, Usage>): readonly Cost[] {
  const weight = ({ usd, inputTokens, outputTokens }: Usage) => usd ?? (inputTokens + outputTokens) / 1e9;
  return [...costs].map(([label, usage]) => ({ label, usage })).sort((a, b) => weight(b.usage) - weight(a.usage));
}
