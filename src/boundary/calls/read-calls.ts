import { expandWhole } from "../../journal/expand-texts.ts";
import { readJournal } from "../../journal/read-journal.ts";
import type { RecordReader } from "../../journal/stores/record-place.ts";
import type { ProgramOfRun, RunStore } from "../../journal/stores/store.ts";
import { codeCallPath } from "../../protocol/call.ts";
import type { JournalEntry } from "../../protocol/fact.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { type CallMark, markRepeated, type RecordedCall, recordedCalls } from "./recorded-calls.ts";

/** Which calls are read. Absent members choose all. */
export interface CallsQuery {
  /** The worker's name. */
  readonly worker: string;
  readonly program?: ProgramOfRun;
  /** Only of this run. */
  readonly run?: string;
  /** Only calls that began since then, in milliseconds since the epoch. */
  readonly since?: number;
  /** The most calls, the newest first. */
  readonly last?: number;
  readonly outcome?: "done" | "failed" | "cut";
  readonly by?: "code" | "prompt";
  /** A part of the model's name. */
  readonly model?: string;
  /** Keeps calls with marks, which say why not to learn from them. Default: they are left out. */
  readonly all?: boolean;
  /** Called with each run that cannot be read, and why. */
  readonly onUnreadable?: (run: string, problem: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Reads the recorded calls of a worker, newest first, one journal at a time. Secrets stay tokens. Calls of a run that is under way are read
 * as far as they have ended.
 */
export async function* readCalls(store: RunStore, query: CallsQuery): AsyncGenerator<RecordedCall> {
  const mark = markRepeated();
  const { program, run, last = Number.POSITIVE_INFINITY, since = 0 } = query;
  let left = last;
  for await (const { id, began } of store.list({ ...(program ? { program } : {}), ...(run === undefined ? {} : { id: run }) })) {
    query.signal?.throwIfAborted();
    // A run can have gone on long after it began, and no call is older than its run.
    for (const call of (await callsOf(store, id, query)).toReversed()) {
      if (left <= 0) return;
      if (call.time < Math.max(since, began ?? 0) || !fits(call, query)) continue;
      const marked = mark(call);
      if (!query.all && isDropped(marked, query)) continue;
      left--;
      yield marked;
    }
  }
}

function fits({ by, model, marks }: RecordedCall, query: CallsQuery): boolean {
  if (query.by !== undefined && by !== query.by) return false;
  if (query.model !== undefined && !model?.includes(query.model)) return false;
  const outcome = marks.includes("failed") ? "failed" : marks.includes("cut") ? "cut" : "done";
  return query.outcome === undefined || outcome === query.outcome;
}

/** Leaves out calls that failed, unless the filter asks for them. */
function isDropped({ marks }: RecordedCall, { outcome }: CallsQuery): boolean {
  const wanted: readonly CallMark[] = outcome === "failed" || outcome === "cut" ? [outcome] : [];
  return marks.some((mark) => !wanted.includes(mark));
}

async function callsOf(store: RunStore, run: string, { worker, onUnreadable }: CallsQuery): Promise<readonly RecordedCall[]> {
  try {
    const entries = await store.look(run, (record) => readEntries(record, worker));
    return recordedCalls({ run, facts: entries, times: entries.map(({ time }) => time) }, worker);
  } catch (thrown) {
    onUnreadable?.(run, errorMessage(thrown));
    return [];
  }
}

/** The entries that tell of calls of a worker, with their long texts. Rejects if one of these is gone. */
async function readEntries(record: RecordReader, worker: string): Promise<readonly JournalEntry[]> {
  const { entries } = await readJournal(record);
  const called = entries.flatMap((entry) => (entry.type === "call-start" && entry.name === worker ? [entry.callPath] : []));
  if (called.length === 0) return [];
  const paths = new Set(called.flatMap((path) => [path, codeCallPath(path)]));
  const own = entries.filter(
    (entry) =>
      entry.type === "decision" || ((entry.type === "call-start" || entry.type === "call-end") && paths.has(entry.callPath)),
  );
  return expandWhole(record, own);
}
