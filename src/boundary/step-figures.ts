import type { JsonValue } from "../protocol/json.ts";
import type { Case } from "./case-file.ts";
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
  /** The first 1,000. */
  readonly disagreements: readonly (Omit<Disagreement, "asked"> & AskedCase)[];
  /** The first 1,000. */
  readonly unanswered: readonly (Omit<Unanswered, "asked"> & AskedCase)[];
}

/** The case that an answer is to. */
export interface AskedCase {
  readonly input: JsonValue;
  /** The recorded call. */
  readonly from?: string;
}

export function toFigures({ candidates, cases, step, uncompared }: CompareStepReport): StepFigures {
  const figures = candidates.map((one) => ({
    ...one,
    fields: Object.fromEntries(one.fields),
    disagreements: one.disagreements.map(withCase),
    unanswered: one.unanswered.map(withCase),
  }));
  return { v: 1, step, uncompared, cases, candidates: figures };
}

function withCase<T extends { readonly asked: Case }>({ asked: { input, from }, ...one }: T): Omit<T, "asked"> & AskedCase {
  return { ...one, input, ...(from === undefined ? {} : { from }) };
}
