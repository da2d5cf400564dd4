import { expectedOutput } from "../../boundary/case-file.ts";
import {
  type CandidateReport,
  type Disagreement,
  type Reason,
  type Share,
  sayJudgement,
  type Unanswered,
} from "../../boundary/compare.ts";
import type { CompareStepReport } from "../../boundary/compare-step.ts";
import type { Draft } from "../../boundary/drafts/draft-function.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { showLines } from "../text/show-lines.ts";
import { showText } from "../text/show-text.ts";

/** A comparison as a table for people, the noise floor first, each candidate with one sentence. */
export function renderComparison(report: CompareStepReport, { show = 0 }: { readonly show?: number } = {}): string {
  const { candidates, cases, uncompared, step } = report;
  const floor = candidates.find(({ judgement }) => judgement === undefined);
  const lines = [`${showText(step)}: ${cases} ${cases === 1 ? "case" : "cases"}`, ""];
  for (const candidate of candidates) lines.push(...renderCandidate(candidate, floor), "");
  if (uncompared.length > 0)
    lines.push(
      `not compared, since only a judge can (--judge): ${uncompared.map((path) => showText(path || "the output")).join(", ")}`,
      "",
    );
  if (!floor) lines.push("without --again nobody knows how often the prompt agrees with itself", "");
  for (const candidate of candidates) {
    const failed = candidate.unanswered.filter(({ type }) => type === "failed");
    const shown = [...candidate.disagreements, ...failed].sort((one, other) => one.index - other.index);
    for (const one of shown.slice(0, show)) lines.push(...renderDisagreement(candidate, one), "");
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

function renderCandidate(candidate: CandidateReport, floor: CandidateReport | undefined): readonly string[] {
  const { name, agreement, fields, unsure, failed, leftOut, uncompared, usdPerThousand, median, p90, judgement } = candidate;
  const counts = [
    [unsure, "unsure"],
    [failed, "failed"],
    [leftOut, "left out: the record does not answer its tools, or the dollars are spent"],
    [uncompared, "not compared"],
  ] as const;
  const others = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const rows = [...fields].filter(([path]) => path !== "").map(([path, share]) => `  ${showText(path)}: ${renderShare(share)}`);
  const money = usdPerThousand === undefined ? "price unknown" : `$${usdPerThousand.toFixed(2)} a thousand calls`;
  const beside = floor ? "today's prompt" : "what was recorded";
  return [
    `${showText(name)}${judgement === undefined ? " (the noise floor: how often it agrees with itself)" : ""}`,
    `  agrees: ${renderShare(agreement)}`,
    ...rows,
    ...(others.length > 0 ? [`  ${others.join("; ")}`] : []),
    ...renderReasons(candidate.reasons),
    `  ${money}; ${renderTime(median)} at the median, ${renderTime(p90)} at the 90th percentile`,
    ...(judgement ? [`  ${sayJudgement(judgement, agreement.count, beside)}`] : []),
  ];
}

/** The whole of what a model wrote, and what it would save. */
export function renderDraft({ file, text, rounds, seen, saves }: Draft): string {
  const { share, seconds, usd } = saves;
  const money = usd === undefined ? "" : `$${usd.toFixed(2)} and `;
  const drafts = rounds === 1 ? "draft" : "drafts";
  return [
    `+ ${showText(file)}\n${showLines("  + ", text)}`,
    `${rounds} ${drafts} from ${seen} calls; what follows is over calls that its writer has not seen\n`,
    `it answers ${(100 * share).toFixed(0)} % of them, which saves ${money}${seconds.toFixed(0)} s a thousand calls\n\n`,
  ].join("");
}

/** The most reasons that a table shows of each kind. */
const mostReasons = 3;

/** The most frequent first, each with the first case that it was given for. */
function renderReasons(reasons: readonly Reason[]): readonly string[] {
  const kinds = ["failed", "left-out", "unsure"] as const;
  return kinds.flatMap((kind) => {
    const sorted = reasons.filter(({ type }) => type === kind).toSorted((one, other) => other.count - one.count);
    const lines = sorted.slice(0, mostReasons).map(({ reason, count, index }) => {
      const times = count === 1 ? "" : `${count} times, first `;
      const text = reason === "" ? "no reason given" : showText(clipText(reason.replace(/\s+/g, " "), 300));
      return `    ${kind === "left-out" ? "left out" : kind}: ${text} (${times}case ${index + 1})`;
    });
    const rest = sorted.length - lines.length;
    return rest > 0 ? [...lines, `    ${rest} more ${rest === 1 ? "reason" : "reasons"}; --json has them`] : lines;
  });
}

export function renderShare({ hits, count, estimate, lower, upper }: Share): string {
  if (count === 0) return "nothing compared";
  const percent = (share: number) => (100 * share).toFixed(1);
  return `${hits} of ${count}, ${percent(estimate)} % (95 % interval ${percent(lower)} to ${percent(upper)} %)`;
}

function renderTime(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return "no time";
  return milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

function renderDisagreement({ name }: CandidateReport, one: Disagreement | Unanswered): readonly string[] {
  const line = (label: string, value: unknown) => `  ${label}${showText(clipText(JSON.stringify(value) ?? "", 400))}`;
  const { from, input } = one.asked;
  return [
    `${showText(name)}, case ${one.index + 1}${from === undefined ? "" : ` (${showText(from)})`}`,
    line("asked:    ", input),
    line("expected: ", expectedOutput(one.asked)),
    "reason" in one ? `  failed:   ${showText(clipText(one.reason, 400))}` : line("got:      ", one.output),
  ];
}
