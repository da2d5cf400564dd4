import type { JsonValue } from "../protocol/json.ts";
import type { CandidateReport, Disagreement, Share, Unanswered } from "./compare.ts";
import type { CompareStepReport } from "./compare-step.ts";

/** The figures of a comparison, as plain data. */
export interface StepFigures extends Pick<CompareStepReport, "step" | "uncompared"> {
  readonly v: 1;
  /** How many cases were asked. */
  readonly cases: number;
  /** The noise floor first, where the prompt was asked again. */
  readonly candidates: readonly CandidateFigures[];
}

export interface CandidateFigures extends Omit<CandidateReport, "fields" | "disagreements" | "unanswered"> {
  /** By the path of a field. */
  readonly fields: Readonly<Record<string, Share>>;
  readonly disagreements: readonly (Disagreement & AskedCase)[];
  readonly unanswered: readonly (Unanswered & AskedCase)[];
}

/** The case that an answer is to. */
export interface AskedCase {
  readonly input: JsonValue | undefined;
  /** The recorded call. */
  readonly from?: string;
}

export function toFigures({ candidates, cases, step, uncompared }: CompareStepReport): StepFigures {
  const asked = <T extends { readonly index: number }>(one: T): T & AskedCase => {
    const { input, from } = cases[one.index] ?? {};
    return { ...one, input, ...(from === undefined ? {} : { from }) };
  };
  const figures = candidates.map((one) => ({
    ...one,
    fields: Object.fromEntries(one.fields),
    disagreements: one.disagreements.map(asked),
    unanswered: one.unanswered.map(asked),
  }));
  return { v: 1, step, uncompared, cases: cases.length, candidates: figures };
}
