import { isRecord } from "../protocol/json.ts";
import { type Taken, takenNames } from "../protocol/usage.ts";
import { differenceOfMeans, differenceOfShares, type Hits, type Interval, meanOf } from "../util/intervals.ts";
import { parseJson } from "../util/json/parse-json.ts";
import type { CaseReport, TestReport } from "./test-report.ts";

/** The outcomes of a case in an earlier report and in this one. Differences are of this report minus the earlier one. */
export interface CaseChange extends Pick<CaseReport, "file" | "name"> {
  readonly before: Hits;
  readonly after: Hits;
  /** The difference of the shares that passed. */
  readonly difference: Interval;
  /** The usage of a run, as far as the earlier report says it. */
  readonly taken: Readonly<Partial<Record<keyof Taken, TakenChange>>>;
}

/** The means of a figure. */
export interface TakenChange {
  readonly before: number;
  /** Absent if a price is unknown now. */
  readonly after?: number;
  /** Both ends are the difference seen where each report has one run. Absent where one report has a single run, and the other one several. */
  readonly difference?: Interval;
}

interface EarlierCase {
  readonly hits: Hits;
  readonly taken: NonNullable<CaseReport["taken"]>;
}

/** The cases of a report that ran, by their file and name. */
export type EarlierReport = ReadonlyMap<string, EarlierCase>;

/** Reads what `llm-do test --json` printed. Undefined if it is no such report. */
export function readReport(text: string): EarlierReport | undefined {
  const read = parseJson(text);
  if (!isRecord(read) || read["v"] !== 1 || !Array.isArray(read["cases"])) return undefined;
  const cases = (read["cases"] as readonly unknown[]).filter(isRecord);
  return new Map(
    cases.flatMap((one) => {
      const hits = hitsOf(one);
      return hits ? [[idOf(one), { hits, taken: takenIn(one["taken"], hits.count) }]] : [];
    }),
  );
}

/** Compares the cases that ran in both reports. */
export function compareReports(earlier: EarlierReport, { cases }: TestReport): readonly CaseChange[] {
  return cases.flatMap((one) => {
    const [before, after] = [earlier.get(idOf(one)), hitsOf(one)];
    if (!before || !after) return [];
    const taken = takenNames.flatMap((name) => {
      const [old, now] = [before.taken[name], one.taken?.[name]];
      return old ? [[name, compareTaken(old, now)]] : [];
    });
    const difference = differenceOfShares(after, before.hits);
    return [{ file: one.file, name: one.name, before: before.hits, after, difference, taken: Object.fromEntries(taken) }];
  });
}

/**
 * Names what a run certainly takes more of than before, by more than `tolerance`, a share of it: the whole interval says so. Dollars that are
 * no longer known are among it.
 */
export function takenBeyond({ taken }: CaseChange, tolerance: number): readonly (keyof Taken)[] {
  return takenNames.filter((name) => {
    const { before, after, difference } = taken[name] ?? { before: 0, after: 0 };
    return after === undefined || (difference?.lower ?? 0) > tolerance * before;
  });
}

function compareTaken(old: readonly number[], now: readonly number[] | undefined): TakenChange {
  if (!now) return { before: meanOf(old) };
  const [before, after] = [meanOf(old), meanOf(now)];
  const seen = after - before;
  if (old.length === 1 && now.length === 1) return { before, after, difference: { estimate: seen, lower: seen, upper: seen } };
  return { before, after, ...(old.length > 1 && now.length > 1 ? { difference: differenceOfMeans(now, old) } : {}) };
}

function idOf({ file, name }: { readonly file?: unknown; readonly name?: unknown }): string {
  return JSON.stringify([file, name]);
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Undefined for a case that did not run. */
function hitsOf({ passed, runs }: { readonly passed?: unknown; readonly runs?: unknown }): Hits | undefined {
  return isCount(passed) && isCount(runs) && runs > 0 && passed <= runs ? { hits: passed, count: runs } : undefined;
}

/** Empty for a report of an llm-do that did not write it. */
function takenIn(read: unknown, runs: number): EarlierCase["taken"] {
  if (!isRecord(read)) return {};
  const isWhole = (values: unknown): values is number[] =>
    Array.isArray(values) && values.length === runs && values.every((value) => Number.isFinite(value) && value >= 0);
  return Object.fromEntries(takenNames.flatMap((name) => (isWhole(read[name]) ? [[name, read[name]]] : [])));
}
