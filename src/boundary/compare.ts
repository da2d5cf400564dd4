import type { JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { type Agreement, type AgreementOptions, agrees, compareOutputs } from "../schema/agreement.ts";
import { casesToTell, type Interval, type PairedCounts, pairedDifference, wilsonInterval } from "../util/intervals.ts";
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
  /** Undefined if the price of an answer is unknown. */
  readonly usdPerThousand: number | undefined;
  /** Milliseconds of an answer. */
  readonly median: number;
  readonly p90: number;
  /** Beside the noise floor, or the recorded answers where there is none. Absent for the noise floor itself. */
  readonly judgement?: Judgement;
  /** The first 1,000. */
  readonly disagreements: readonly Disagreement[];
  /** The first 1,000. */
  readonly unanswered: readonly Unanswered[];
  /** Why cases were not answered: the first 1,000 reasons, each once. */
  readonly reasons: readonly Reason[];
}

export interface Reason extends Omit<Unanswered, "asked"> {
  /** How often it was given, at first for the case with the index. */
  readonly count: number;
}

/** A case without an output to compare, and why. */
export interface Unanswered {
  /** Index of the case, from 0, among those that were asked. */
  readonly index: number;
  readonly asked: Case;
  readonly type: "unsure" | "failed" | "left-out";
  readonly reason: string;
}

/** `untold`: the interval of the difference holds 0. `more` is about how many further cases would tell; Infinity if none were discordant. */
export interface Judgement extends Interval {
  readonly verdict: "worse" | "better" | "untold";
  readonly more: number;
}

export interface Disagreement {
  /** Index of the case, from 0, among those that were asked. */
  readonly index: number;
  readonly asked: Case;
  readonly expected: JsonValue;
  readonly output: JsonValue;
  readonly fields: readonly string[];
}

export interface CompareOptions extends AgreementOptions {
  readonly schema: JsonSchema | undefined;
  /** Of the candidates. */
  readonly names: readonly string[];
  /** The first candidate is the prompt as it is today: the noise floor, against which the others are judged. Default: the record is. */
  readonly again?: boolean;
}

/** What a candidate made of a case. */
export interface Judged {
  readonly answer: Answer;
  /** Whether a judge says that the outputs mean the same, where only a judge can. Undefined: nobody does. */
  readonly isSame?: boolean | undefined;
}

/** The most disagreements, and the most cases without an answer, that are kept of a candidate. */
const mostKept = 1_000;

/** Compares the answers of candidates with what was recorded or labelled, case by case. Keeps counts, eight bytes a case, and 1,000 cases. */
export class Comparison {
  readonly #tallies: readonly Tally[];
  readonly #options: CompareOptions;
  #count = 0;

  constructor(options: CompareOptions) {
    this.#options = options;
    this.#tallies = options.names.map((name) => new Tally(name, options));
  }

  /** The cases so far. */
  get count(): number {
    return this.#count;
  }

  /** Adds a case with the answers of all candidates. Returns whether one of them disagrees. */
  add(one: Case, answers: readonly Judged[]): boolean {
    const index = this.#count++;
    const found = this.#tallies.map((tally, at) => {
      const judged = answers[at];
      return judged ? tally.add({ index, one, ...judged }) : {};
    });
    for (const [at, tally] of this.#tallies.entries()) tally.pair(found[at]?.isHit, this.#options.again ? found[0]?.isHit : true);
    return found.some(({ disagrees }) => disagrees);
  }

  reports(): readonly CandidateReport[] {
    return this.#tallies.map((tally, index) => tally.report(this.#options.again === true && index === 0));
  }
}

interface Scored {
  /** Absent if the case tells nothing. */
  readonly isHit?: boolean;
  readonly disagrees?: boolean;
}

/** The counts of one candidate. */
class Tally {
  readonly #name: string;
  readonly #options: CompareOptions;
  readonly #fields = new Map<string, { hits: number; count: number }>();
  readonly #disagreements: Disagreement[] = [];
  readonly #unanswered: Unanswered[] = [];
  readonly #reasons = new Map<string, { -readonly [K in keyof Reason]: Reason[K] }>();
  readonly #counts = { unsure: 0, failed: 0, "left-out": 0, uncompared: 0, hits: 0, compared: 0 };
  readonly #pairs = { both: 0, first: 0, second: 0, neither: 0 };
  /** Milliseconds of answers. */
  readonly #times: number[] = [];
  readonly #dollars = { asked: 0, sum: 0, isKnown: true };

  constructor(name: string, options: CompareOptions) {
    this.#name = name;
    this.#options = options;
  }

  add(given: Judged & { readonly index: number; readonly one: Case }): Scored {
    const { answer, one } = given;
    this.#pay(answer);
    if (answer.type !== "output") {
      this.#miss(given, answer);
      return answer.type === "failed" ? this.#hit(false) : {};
    }
    const expected = expectedOutput(one);
    if (expected === undefined) return {};
    const agreement = compareOutputs(this.#options.schema, { one: expected, other: answer.output }, this.#options);
    const isSame = agrees(agreement) === false ? false : (given.isSame ?? agrees(agreement));
    countFields(this.#fields, agreement);
    if (isSame === undefined) {
      this.#counts.uncompared++;
      return {};
    }
    const fields = [...agreement].filter(([, verdict]) => verdict === "different").map(([path]) => path);
    if (!isSame && this.#disagreements.length < mostKept)
      this.#disagreements.push({ index: given.index, asked: one, expected, output: answer.output, fields });
    return { ...this.#hit(isSame), disagrees: !isSame };
  }

  /** Counts a case of two answerers, this one first. Cases that tell nothing of one of them are left out. */
  pair(isHit: boolean | undefined, other: boolean | undefined): void {
    if (isHit === undefined || other === undefined) return;
    this.#pairs[isHit ? (other ? "both" : "first") : other ? "second" : "neither"]++;
  }

  report(isFloor: boolean): CandidateReport {
    const { hits, compared, unsure, failed, "left-out": leftOut, uncompared } = this.#counts;
    const { asked, sum, isKnown } = this.#dollars;
    return {
      name: this.#name,
      agreement: toShare(hits, compared),
      fields: new Map([...this.#fields].map(([path, field]) => [path, toShare(field.hits, field.count)])),
      ...{ unsure, failed, leftOut, uncompared },
      usdPerThousand: isKnown && asked > 0 ? (1_000 * sum) / asked : undefined,
      ...quantiles(this.#times),
      ...(isFloor ? {} : { judgement: judge(this.#pairs) }),
      ...{ disagreements: this.#disagreements, unanswered: this.#unanswered, reasons: [...this.#reasons.values()] },
    };
  }

  #hit(isHit: boolean): Scored {
    this.#counts.compared++;
    if (isHit) this.#counts.hits++;
    return { isHit };
  }

  #pay({ type, usd, ms }: Answer): void {
    if (type === "output" || type === "unsure") this.#times.push(ms);
    if (type === "left-out") return;
    this.#dollars.asked++;
    if (usd === undefined) this.#dollars.isKnown = false;
    else this.#dollars.sum += usd;
  }

  #miss(
    { index, one }: { readonly index: number; readonly one: Case },
    { type, reason }: Exclude<Answer, { type: "output" }>,
  ): void {
    this.#counts[type]++;
    if (this.#unanswered.length < mostKept) this.#unanswered.push({ index, asked: one, type, reason });
    const key = `${type} ${reason}`;
    const known = this.#reasons.get(key);
    if (known) known.count++;
    else if (this.#reasons.size < mostKept) this.#reasons.set(key, { index, type, reason, count: 1 });
  }
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

function judge(counts: PairedCounts): Judgement {
  const difference = pairedDifference(counts);
  const seen = counts.both + counts.first + counts.second + counts.neither;
  const verdict = difference.upper < 0 ? "worse" : difference.lower > 0 ? "better" : "untold";
  return { ...difference, verdict, more: Math.max(0, casesToTell(counts) - seen) };
}

/** A share with its interval. */
export function toShare(hits: number, count: number): Share {
  return { ...wilsonInterval(hits, count), hits, count };
}

function quantiles(times: readonly number[]): { readonly median: number; readonly p90: number } {
  const sorted = times.toSorted((one, other) => one - other);
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
