import { describe, expect, it } from "vitest";
import type { Case } from "./case-file.ts";
import { type Answer, type CandidateReport, type CompareOptions, Comparison, sayJudgement } from "./compare.ts";

const schema = {
  type: "object",
  properties: { kind: { type: "string", enum: ["bug", "wish", "question"] }, urgent: { type: "boolean" } },
};
const cases = (count: number): Case[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ worker: "triage", input: { message: `m${index}` }, files: [], fragments: [] },
    output: { kind: index % 2 === 0 ? "bug" : "wish", urgent: index % 3 === 0 },
  }));

interface Candidate {
  readonly name: string;
  /** In the order of the cases. */
  readonly answers: readonly Answer[];
}

interface Options extends Pick<CompareOptions, "schema"> {
  readonly again?: Candidate;
  readonly isSame?: boolean;
}

/** The noise floor comes first. */
function compareCandidates(
  all: readonly Case[],
  candidates: readonly Candidate[],
  { schema, again, isSame }: Options,
): readonly CandidateReport[] {
  const asked = again ? [again, ...candidates] : candidates;
  const comparison = new Comparison({ schema, names: asked.map(({ name }) => name), again: again !== undefined });
  for (const [index, one] of all.entries())
    comparison.add(
      one,
      asked.map(({ answers }) => ({ answer: answers[index] ?? never(), isSame })),
    );
  return comparison.reports();
}

/** Answers as recorded, but for those that `differs` names. */
function candidate(name: string, of: readonly Case[], differs: (index: number) => boolean): Candidate {
  return {
    name,
    answers: of.map((one, index): Answer => {
      const { kind, urgent } = one.output as { kind: string; urgent: boolean };
      return { type: "output", output: { kind: differs(index) ? "question" : kind, urgent }, usd: 0.002, ms: index };
    }),
  };
}

describe("Comparison", () => {
  it("finds a planted error of 7 % at 200 calls, and not at 10", () => {
    const wrong = (index: number) => index % 14 === 3;
    const [many] = compareCandidates(cases(200), [candidate("code", cases(200), wrong)], { schema });
    expect(many).toMatchObject({ agreement: { hits: 185, count: 200 }, judgement: { verdict: "worse" } });
    const [few] = compareCandidates(cases(10), [candidate("code", cases(10), wrong)], { schema });
    expect(few?.judgement?.verdict).toBe("untold");
    expect(sayJudgement(few?.judgement ?? never(), 10, "the record")).toMatch(
      /^not to be told apart from the record at 10 calls \(95 % interval -?\d+\.\d to -?\d+\.\d points\); about \d+ more would tell$/,
    );
  });

  it("has a known noise in the interval of the noise floor, in 95 of 100 comparisons of 400 calls", () => {
    const noise = 0.1;
    let covered = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const draw = random(seed);
      const all = cases(400);
      const [floor] = compareCandidates(all, [], { schema, again: candidate("again", all, () => draw() < noise) });
      const { lower = 1, upper = 0 } = floor?.agreement ?? {};
      if (lower <= 1 - noise && 1 - noise <= upper) covered++;
    }
    expect(covered).toBeGreaterThanOrEqual(95);
  });

  it("says how many calls would tell 7 points beside a noisy prompt, and so many do", () => {
    const told = (count: number) =>
      Array.from({ length: 100 }, (_, seed) => {
        const draw = random(seed);
        const all = cases(count);
        const again = candidate("again", all, () => draw() < 0.1);
        return compareCandidates(all, [candidate("code", all, () => draw() < 0.17)], { schema, again })[1]?.judgement?.verdict;
      }).filter((verdict) => verdict === "worse").length;
    const asked = cases(100);
    const again = candidate("again", asked, (index) => index < 10);
    // Both are wrong about 2 of the cases, as they would be by chance.
    const code = candidate("code", asked, (index) => index >= 8 && index < 25);
    const { verdict, more } = compareCandidates(asked, [code], { schema, again })[1]?.judgement ?? never();
    expect(verdict).toBe("untold");
    // The interval of the true difference just leaves 0 there: it does so in about half of all comparisons.
    expect([told(100) < 35, told(100 + more) > 40, told(2 * (100 + more)) > 70]).toEqual([true, true, true]);
  });

  it("judges beside the noise floor where the prompt was asked again", () => {
    const all = cases(300);
    const again = candidate("again", all, (index) => index % 10 === 0);
    const same = candidate("code", all, (index) => index % 10 === 1);
    const worse = candidate("worse", all, (index) => index % 10 < 3);
    const [floor, first, second] = compareCandidates(all, [same, worse], { schema, again });
    expect(floor).toMatchObject({ name: "again", agreement: { hits: 270, count: 300 } });
    expect(floor?.judgement).toBeUndefined();
    expect([first?.judgement?.verdict, second?.judgement?.verdict]).toEqual(["untold", "worse"]);
  });

  it("counts fields, unsure and failed answers, and what is left out", () => {
    const all = cases(6);
    const { answers } = candidate("code", all, (index) => index === 0);
    const other = (type: "unsure" | "failed" | "left-out"): Answer => ({ type, reason: "r", usd: 0, ms: 1 });
    const mixed = [...answers.slice(0, 3), other("unsure"), other("failed"), other("left-out")];
    const [report] = compareCandidates(all, [{ name: "code", answers: mixed }], { schema });
    expect(report).toMatchObject({ unsure: 1, failed: 1, leftOut: 1, uncompared: 0, agreement: { hits: 2, count: 4 } });
    expect(report?.fields.get("kind")).toMatchObject({ hits: 2, count: 3 });
    expect(report?.fields.get("urgent")).toMatchObject({ hits: 3, count: 3 });
    expect(report?.disagreements).toMatchObject([{ index: 0, fields: ["kind"], output: { kind: "question" } }]);
    expect(report?.usdPerThousand).toBeCloseTo(1.2, 6);
    expect(report?.reasons).toEqual(
      (["unsure", "failed", "left-out"] as const).map((type, at) => ({ type, reason: "r", count: 1, index: 3 + at })),
    );
  });

  it("holds no more than 1,000 cases and reasons of a candidate, and counts all of them", () => {
    const all = cases(5000);
    const answers = all.map((one, index): Answer => {
      const shared = { usd: 0, ms: 1 };
      if (index % 2 === 0) return { type: "failed", reason: `reason ${index % 3 === 0 ? 0 : index}`, ...shared };
      return { type: "output", output: { ...(one.output as object), kind: "question" }, ...shared };
    });
    const [report] = compareCandidates(all, [{ name: "code", answers }], { schema });
    expect(report).toMatchObject({ failed: 2500, agreement: { hits: 0, count: 5000 } });
    expect([report?.disagreements.length, report?.unanswered.length, report?.reasons.length]).toEqual([1000, 1000, 1000]);
    expect(report?.reasons[0]).toMatchObject({ reason: "reason 0", count: 834, index: 0 });
  });

  it("takes a person's word before the record, and leaves out what is wrong without a better one", () => {
    const [first, second, third] = cases(3);
    const labelled = [
      { ...first, label: { verdict: "corrected", output: { kind: "question", urgent: true } } },
      { ...second, label: { verdict: "wrong" } },
      { ...third, label: { verdict: "right" } },
    ] as Case[];
    const [report] = compareCandidates(labelled, [candidate("code", cases(3), (index) => index === 0)], { schema });
    expect(report?.agreement).toMatchObject({ hits: 2, count: 2 });
  });

  it("compares no free text unless somebody judges it", () => {
    const text: Case[] = [{ worker: "sum", input: "x", files: [], fragments: [], output: "one" }];
    const answers: Answer[] = [{ type: "output", output: "two", usd: undefined, ms: 1 }];
    const [alone] = compareCandidates(text, [{ name: "code", answers }], { schema: undefined });
    expect(alone).toMatchObject({ uncompared: 1, agreement: { count: 0 }, usdPerThousand: undefined });
    const [judged] = compareCandidates(text, [{ name: "code", answers }], { schema: undefined, isSame: true });
    expect(judged).toMatchObject({ uncompared: 0, agreement: { hits: 1, count: 1 } });
  });
});

/** Numbers from 0 to below 1 (Mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function never(): never {
  throw new Error("there is a judgement");
}
