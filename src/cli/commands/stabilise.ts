import { join } from "node:path";
import { CandidateError, parseCandidate, type StepOfProgram } from "../../boundary/candidate.ts";
import { compareStep, NothingToCompare } from "../../boundary/compare-step.ts";
import { fewestCalls, findObstacle, withAnswerer } from "../../boundary/stabilise.ts";
import { renderComparison } from "../../ui/render-comparison.ts";
import { askYesOrNo } from "../ask-yes-or-no.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { findStep } from "../find-step.ts";
import { guardProcess } from "../guard-process.ts";
import { reserveStdout, writeResult, writeStderr } from "../output.ts";
import { progressBar } from "../progress-bar.ts";
import { reportFailure } from "../report-run.ts";
import { listenForSignals } from "../signals.ts";
import { type CaseFlags, readStepCases } from "../step-cases.ts";
import { useProxies } from "../use-proxies.ts";

export interface StabiliseFlags extends CaseFlags {
  /** The function: `tools.ts:NAME`. */
  readonly with?: string;
  readonly back?: boolean;
  readonly again?: boolean;
  readonly usd?: number;
  readonly model?: string;
  readonly trust?: boolean;
  readonly atLeast?: number;
  /** The share of the code's answers that the prompt answers, too. */
  readonly check?: number;
  readonly yes?: boolean;
}

/** `llm-do stabilise STEP [TARGET]`: lets code answer a worker first where the figures allow it, or the prompt alone again (--back). */
export async function stabiliseCommand(step: string, target: string | undefined, flags: StabiliseFlags): Promise<number> {
  const { with: reference, back = false } = flags;
  if ((reference === undefined) === !back)
    throw new UsageError("name the function (--with tools.ts:NAME), or go --back to the prompt");
  using signals = listenForSignals();
  using _guard = guardProcess(signals.controller, {});
  const { signal } = signals.controller;
  reserveStdout();
  try {
    const program = await findStep(step, target, { ...flags, signals });
    if (reference === undefined) return await writeSettings(program, [], flags);
    await useProxies(process.env, (message) => writeStderr(`llm-do: ${message}\n`));
    const problem = await findProblem(program, { ...flags, with: reference, target, signal });
    if (problem !== undefined) {
      writeStderr(`llm-do: nothing is written: ${problem}\n`);
      return exitCodes.failed;
    }
    const { check = 0.05 } = flags;
    return await writeSettings(program, [`code: ${reference}`, ...(check > 0 ? [`check: ${check}`] : [])], flags);
  } catch (thrown) {
    const isUsage = [NothingToCompare, CandidateError].some((type) => thrown instanceof type);
    const shown = isUsage ? new UsageError((thrown as Error).message) : thrown;
    return await reportFailure(signal.aborted ? signal.reason : shown, { json: false, verbose: 0 });
  }
}

interface Compared extends StabiliseFlags {
  readonly with: string;
  readonly target: string | undefined;
  readonly signal: AbortSignal;
}

/** Compares the function with the recorded answers and prints the figures. Undefined where they allow the function to answer. */
async function findProblem(program: StepOfProgram, flags: Compared): Promise<string | undefined> {
  const { with: name, again = false, usd, signal, target, atLeast = 0.9 } = flags;
  const source = readFunction(name);
  const { host, step } = program;
  const found = await readStepCases({ host, step, target }, flags);
  if (found.cases.length < fewestCalls) return `${found.cases.length} recorded calls tell nothing; ${fewestCalls} are the fewest`;
  const bar = progressBar(`comparing ${step}`);
  try {
    const request = { ...program, ...found, candidates: [{ name, source }], again, usd, signal, onProgress: bar.update };
    const report = await compareStep(request);
    bar.end();
    await writeResult(renderComparison(report, { show: 5 }));
    const candidate = report.candidates.at(-1);
    return candidate && findObstacle(candidate, { again, atLeast });
  } finally {
    bar.end();
  }
}

function readFunction(text: string) {
  const source = /\.[cm]?[jt]s:/.test(text) ? parseCandidate(text) : undefined;
  if (source?.type === "code") return source;
  throw new UsageError(`--with ${text}: a function is written tools.ts:NAME`);
}

/** Writes `code` and `check` of the worker as these lines, and leaves the rest of its text byte for byte as it is. */
async function writeSettings(program: StepOfProgram, lines: readonly string[], { yes = false }: StabiliseFlags): Promise<number> {
  const { root, file, host, step } = program;
  const path = join(root, file);
  const before = await host.files.readText(path);
  const after = withAnswerer(before, lines);
  if (after === before) {
    writeStderr(`llm-do: ${file} stays as it is\n`);
    return exitCodes.done;
  }
  const change = lines.length > 0 ? lines.map((line) => `  + ${line}\n`).join("") : "  - code, check\n";
  const question = { render: () => `${file}\n${change}Write this?`, otherwise: "--yes writes it" };
  if (!yes && !(await askYesOrNo(question))) return exitCodes.failed;
  if ((await host.files.readText(path)) !== before) throw new UsageError(`${file} has changed meanwhile: begin again`);
  await host.files.writeAtomically(path, after);
  const who = lines.length > 0 ? "code answers first" : "its prompt answers";
  writeStderr(`llm-do: ${step}: ${who}; written into ${file}\n`);
  return exitCodes.done;
}
