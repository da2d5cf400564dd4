import type { StepOfProgram } from "../../../boundary/candidate.ts";
import { judgeFunction, linesOf, writeAnswerer } from "../../../boundary/stabilise.ts";
import type { CaseChoice } from "../../../boundary/step-cases.ts";
import { renderComparison } from "../../../ui/records/render-comparison.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { reserveStdout, writeResult, writeStderr } from "../../output.ts";
import { guardProcess } from "../../process/guard-process.ts";
import { listenForSignals } from "../../process/signals.ts";
import { useProxies } from "../../process/use-proxies.ts";
import { asUsage, findStep } from "../../records/find-step.ts";
import { readStepCases } from "../../records/step-cases.ts";
import { reportFailure } from "../../run/report-run.ts";
import { askYesOrNo } from "../../terminal/ask-yes-or-no.ts";
import { progressBar } from "../../terminal/progress-bar.ts";

export interface StabiliseFlags extends CaseChoice {
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
    return await writeSettings(program, linesOf(reference, flags.check), flags);
  } catch (thrown) {
    return await reportFailure(signal.aborted ? signal.reason : asUsage(thrown), { json: false, verbose: 0 });
  }
}

interface Compared extends StabiliseFlags {
  readonly with: string;
  readonly target: string | undefined;
  readonly signal: AbortSignal;
}

/** Compares the function with the recorded answers and prints the figures. Undefined if they allow the function to answer. */
async function findProblem(program: StepOfProgram, flags: Compared): Promise<string | undefined> {
  const { with: reference, again = false, usd, signal, target, atLeast = 0.9 } = flags;
  const { host, step } = program;
  const found = await readStepCases({ host, step, target }, flags);
  const bar = progressBar(`comparing ${step}`);
  try {
    const request = { ...program, cases: found, reference, again, atLeast, usd, signal, onProgress: bar.update };
    const { report, obstacle } = await judgeFunction(request);
    bar.end();
    if (report) await writeResult(renderComparison(report, { show: 5 }));
    return obstacle;
  } finally {
    bar.end();
  }
}

/** Writes `code` and `check` of the worker after a question, unless --yes. */
async function writeSettings(program: StepOfProgram, lines: readonly string[], { yes = false }: StabiliseFlags): Promise<number> {
  const { file, step } = program;
  const change = lines.length > 0 ? lines.map((line) => `  + ${line}\n`).join("") : "  - code, check\n";
  const question = { render: () => `${file}\n${change}Write this?`, otherwise: "--yes writes it" };
  const how = await writeAnswerer(program, lines, async () => yes || (await askYesOrNo(question)));
  if (how === "declined") return exitCodes.failed;
  const who = lines.length > 0 ? "code answers first" : "its prompt answers";
  writeStderr(how === "written" ? `llm-do: ${step}: ${who}; written into ${file}\n` : `llm-do: ${file} stays as it is\n`);
  return exitCodes.done;
}
