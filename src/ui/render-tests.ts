import type { CaseChange } from "../cases/baseline.ts";
import type { CaseReport, TestReport } from "../cases/test-report.ts";
import { type Taken, takenNames } from "../protocol/usage.ts";
import type { Interval } from "../util/intervals.ts";
import { dollars } from "./render-usage.ts";
import { showProse } from "./text/show-text.ts";

/** One case: a line, and below it what failed. */
export function renderCase(report: CaseReport): string {
  const { file, name, outcome, reason, failures = [], notes = [], runs = 0, kept = [] } = report;
  const word = report.flaky ? "flaky" : { passed: "ok", failed: "FAIL", skipped: "skip" }[outcome];
  const details = [...describeRuns(report), ...(reason === undefined ? [] : [reason])];
  const more = details.length > 0 ? ` (${details.join("; ")})` : "";
  const lines = failures.map((failure) => {
    const often = runs > 1 ? `failed in ${failure.runs} of ${runs} runs, first: ` : "";
    return `      ${failure.expectation}: ${often}${failure.message.replaceAll("\n", "\n        ")}`;
  });
  const hints = notes.map((note) => `      note: ${note}`);
  const places = kept.map((folder) => `      kept in ${folder}: --store ${folder}/runs shows its records`);
  return showProse(
    [`${word.padEnd(5)} ${file}: ${name}${more}`, ...lines, ...hints, ...places].map((line) => `${line}\n`).join(""),
  );
}

function describeRuns({ mode, runs = 0, passed = 0, rate, turns, usd, usdAtLeast, scores, milliseconds }: CaseReport): string[] {
  const cost = (amount: number) => `${usdAtLeast ? "at least " : ""}${dollars(amount)}`;
  if (!rate) return mode === "live" || mode === "record" ? [mode, ...(usd ? [cost(usd.median)] : [])] : [];
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const spread = (of: { min: number; max: number }, show: (value: number) => string) =>
    of.min === of.max ? show(of.min) : `${show(of.min)} to ${show(of.max)}`;
  return [
    `passed ${passed} of ${runs} runs, ${percent(rate.rate)}, 95 % interval ${percent(rate.low)} to ${percent(rate.high)}`,
    ...(turns ? [`${spread(turns, String)} turn${turns.max === 1 ? "" : "s"}`] : []),
    ...(usd && usd.max > 0 ? [spread(usd, cost)] : []),
    ...(scores ? [`scores ${spread(scores, String)}`] : []),
    ...(milliseconds ? [spread(milliseconds, (value) => `${(value / 1000).toFixed(1)} s`)] : []),
  ];
}

/** The last line: how many cases came to what. */
export function renderTotals({ cases, milliseconds }: TestReport): string {
  const count = (wanted: CaseReport["outcome"]) => cases.filter(({ outcome }) => outcome === wanted).length;
  const flaky = cases.filter((one) => one.flaky).length;
  const parts = [
    `${count("passed")} passed`,
    `${count("failed")} failed`,
    ...(flaky > 0 ? [`${flaky} flaky`] : []),
    ...(count("skipped") > 0 ? [`${count("skipped")} skipped`] : []),
  ];
  return `${parts.join(", ")}, in ${(milliseconds / 1000).toFixed(1)} s\n`;
}

/**
 * The cases that passed more or less often than in the earlier report, and what their runs take more or less of. `~`: the 95 % interval of the
 * difference does not hold 0.
 */
export function renderChanges(changes: readonly CaseChange[]): string {
  const lines = changes.flatMap(({ file, name, before, after, difference, taken }) => [
    ...renderChange(`${file}: ${name}: passed ${before.hits} of ${before.count}`, `${after.hits} of ${after.count}`, {
      difference,
      write: points,
    }),
    ...takenNames.flatMap((key) => {
      const { before: old, after: now, difference: by } = taken[key] ?? {};
      if (old === undefined || old === now) return [];
      const [noun, write] = measures[key];
      return renderChange(`${file}: ${name}: ${noun} ${write(old)}`, now === undefined ? "not known" : write(now), {
        difference: by,
        write,
      });
    }),
  ]);
  return showProse(lines.join(""));
}

const points = (share: number) => `${(100 * share).toFixed(0)} points`;

/** Nouns, and how their numbers are written. */
const measures: Readonly<Record<keyof Taken, readonly [noun: string, write: (value: number) => string]>> = {
  requests: ["requests", (value) => String(Number(value.toFixed(1)))],
  tokens: ["tokens", (value) => value.toFixed(0)],
  usd: ["cost", dollars],
};

interface Change {
  readonly difference: Interval | undefined;
  readonly write: (value: number) => string;
}

function renderChange(before: string, after: string, { difference, write }: Change): readonly string[] {
  if (difference?.estimate === 0) return [];
  if (!difference) return [`  ${before}, now ${after}\n`];
  const { estimate, lower, upper } = difference;
  const signed = (value: number) => `${value < 0 ? "-" : "+"}${write(Math.abs(value))}`;
  const mark = lower > 0 || upper < 0 ? "~" : " ";
  const interval = lower < upper ? ` (95 % interval ${signed(lower)} to ${signed(upper)})` : "";
  return [`${mark} ${before}, now ${after}: ${signed(estimate)}${interval}\n`];
}
