import type { StepOfProgram } from "../../../boundary/candidate.ts";
import { type DraftJudgement, draftFunction } from "../../../boundary/drafts/draft-function.ts";
import { type Answerer, judgeFunction, linesOf, readFunction, writeAnswerer } from "../../../boundary/stabilise.ts";
import type { CaseChoice } from "../../../boundary/step-cases.ts";
import { renderComparison, renderDraft } from "../../../ui/records/render-comparison.ts";
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
  /** A model writes the function. */
  readonly draft?: boolean;
  /** The most drafts. */
  readonly rounds?: number;
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
  const { with: reference, draft = false, back = false } = flags;
  if ([reference !== undefined, draft, back].filter(Boolean).length !== 1)
    throw new UsageError("name the function (--with tools.ts:NAME), have one written (--draft), or go --back to the prompt");
  if (flags.rounds !== undefined && !draft) throw new UsageError("--rounds is for --draft");
  using signals = listenForSignals();
  using _guard = guardProcess(signals.controller, {});
  const { signal } = signals.controller;
  reserveStdout();
  try {
    const program = await findStep(step, target, { ...flags, signals });
    if (back) return await writeSettings(program, { lines: [] }, flags);
    await useProxies(process.env, (message) => writeStderr(`llm-do: ${message}\n`));
    const { obstacle, draft: drafted } = await judgeAndShow(program, { ...flags, target, signal });
    if (obstacle !== undefined) {
      writeStderr(`llm-do: nothing is written: ${obstacle}\n`);
      return exitCodes.failed;
    }
    const lines = linesOf(drafted?.reference ?? reference ?? "", flags.check);
    return await writeSettings(program, { lines, draft: drafted }, flags);
  } catch (thrown) {
    return await reportFailure(signal.aborted ? signal.reason : asUsage(thrown), { json: false, verbose: 0 });
  }
}

interface Compared extends StabiliseFlags {
  readonly target: string | undefined;
  readonly signal: AbortSignal;
}

/** Compares the function with the recorded answers, and prints the figures; a draft first. */
async function judgeAndShow(program: StepOfProgram, flags: Compared): Promise<DraftJudgement> {
  const { with: reference, again = false, usd, signal, target, atLeast = 0.9, rounds } = flags;
  const { host, step } = program;
  const found = await readStepCases({ host, step, target }, flags);
  const bar = progressBar(`comparing ${step}`);
  try {
    const request = { ...program, cases: found, again, atLeast, usd, signal, onProgress: bar.update };
    const judged: DraftJudgement =
      reference === undefined
        ? await draftFunction({ ...request, ...(rounds === undefined ? {} : { rounds }) })
        : await judgeFunction({ ...request, candidate: readFunction(reference) });
    bar.end();
    const { report, draft } = judged;
    if (draft) await writeResult(renderDraft(draft));
    if (report) await writeResult(renderComparison(report, { show: 5 }));
    return judged;
  } finally {
    bar.end();
  }
}

/** Writes `code` and `check` of the worker after a question, unless --yes. */
async function writeSettings(program: StepOfProgram, answerer: Answerer, { yes = false }: StabiliseFlags): Promise<number> {
  const { file, step } = program;
  const { lines, draft } = answerer;
  const change = lines.length > 0 ? lines.map((line) => `  + ${line}\n`).join("") : "  - code, check\n";
  const added = draft ? `+ ${draft.file}\n` : "";
  const question = { render: () => `${added}${file}\n${change}Write this?`, otherwise: "--yes writes it" };
  const how = await writeAnswerer(program, answerer, async () => yes || (await askYesOrNo(question)));
  if (how === "declined") return exitCodes.failed;
  const who = lines.length > 0 ? "code answers first" : "its prompt answers";
  writeStderr(how === "written" ? `llm-do: ${step}: ${who}; written into ${file}\n` : `llm-do: ${file} stays as it is\n`);
  if (how === "written" && lines.length > 0)
    writeStderr("llm-do: the program has code now: where its folder is not trusted, run it and its tests with --trust\n");
  return exitCodes.done;
}
