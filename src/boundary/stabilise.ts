import { addSettings, removeSettings, UneditableWorker } from "../language/edit-frontmatter.ts";
import { CandidateError } from "./candidate.ts";
import type { CandidateReport } from "./compare.ts";

/** Fewer compared calls say nothing about a share. */
export const fewestCalls = 20;

export interface Bar {
  /** The lowest acceptable lower end of the interval of the agreement. */
  readonly atLeast: number;
  /** The prompt was asked again, so that the candidate is judged beside it. */
  readonly again: boolean;
}

/** Says why the figures do not allow a function to answer a step. Undefined where they do. */
export function findObstacle({ agreement, leftOut, judgement }: CandidateReport, { again, atLeast }: Bar): string | undefined {
  const { count, lower } = agreement;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  if (leftOut > 0) return `${leftOut} calls could not be answered from the record`;
  if (count < fewestCalls) return `the function answered ${count} calls that can be compared; ${fewestCalls} are the fewest`;
  if (lower < atLeast)
    return `its agreement may be as low as ${percent(lower)}, and ${percent(atLeast)} are asked for (--at-least)`;
  return again && judgement?.verdict === "worse" ? "it is worse than today's prompt" : undefined;
}

/** The text of a worker file with these lines for `code` and `check`, and otherwise byte for byte as it was. Throws a `CandidateError`. */
export function withAnswerer(text: string, lines: readonly string[]): string {
  try {
    const bare = removeSettings(text, ["code", "check"]);
    return lines.length > 0 ? addSettings(bare, lines) : bare;
  } catch (thrown) {
    if (!(thrown instanceof UneditableWorker)) throw thrown;
    throw new CandidateError(`the worker file cannot be changed by line: ${thrown.message}`);
  }
}
