import { join } from "node:path";
import { CandidateError, parseCandidate, type StepOfProgram } from "./candidate.ts";
import { type CompareStepReport, type CompareStepRequest, compareStep } from "./compare-step.ts";
import { fewestCalls, findObstacle, withAnswerer } from "./stabilise.ts";

export interface FunctionRequest extends Omit<CompareStepRequest, "candidates"> {
  /** The lowest acceptable lower end of the interval of an agreement. */
  readonly atLeast: number;
  /** `tools.ts:NAME`. */
  readonly reference: string;
}

export interface FunctionJudgement {
  /** Absent if too few calls are recorded. */
  readonly report?: CompareStepReport;
  /** Why the function may not answer; absent if it may. */
  readonly obstacle?: string;
}

/** Compares a function with what a step answered. Rejects as `compareStep` does, and with a `CandidateError` for what is no function. */
export async function judgeFunction({ reference: name, ...request }: FunctionRequest): Promise<FunctionJudgement> {
  const source = readFunction(name);
  const { count } = request.cases;
  if (count < fewestCalls) return { obstacle: `${count} recorded calls tell nothing; ${fewestCalls} are the fewest` };
  const report = await compareStep({ ...request, candidates: [{ name, source }] });
  const candidate = report.candidates.at(-1);
  const floor = request.again ? report.candidates[0] : undefined;
  const obstacle = candidate && findObstacle(candidate, { atLeast: request.atLeast, floor });
  return { report, ...(obstacle === undefined ? {} : { obstacle }) };
}

function readFunction(text: string) {
  const source = /\.[cm]?[jt]s:/.test(text) ? parseCandidate(text) : undefined;
  if (source?.type === "code") return source;
  throw new CandidateError(`${text}: a function is written tools.ts:NAME`);
}

/** The lines of a worker file that let a function answer first, and the prompt a share of its answers, too. */
export function linesOf(reference: string, check = 0.05): readonly string[] {
  return [`code: ${reference}`, ...(check > 0 ? [`check: ${check}`] : [])];
}

/**
 * Writes `code` and `check` of the step's worker as these lines, and leaves the rest of its file byte for byte as it is. `confirm` is asked
 * before. Rejects with a `CandidateError` if the file changed meanwhile, or cannot be changed by line.
 */
export async function writeAnswerer(
  { root, file, host }: StepOfProgram,
  lines: readonly string[],
  confirm: () => Promise<boolean> = async () => true,
): Promise<"written" | "unchanged" | "declined"> {
  const path = join(root, file);
  const before = await host.files.readText(path);
  const after = withAnswerer(before, lines);
  if (after === before) return "unchanged";
  if (!(await confirm())) return "declined";
  if ((await host.files.readText(path)) !== before) throw new CandidateError(`${file} has changed meanwhile: begin again`);
  await host.files.writeAtomically(path, after);
  return "written";
}
