import { join } from "node:path";
import { writeNewFiles } from "../host/files/new-files.ts";
import { addSettings, removeSettings, UneditableWorker } from "../language/edit-frontmatter.ts";
import { CandidateError, type CandidateSource, parseCandidate, type StepOfProgram } from "./candidate.ts";
import { type CandidateReport, sayJudgement } from "./compare.ts";
import { type CompareStepReport, type CompareStepRequest, compareStep } from "./compare-step.ts";

/** Fewer compared calls say nothing about a share. */
export const fewestCalls = 20;

export interface FunctionRequest extends Omit<CompareStepRequest, "candidates"> {
  /** The lowest acceptable lower end of the interval of an agreement. */
  readonly atLeast: number;
  readonly candidate: { readonly name: string; readonly source: CandidateSource };
}

export interface FunctionJudgement {
  /** Absent if too few calls are recorded. */
  readonly report?: CompareStepReport;
  /** Why the function may not answer; absent if it may. */
  readonly obstacle?: string;
}

/** Compares a function with what a step answered. Rejects as `compareStep` does. */
export async function judgeFunction({ candidate: judged, ...request }: FunctionRequest): Promise<FunctionJudgement> {
  const { count } = request.cases;
  if (count < fewestCalls) return { obstacle: `${count} recorded calls tell nothing; ${fewestCalls} are the fewest` };
  const report = await compareStep({ ...request, candidates: [judged] });
  const candidate = report.candidates.at(-1);
  const floor = request.again ? report.candidates[0] : undefined;
  const obstacle = candidate && findObstacle(candidate, { atLeast: request.atLeast, floor });
  return { report, ...(obstacle === undefined ? {} : { obstacle }) };
}

/** Reads a function as it is written. Throws a `CandidateError` for what is none. */
export function readFunction(text: string): FunctionRequest["candidate"] {
  const source = /\.[cm]?[jt]s:/.test(text) ? parseCandidate(text) : undefined;
  if (source?.type === "code") return { name: text, source };
  throw new CandidateError(`${text}: a function is written tools.ts:NAME`);
}

/** The lines of a worker file that let a function answer first, and the prompt a share of its answers, too. */
export function linesOf(reference: string, check = 0.05): readonly string[] {
  return [`code: ${reference}`, ...(check > 0 ? [`check: ${check}`] : [])];
}

export interface Answerer {
  /** For `code` and `check`. Empty: the prompt alone. */
  readonly lines: readonly string[];
  /** A new file with the function. */
  readonly draft?: { readonly file: string; readonly text: string } | undefined;
}

/**
 * Writes `code` and `check` of the step's worker as these lines, and leaves the rest of its file byte for byte as it is. `confirm` is asked
 * before. Rejects with a `CandidateError` if the file changed meanwhile, or cannot be changed by line; nothing is written then.
 */
export async function writeAnswerer(
  { root, file, host }: StepOfProgram,
  { lines, draft }: Answerer,
  confirm: () => Promise<boolean> = async () => true,
): Promise<"written" | "unchanged" | "declined"> {
  const path = join(root, file);
  const before = await host.files.readText(path);
  const after = withAnswerer(before, lines);
  if (after === before) return "unchanged";
  if (!(await confirm())) return "declined";
  await writeNewFiles(root, new Map(draft ? [[draft.file, draft.text]] : []), async () => {
    if ((await host.files.readText(path)) !== before) throw new CandidateError(`${file} has changed meanwhile: begin again`);
    await host.files.writeAtomically(path, after);
  });
  return "written";
}

/**
 * Says why the figures do not allow a function to answer a step. Undefined if they do. `floor` is the report of today's prompt, where it
 * was asked again; without it the function is held to what was recorded. `atLeast` is the lowest acceptable lower end of the interval of an
 * agreement.
 */
function findObstacle(
  { agreement, leftOut, judgement }: CandidateReport,
  { atLeast, floor }: { readonly atLeast: number; readonly floor: CandidateReport | undefined },
): string | undefined {
  const { count, lower } = agreement;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const bar = `and ${percent(atLeast)} are asked for (\`--at-least\`, in code \`atLeast\`)`;
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
function withAnswerer(text: string, lines: readonly string[]): string {
  try {
    const bare = removeSettings(text, ["code", "check"]);
    return lines.length > 0 ? addSettings(bare, lines) : bare;
  } catch (thrown) {
    if (!(thrown instanceof UneditableWorker)) throw thrown;
    throw new CandidateError(`the worker file cannot be changed by line: ${thrown.message}`);
  }
}
