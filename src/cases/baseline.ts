import { isRecord } from "../protocol/json.ts";
import { differenceOfShares, type Hits, type Interval } from "../util/intervals.ts";
import { parseJson } from "../util/json/parse-json.ts";
import type { TestReport } from "./test-report.ts";

/** How often a case passed in an earlier report, and in this one. */
export interface CaseChange extends Pick<TestReport["cases"][number], "file" | "name"> {
  readonly before: Hits;
  readonly after: Hits;
  /** The difference of the shares: this report minus the earlier one. */
  readonly difference: Interval;
}

/** How often the cases of a report passed, by their file and name. */
export type EarlierReport = ReadonlyMap<string, Hits>;

/** Reads what `llm-do test --json` printed. Undefined if it is no such report. */
export function readReport(text: string): EarlierReport | undefined {
  const read = parseJson(text);
  if (!isRecord(read) || read["v"] !== 1 || !Array.isArray(read["cases"])) return undefined;
  const cases = (read["cases"] as readonly unknown[]).filter(isRecord);
  return new Map(
    cases.flatMap((one) => {
      const hits = hitsOf(one);
      return hits ? [[idOf(one), hits]] : [];
    }),
  );
}

/** Compares the cases that ran in both reports. */
export function compareReports(earlier: EarlierReport, { cases }: TestReport): readonly CaseChange[] {
  return cases.flatMap((one) => {
    const [before, after] = [earlier.get(idOf(one)), hitsOf(one)];
    if (!before || !after) return [];
    return [{ file: one.file, name: one.name, before, after, difference: differenceOfShares(after, before) }];
  });
}

function idOf({ file, name }: { readonly file?: unknown; readonly name?: unknown }): string {
  return JSON.stringify([file, name]);
}

/** Undefined for a case that did not run. */
function hitsOf({ passed, runs }: { readonly passed?: unknown; readonly runs?: unknown }): Hits | undefined {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  return isCount(passed) && isCount(runs) && runs > 0 && passed <= runs ? { hits: passed, count: runs } : undefined;
}
