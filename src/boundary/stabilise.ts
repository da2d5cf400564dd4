import { addSettings, removeSettings, UneditableWorker } from "../language/edit-frontmatter.ts";
import { CandidateError } from "./candidate.ts";
import { type CandidateReport, sayJudgement } from "./compare.ts";

/** Fewer compared calls say nothing about a share. */
export const fewestCalls = 20;

/**
 * Says why the figures do not allow a function to answer a step. Undefined if they do. `floor` is the report of today's prompt, where it
 * was asked again; without it the function is held to what was recorded. `atLeast` is the lowest acceptable lower end of the interval of an
 * agreement.
 */
export function findObstacle(
  { agreement, leftOut, judgement }: CandidateReport,
  { atLeast, floor }: { readonly atLeast: number; readonly floor: CandidateReport | undefined },
): string | undefined {
  const { count, lower } = agreement;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const bar = `and ${percent(atLeast)} are asked for (--at-least)`;
  if (leftOut > 0) return `${leftOut} calls could not be answered from the record`;
  if (floor && floor.leftOut > 0)
    return `today's prompt has no answer to ${floor.leftOut} calls: the record does not answer its tools, or the dollars are spent`;
  if (floor && floor.agreement.lower < atLeast)
    return `the prompt's agreement with itself may be as low as ${percent(floor.agreement.lower)}, ${bar}`;
  if (count < fewestCalls) return `the function answered ${count} calls that can be compared; ${fewestCalls} are the fewest`;
  if (lower < atLeast) return `its agreement may be as low as ${percent(lower)}, ${bar}`;
  if (judgement?.verdict !== "worse") return undefined;
  const beside = floor ? "today's prompt" : "what was recorded";
  const hint = floor ? "" : "; --again compares it with today's prompt, which may not agree with the record either";
  return `it is ${sayJudgement(judgement, count, beside)}${hint}`;
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
