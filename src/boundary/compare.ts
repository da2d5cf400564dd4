import type { JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { type Agreement, type AgreementOptions, agrees, compareOutputs } from "../schema/agreement.ts";
import { casesToTell, type Interval, pairedDifference, wilsonInterval } from "../util/intervals.ts";
import { type Case, expectedOutput } from "./case-file.ts";

/**
 * What a candidate made of a case. `left-out`: it asked for something that the record does not hold, so nothing can be said. `unsure` is an
 * answer, too: code that hands over to the prompt.
 */
export type Answer =
  | { readonly type: "output"; readonly output: JsonValue; readonly usd: number | undefined; readonly ms: number }
  | {
      readonly type: "unsure" | "failed" | "left-out";
      readonly reason: string;
      readonly usd: number | undefined;
      readonly ms: number;
    };

export interface Candidate {
  readonly name: string;
  /** In the order of the cases. */
  readonly answers: readonly Answer[];
}

/** A share with its interval, and the counts that it is made of. */
export interface Share extends Interval {
  readonly hits: number;
  readonly count: number;
}

export interface CandidateReport {
  readonly name: string;
  /** Over the cases that were answered and can be compared. */
  readonly agreement: Share;
  /** By the path of a field; fields that only a judge can compare have a count of 0. */
  readonly fields: ReadonlyMap<string, Share>;
  readonly unsure: number;
  readonly failed: number;
  readonly leftOut: number;
  /** Answered, and free text alone: nothing compares it. */
  readonly uncompared: number;
  /** Undefined where the price of an answer is unknown. */
  readonly usdPerThousand: number | undefined;
  /** Milliseconds of an answer. */
  readonly median: number;
  readonly p90: number;
  /** Beside the noise floor, or the recorded answers where there is none. Absent for the noise floor itself. */
  readonly judgement?: Judgement;
  readonly disagreements: readonly Disagreement[];
  readonly unanswered: readonly Unanswered[];
}

/** A case without an output to compare, and why. */
export interface Unanswered {
  /** Index of the case. */
  readonly index: number;
  readonly type: "unsure" | "failed" | "left-out";
  readonly reason: string;
}

/** `untold`: the interval of the difference holds 0. `more` is about how many further cases would tell; Infinity if none were discordant. */
export interface Judgement extends Interval {
  readonly verdict: "worse" | "better" | "untold";
  readonly more: number;
}

export interface Disagreement {
  /** Index of the case. */
  readonly index: number;
  readonly expected: JsonValue;
  readonly output: JsonValue;
  readonly fields: readonly string[];
}

export interface CompareOptions extends AgreementOptions {
  readonly schema: JsonSchema | undefined;
  /** Answers of the prompt as it is today: the noise floor, against which candidates are judged. */
  readonly again?: Candidate;
  /** Says whether two outputs mean the same where only a judge can. Default: nobody does. */
  readonly judged?: (index: number, candidate: string) => boolean | undefined;
}

/** Compares the answers of candidates with what was recorded or labelled. Pure: the answers are there. The noise floor comes first. */
export function compareCandidates(
  cases: readonly Case[],
  candidates: readonly Candidate[],
  options: CompareOptions,
): readonly CandidateReport[] {
  const floor = options.again ? scoreOf(cases, options.again, options) : undefined;
  const reports = candidates.map((candidate) => {
    const score = scoreOf(cases, candidate, options);
    return { ...score.report, judgement: judge(score.hits, floor?.hits) };
  });
  return floor ? [floor.report, ...reports] : reports;
}

/** By the index of a case: whether the answer agrees. Cases that tell nothing are absent. */
type Hits = ReadonlyMap<number, boolean>;

function scoreOf(cases: readonly Case[], { name, answers }: Candidate, options: CompareOptions) {
  const hits = new Map<number, boolean>();
  const fields = new Map<string, { hits: number; count: number }>();
  const disagreements: Disagreement[] = [];
  const unanswered: Unanswered[] = [];
  const counts = { unsure: 0, failed: 0, "left-out": 0, uncompared: 0 };
  for (const [index, answer] of answers.entries()) {
    const one = cases[index];
    if (!one) continue;
    const expected = expectedOutput(one);
    if (answer.type === "failed") hits.set(index, false);
    if (answer.type !== "output") {
      counts[answer.type]++;
      unanswered.push({ index, type: answer.type, reason: answer.reason });
      continue;
    }
    if (expected === undefined) continue;
    const agreement = compareOutputs(options.schema, { one: expected, other: answer.output }, options);
    const isSame = agrees(agreement) === false ? false : (options.judged?.(index, name) ?? agrees(agreement));
    countFields(fields, agreement);
    if (isSame === undefined) counts.uncompared++;
    else hits.set(index, isSame);
    const different = [...agreement].filter(([, verdict]) => verdict === "different").map(([path]) => path);
    if (isSame === false) disagreements.push({ index, expected, output: answer.output, fields: different });
  }
  const report: CandidateReport = {
    name,
    agreement: toShare([...hits.values()].filter(Boolean).length, hits.size),
    fields: new Map([...fields].map(([path, field]) => [path, toShare(field.hits, field.count)])),
    ...{ unsure: counts.unsure, failed: counts.failed, leftOut: counts["left-out"], uncompared: counts.uncompared },
    usdPerThousand: dollars(answers),
    ...times(answers),
    ...{ disagreements, unanswered },
  };
  return { report, hits: hits as Hits };
}

function countFields(fields: Map<string, { hits: number; count: number }>, agreement: Agreement): void {
  for (const [path, verdict] of agreement) {
    const field = fields.get(path) ?? { hits: 0, count: 0 };
    fields.set(path, field);
    if (verdict === "uncompared") continue;
    field.count++;
    if (verdict === "same") field.hits++;
  }
}

/** Beside the recorded answers, which agree with themselves, where nothing was asked again. */
function judge(hits: Hits, floor: Hits | undefined): Judgement {
  const counts = { both: 0, first: 0, second: 0, neither: 0 };
  for (const [index, isSame] of hits) {
    const other = floor ? floor.get(index) : true;
    if (other !== undefined) counts[isSame ? (other ? "both" : "first") : other ? "second" : "neither"]++;
  }
  const difference = pairedDifference(counts);
  const seen = counts.both + counts.first + counts.second + counts.neither;
  const verdict = difference.upper < 0 ? "worse" : difference.lower > 0 ? "better" : "untold";
  return { ...difference, verdict, more: Math.max(0, casesToTell(counts) - seen) };
}

function toShare(hits: number, count: number): Share {
  return { ...wilsonInterval(hits, count), hits, count };
}

function dollars(answers: readonly Answer[]): number | undefined {
  const asked = answers.filter(({ type }) => type !== "left-out");
  if (asked.some(({ usd }) => usd === undefined) || asked.length === 0) return undefined;
  return (1_000 * asked.reduce((sum, { usd = 0 }) => sum + usd, 0)) / asked.length;
}

function times(answers: readonly Answer[]): { readonly median: number; readonly p90: number } {
  const sorted = answers
    .filter(({ type }) => type === "output" || type === "unsure")
    .map(({ ms }) => ms)
    .sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { median: at(0.5), p90: at(0.9) };
}

/** One sentence for people. */
export function sayJudgement({ verdict, more, estimate, lower, upper }: Judgement, count: number, beside: string): string {
  const points = (share: number) => `${Math.abs(100 * share).toFixed(1)}`;
  const range = `${(100 * lower).toFixed(1)} to ${(100 * upper).toFixed(1)} points`;
  if (verdict !== "untold") return `${verdict} than ${beside} by ${points(estimate)} points (95 % interval ${range})`;
  const hint = Number.isFinite(more) && more > 0 ? `; about ${more} more would tell` : "";
  return `not to be told apart from ${beside} at ${count} ${count === 1 ? "call" : "calls"} (95 % interval ${range})${hint}`;
}
