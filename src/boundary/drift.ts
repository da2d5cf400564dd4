import { readJournal } from "../journal/read-journal.ts";
import type { ProgramOfRun, RunStore } from "../journal/stores/store.ts";
import type { FactOf } from "../protocol/fact.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { type Share, toShare } from "./compare.ts";

/** Checks of one week, which begins on Monday, 00:00 UTC. */
export interface DriftWeek {
  /** The Monday: `2026-01-26`. */
  readonly week: string;
  /** Over the checks whose outputs could be compared. */
  readonly agreement: Share;
  readonly skipped: number;
  /** By the path of a field: how often it differed. */
  readonly different: Readonly<Record<string, number>>;
}

export interface DriftQuery {
  /** The worker's name. */
  readonly worker: string;
  readonly program?: ProgramOfRun;
  /** Only checks since then, in milliseconds since the epoch. */
  readonly since?: number;
  /** Called with each run that cannot be read, and why. */
  readonly onUnreadable?: (run: string, problem: string) => void;
}

type Check = Pick<FactOf<"checked">, "agrees" | "different" | "skipped"> & { readonly time: number };

/** Reads how the checks of a worker's code agreed with its prompt, by week, oldest first. */
export async function readDrift(store: RunStore, query: DriftQuery): Promise<readonly DriftWeek[]> {
  const { worker, program, since = 0, onUnreadable } = query;
  const checks: Check[] = [];
  for await (const { id } of store.list(program ? { program } : {})) {
    try {
      checks.push(...(await store.look(id, async (record) => checksOf((await readJournal(record)).entries, worker))));
    } catch (thrown) {
      onUnreadable?.(id, errorMessage(thrown));
    }
  }
  const weeks = Map.groupBy(
    checks.filter(({ time }) => time >= since),
    ({ time }) => mondayOf(time),
  );
  return [...weeks].map(([week, found]) => toWeek(week, found)).sort((one, other) => (one.week < other.week ? -1 : 1));
}

/** The last word about each call: a check that was skipped can be made when the run goes on. */
function checksOf(entries: Awaited<ReturnType<typeof readJournal>>["entries"], worker: string): readonly Check[] {
  const last = new Map<string, Check>();
  for (const entry of entries) if (entry.type === "checked" && entry.worker === worker) last.set(entry.callPath, entry);
  return [...last.values()];
}

function toWeek(week: string, checks: readonly Check[]): DriftWeek {
  const compared = checks.filter(({ skipped, agrees }) => skipped === undefined && agrees !== undefined);
  const hits = compared.filter(({ agrees }) => agrees).length;
  const different: Record<string, number> = {};
  for (const path of compared.flatMap((one) => one.different ?? [])) different[path] = (different[path] ?? 0) + 1;
  return {
    week,
    agreement: toShare(hits, compared.length),
    skipped: checks.filter(({ skipped }) => skipped !== undefined).length,
    different,
  };
}

function mondayOf(time: number): string {
  const day = 86_400_000;
  // The epoch began on a Thursday.
  const monday = Math.floor((Math.floor(time / day) + 3) / 7) * 7 - 3;
  return new Date(monday * day).toISOString().slice(0, 10);
}
