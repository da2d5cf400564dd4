import type { CallPath } from "../../protocol/call.ts";
import type { JournalEntry } from "../../protocol/fact.ts";
import { isRecord, recordsIn } from "../../protocol/json.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { counted, show } from "../explain/phrases.ts";
import { callLabel } from "../text/call-label.ts";

/** A part of what a call sent to its model, with its size in tokens: estimated, at four characters each. */
export interface LedgerItem {
  readonly part: string;
  readonly tokens: number;
}

interface SentItem extends LedgerItem {
  /** The first request that had it, from 1. */
  readonly since: number;
}

interface LedgerResult extends SentItem {
  readonly turn: number;
  /** Its place in the results of the turn. */
  readonly index: number;
  readonly isDropped: boolean;
  /** The last request that had it. Absent: it is in the context still. */
  readonly until?: number;
}

/** The parts of a call's context and their sizes. */
interface Ledger {
  readonly items: SentItem[];
  readonly results: LedgerResult[];
  /** In tokens. */
  answers: number;
  /** The same, in all requests that had them. */
  answersSent: number;
  turn: number;
  requests: number;
  /** Key of the last request. */
  key: string;
}

/** The most results of a call that have a line of their own. */
const mostResults = 5;

/** A part of a call's context, and what sending it took. */
export interface SentPart extends LedgerItem {
  readonly callPath: CallPath;
  /** Number of requests that had it. `tokens` is the sum over them. */
  readonly requests: number;
}

/** Lists what each part of a context took in all requests of its call, the largest first. */
export function sentParts(entries: readonly JournalEntry[]): readonly SentPart[] {
  const parts = [...readLedgers(entries)].flatMap(([callPath, { items, results, answersSent, requests }]) => {
    const toSent = ({ part, tokens, since }: SentItem, until = requests): SentPart => {
      const times = until - since + 1;
      return { callPath, part, tokens: tokens * times, requests: times };
    };
    return [
      ...items.map((item) => toSent(item)),
      ...results.map((result) => toSent({ ...result, part: `${result.part}, turn ${result.turn}` }, result.until)),
      ...(answersSent > 0 ? [{ callPath, part: "answers", tokens: answersSent, requests: requests - 1 }] : []),
    ];
  });
  return parts.sort((a, b) => b.tokens - a.tokens);
}

/** Lists what took how many tokens in the context of each call, as its journal has it. The largest results first. */
export function renderLedgers(entries: readonly JournalEntry[]): string[] {
  return [...sumLedgers(entries)].flatMap(([callPath, rows]) => renderLedger(callPath, rows));
}

/** The parts of the context of each call. The largest results first, the others in one row. */
export function sumLedgers(entries: readonly JournalEntry[]): ReadonlyMap<CallPath, readonly LedgerItem[]> {
  return new Map(
    [...readLedgers(entries)].flatMap(([path, ledger]) => {
      const rows = rowsOf(ledger);
      return rows.length > 0 ? [[path, rows]] : [];
    }),
  );
}

function readLedgers(entries: readonly JournalEntry[]): ReadonlyMap<CallPath, Ledger> {
  const ledgers = new Map<CallPath, Ledger>();
  for (const entry of entries) {
    if (entry.type === "compaction") {
      const dropped = new Set(recordsIn(entry.dropped).map(({ turn, part }) => `${turn}.${part}`));
      const { results = [], requests: until = 0 } = ledgers.get(entry.callPath) ?? {};
      for (const [at, result] of results.entries())
        if (dropped.has(`${result.turn}.${result.index}`)) results[at] = { ...result, isDropped: true, until };
    }
    // Journals of version 1 are shown unchecked.
    if (entry.type !== "intent" || entry.kind !== "model" || !isRecord(entry.detail)) continue;
    const ledger = ledgers.get(entry.callPath) ?? {
      items: [],
      results: [],
      answers: 0,
      answersSent: 0,
      turn: 0,
      requests: 0,
      key: "",
    };
    ledgers.set(entry.callPath, ledger);
    // A run that goes on records the request that was under way once more.
    if (ledger.key !== entry.key) addRequest(ledger, entry.detail);
    ledger.key = entry.key;
  }
  return ledgers;
}

/** A recorded request has what no earlier one of its call had: the first its system parts and tools, each its new messages. */
function addRequest(ledger: Ledger, { system, tools, messages }: Readonly<Record<string, unknown>>): void {
  const since = ++ledger.requests;
  if (system !== undefined) ledger.items.push({ part: "instructions", tokens: tokensOf(system), since });
  for (const tool of recordsIn(tools)) ledger.items.push({ part: `tool ${String(tool["name"])}`, tokens: tokensOf(tool), since });
  for (const { role, parts } of recordsIn(messages)) {
    if (role === "assistant") {
      ledger.turn++;
      ledger.answers += tokensOf(parts);
    } else
      for (const [index, part] of recordsIn(parts).entries()) {
        const { turn } = ledger;
        if (part["type"] === "tool-result")
          ledger.results.push({
            part: `result of ${String(part["name"])}`,
            tokens: tokensOf(part["result"]),
            turn,
            index,
            isDropped: false,
            since,
          });
        else ledger.items.push({ ...toItem(part, turn), since });
      }
  }
  ledger.answersSent += ledger.answers;
}

function toItem(part: Readonly<Record<string, unknown>>, turn: number): LedgerItem {
  if (part["type"] !== "file")
    return { part: turn === 0 ? "input" : `message after turn ${turn}`, tokens: tokensOf(part["text"]) };
  // As it is sent, in base64.
  return { part: `file ${String(part["name"])}`, tokens: Math.ceil(Number(part["bytes"] ?? 0) / 3) };
}

function rowsOf({ items, results, answers }: Ledger): readonly LedgerItem[] {
  if (items.length + results.length === 0) return [];
  const bySize = results.toSorted((a, b) => b.tokens - a.tokens);
  const rest = bySize.slice(mostResults);
  return [
    ...items,
    ...(answers > 0 ? [{ part: "answers", tokens: answers }] : []),
    ...bySize
      .slice(0, mostResults)
      .map((one) => ({ ...one, part: `${one.part}, turn ${one.turn}${one.isDropped ? " (dropped)" : ""}` })),
    ...(rest.length > 0 ? [{ part: `${counted(rest.length, "smaller result")}${droppedOf(rest)}`, tokens: sum(rest) }] : []),
  ];
}

function renderLedger(callPath: CallPath, rows: readonly LedgerItem[]): string[] {
  const total = formatCount(sum(rows));
  return [
    `context of ${callLabel(String(callPath))}: ${total} tokens, at four characters each`,
    ...rows.map(({ part, tokens }) => `  ${formatCount(tokens).padStart(total.length)} ${show(part)}`),
  ];
}

function droppedOf(results: readonly LedgerResult[]): string {
  const dropped = results.filter(({ isDropped }) => isDropped).length;
  return dropped === 0 ? "" : ` (${formatCount(dropped)} dropped)`;
}

function sum(items: readonly LedgerItem[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0);
}

function tokensOf(value: unknown): number {
  return Math.ceil(charactersOf(value) / 4);
}

/** The length of a value's JSON; long texts are references to blobs, which say their length. */
function charactersOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return value.reduce<number>((total, one) => total + charactersOf(one) + 1, 1);
  if (!isRecord(value)) return String(value).length;
  if (typeof value["bytes"] === "number" && ("$blob" in value || "$private" in value)) return value["bytes"];
  return Object.entries(value).reduce((total, [key, one]) => total + key.length + charactersOf(one) + 4, 1);
}
