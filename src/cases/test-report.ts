import { type Taken, takenNames, takenOf } from "../protocol/usage.ts";
import type { Failure } from "./check-expectations.ts";
import type { CaseRun } from "./run-case.ts";
import type { CaseMode } from "./scratch-case.ts";
import { type PassRate, passRate, type Spread, spreadOf } from "./statistics.ts";

/** A failure, and in how many runs it was seen. `message` is of the first one. */
export interface CountedFailure extends Failure {
  readonly runs: number;
}

/** The result of a case. Plain data. */
export interface CaseReport {
  /** Relative to the working directory. */
  readonly file: string;
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** The reason why it was skipped. */
  readonly reason?: string;
  /** Absent for a skipped case, as are the next ones. */
  readonly mode?: CaseMode;
  readonly runs?: number;
  readonly passed?: number;
  /** The share of runs that passed, with its 95 % interval. Present for more than one run. */
  readonly rate?: PassRate;
  /**
   * True if no run passed and one failed before any model was asked, by a mistake in what it was begun with: its outcome is `failed`,
   * whatever share of runs has to pass.
   */
  readonly isMistake?: true;
  /** True if some runs passed and others failed. */
  readonly flaky?: boolean;
  readonly failures?: readonly CountedFailure[];
  /** Calls that were denied by default, of which the case says nothing. */
  readonly notes?: readonly string[];
  readonly turns?: Spread;
  /** Dollars of a run. Absent if the price of one is not known. */
  readonly usd?: Spread;
  /** True if a run cost more than is known. */
  readonly usdAtLeast?: true;
  /** The usage of each run, its judge included: as many values as `runs`. Dollars are absent if what one cost is not known in full. */
  readonly taken?: Readonly<Partial<Record<keyof Taken, readonly number[]>>>;
  readonly scores?: Spread;
  readonly milliseconds?: Spread;
  /** Absolute paths of the folders that are kept of its runs: each has the copy, and the store `runs`. */
  readonly kept?: readonly string[];
}

export interface TestReport {
  /** False if a case failed. */
  readonly passed: boolean;
  readonly cases: readonly CaseReport[];
  readonly milliseconds: number;
}

export interface CaseRuns {
  readonly file: string;
  readonly name: string;
  readonly mode: CaseMode;
  /** The share of runs that has to pass. */
  readonly required: number;
  readonly runs: readonly CaseRun[];
  /** Runs for which no budget was left. */
  readonly notRun: number;
}

/**
 * Sums up the runs of a case. A single run has to pass; of several, the interval of their pass rate must not lie below what is required,
 * so that chance alone fails no case.
 */
export function reportCase({ file, name, mode, required, runs, notRun }: CaseRuns): CaseReport {
  const count = runs.length;
  const failures = countFailures(runs);
  if (notRun > 0)
    failures.push({ expectation: "budget", message: `was spent after ${count} of ${count + notRun} runs`, runs: notRun });
  if (count === 0) return { file, name, outcome: "failed", mode, runs: 0, passed: 0, failures };
  const passed = runs.filter((run) => run.failures.length === 0).length;
  const rate = passRate(passed, count);
  const isMistake = passed === 0 && runs.some((run) => run.isMistake);
  const holds = !isMistake && notRun === 0 && (count === 1 ? passed === 1 : rate.high >= required);
  const notes = [...new Set(runs.flatMap((run) => run.notes ?? []))];
  const kept = runs.flatMap((run) => run.kept ?? []);
  const scores = runs.flatMap(({ score }) => (score === undefined ? [] : [score]));
  const dollars = runs.flatMap(({ usage }) => (usage.usd === undefined ? [] : [usage.usd]));
  return {
    file,
    name,
    outcome: holds ? "passed" : "failed",
    mode,
    runs: count,
    passed,
    flaky: passed > 0 && passed < count,
    failures,
    ...(isMistake ? { isMistake } : {}),
    ...(count > 1 ? { rate } : {}),
    turns: spreadOf(runs.map(({ turns }) => turns)),
    ...(dollars.length === count ? { usd: spreadOf(dollars) } : {}),
    ...(runs.some(({ usage }) => usage.usdAtLeast) ? { usdAtLeast: true as const } : {}),
    taken: takenByRun(runs),
    ...(scores.length > 0 ? { scores: spreadOf(scores) } : {}),
    milliseconds: spreadOf(runs.map(({ milliseconds }) => milliseconds)),
    ...(notes.length > 0 ? { notes } : {}),
    ...(kept.length > 0 ? { kept } : {}),
  };
}

function takenByRun(runs: readonly CaseRun[]): NonNullable<CaseReport["taken"]> {
  const all = runs.map(({ usage }) => ({ ...takenOf(usage), ...(usage.usdAtLeast ? { usd: undefined } : {}) }));
  const values = takenNames.map((name) => [name, all.flatMap((one) => one[name] ?? [])] as const);
  return Object.fromEntries(values.filter(([, known]) => known.length === runs.length));
}

/** Counts each expectation once a run; those that fail most often first. */
function countFailures(runs: readonly CaseRun[]): CountedFailure[] {
  const counted = new Map<string, CountedFailure>();
  for (const { failures } of runs) {
    const own = new Map(
      failures.map(
        (failure) => [runs.length === 1 ? `${failure.expectation} ${failure.message}` : failure.expectation, failure] as const,
      ),
    );
    for (const [key, failure] of own) {
      const known = counted.get(key);
      counted.set(key, { ...(known ?? failure), runs: (known?.runs ?? 0) + 1 });
    }
  }
  return [...counted.values()].sort((a, b) => b.runs - a.runs);
}
