import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseCandidate } from "../../../boundary/candidate.ts";
import type { Case } from "../../../boundary/case-file.ts";
import { type CompareStepReport, compareStep } from "../../../boundary/compare-step.ts";
import type { CaseChoice, StepCases } from "../../../boundary/step-cases.ts";
import { toFigures } from "../../../boundary/step-figures.ts";
import type { CasesRequest } from "../../../boundary/steps.ts";
import { renderComparison } from "../../../ui/records/render-comparison.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { reserveStdout, writeResult, writeStderr } from "../../output.ts";
import { guardProcess } from "../../process/guard-process.ts";
import { listenForSignals } from "../../process/signals.ts";
import { useProxies } from "../../process/use-proxies.ts";
import { createNewFile } from "../../programs/new-file.ts";
import { copyCaseFiles } from "../../records/copy-case-files.ts";
import { asUsage, findStep } from "../../records/find-step.ts";
import { readStepCases } from "../../records/step-cases.ts";
import { reportFailure } from "../../run/report-run.ts";
import { progressBar } from "../../terminal/progress-bar.ts";

type ComparisonOptions = "again" | "judge" | "within" | "parallel" | "usd" | "liveReads" | "model" | "trust";

export interface CompareFlags extends CaseChoice, Pick<CasesRequest, ComparisonOptions> {
  readonly with?: readonly string[];
  readonly show?: number;
  readonly out?: string;
  readonly atLeast?: number;
  readonly json?: boolean;
}

/** `llm-do compare STEP [TARGET]`: 1 where the lower end of a candidate's interval misses --at-least. */
export async function compareCommand(step: string, target: string | undefined, flags: CompareFlags): Promise<number> {
  const { with: given = [], again = false, json = false } = flags;
  if (given.length === 0 && !again)
    throw new UsageError("name a candidate (--with tools.ts:NAME), or ask today's prompt --again");
  if (flags.out !== undefined) requireNew(flags.out);
  const candidates = given.map((name) => ({ name, source: readCandidate(name) }));
  using signals = listenForSignals();
  const { signal } = signals.controller;
  using _guard = guardProcess(signals.controller, {});
  reserveStdout();
  const bar = progressBar(`comparing ${step}`);
  try {
    await useProxies(process.env, (message) => writeStderr(`llm-do: ${message}\n`));
    const program = await findStep(step, target, { ...flags, signals });
    const found = await readStepCases({ host: program.host, step, target }, flags);
    if (found.count === 0) throw new UsageError(`no recorded call of \`${step}\` can be compared: llm-do calls ${step} --all`);
    await using review = flags.out === undefined ? undefined : await openReview(flags.out, found);
    const report = await compareStep({
      ...{ ...flags, ...program, cases: found, candidates, again, signal, onProgress: bar.update },
      ...(review ? { onDisagreement: review.add } : {}),
    });
    bar.end();
    await writeResult(json ? `${JSON.stringify(toFigures(report))}\n` : renderComparison(report, { show: flags.show ?? 0 }));
    await review?.finish();
    return isEnough(report, flags.atLeast) ? exitCodes.done : exitCodes.failed;
  } catch (thrown) {
    bar.end();
    return await reportFailure(signal.aborted ? signal.reason : asUsage(thrown), { json, verbose: 0 });
  }
}

function readCandidate(text: string) {
  try {
    return parseCandidate(text);
  } catch (thrown) {
    throw new UsageError(`--with ${(thrown as Error).message}`);
  }
}

/** The prompt is held to it where it was asked alone. */
function isEnough({ candidates }: CompareStepReport, atLeast: number | undefined): boolean {
  const judged = candidates.filter(({ judgement }) => judgement !== undefined);
  const held = judged.length > 0 ? judged : candidates;
  return atLeast === undefined || held.every(({ agreement }) => agreement.lower >= atLeast);
}

/** Said before anything is paid for. */
function requireNew(path: string): void {
  if (!path.endsWith(".jsonl")) throw new UsageError(`--out ${path}: a case file ends in .jsonl`);
  if (existsSync(path)) throw new UsageError(`--out ${path}: there is such a file`);
}

/** A case file of what a candidate disagrees about, with the files of the cases beside it. */
async function openReview(path: string, { readFile }: StepCases) {
  const file = await createNewFile(path);
  let count = 0;
  return {
    add: async (one: Case) => {
      await copyCaseFiles(one.files, `${resolve(path)}.files`, (sha256) => readFile(one, sha256));
      await file.write(`${JSON.stringify(one)}\n`);
      count++;
    },
    finish: async () => {
      await file.finish();
      writeStderr(`llm-do: ${count} ${count === 1 ? "case" : "cases"} to review in ${path}\n`);
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}
