import { dirname, resolve } from "node:path";
import { CompileError, UntrustedProgram } from "../compile/compile-error.ts";
import { compile } from "../front/llm-do.ts";
import { defaultHost } from "../front/open-program.ts";
import { openStore, referenceTable } from "../journal/stores/find-store.ts";
import type { ProgramOfRun } from "../journal/stores/store.ts";
import {
  checkOptions,
  flagOption,
  functionOption,
  type OptionForm,
  type OptionTable,
  objectOption,
  oneOf,
  textOption,
  textsOption,
} from "../util/check-options.ts";
import { readCalls } from "./calls/read-calls.ts";
import type { RecordedCall } from "./calls/recorded-calls.ts";
import { parseCandidate } from "./candidate.ts";
import { type CompareStepRequest, compareStep } from "./compare-step.ts";
import { type DraftJudgement, draftFunction } from "./drafts/draft-function.ts";
import { requireWorker } from "./find-worker.ts";
import { programInStore } from "./program-in-store.ts";
import { planSoftening, writeSoftening } from "./soften-tool.ts";
import { judgeFunction, linesOf, readFunction, writeAnswerer } from "./stabilise.ts";
import { readStepCases } from "./step-cases.ts";
import { type StepFigures, toFigures } from "./step-figures.ts";
import type {
  CallsRequest,
  CasesRequest,
  ComparisonRequest,
  SoftenReport,
  SoftenRequest,
  StabiliseReport,
  StabiliseRequest,
  StepRequest,
} from "./steps.ts";

/** The work of `calls`. */
export async function* callsOfStep(request: CallsRequest): AsyncGenerator<RecordedCall, void> {
  checkOptions(request, { path: "calls", table: callsTable, required: ["step"] });
  const { step: worker, target: _, host: __, store: ___, ...query } = request;
  const { store, program } = await openStep(request);
  yield* readCalls(store, { ...query, worker, program: await program() });
}

/** The work of `compare`. */
export async function compareFigures(request: ComparisonRequest): Promise<StepFigures> {
  checkOptions(request, { path: "compare", table: comparisonTable, required: ["step"] });
  const { with: names = [], again = false } = request;
  if (names.length === 0 && !again) throw new TypeError("`compare.with` names no candidate, and `compare.again` is not set");
  const candidates = names.map((name) => ({ name, source: parseCandidate(name) }));
  const { shared } = await openCases(request);
  return toFigures(await compareStep({ ...shared, candidates }));
}

/** The work of `stabilise`. */
export async function stabiliseStep(request: StabiliseRequest): Promise<StabiliseReport> {
  checkOptions(request, { path: "stabilise", table: stabiliseTable, required: ["step"] });
  const { with: reference, draft: isDraft = false, rounds, atLeast = 0.9, check, confirm } = request;
  if ((reference === undefined) !== isDraft) throw new TypeError("`stabilise` takes either `with`, or `draft: true`");
  const { shared } = await openCases(request);
  const how = { ...shared, atLeast, ...(rounds === undefined ? {} : { rounds }) };
  const { report, obstacle, draft }: DraftJudgement =
    reference === undefined ? await draftFunction(how) : await judgeFunction({ ...how, candidate: readFunction(reference) });
  const figures = report && toFigures(report);
  const shown = { ...(figures ? { figures } : {}), ...(draft ? { draft } : {}) };
  if (obstacle !== undefined || !figures) return { ...shown, obstacle: obstacle ?? "", file: "declined" };
  const isWanted = async () => (await confirm?.(figures, draft)) ?? true;
  const lines = linesOf(draft?.reference ?? reference ?? "", check);
  return { ...shown, file: await writeAnswerer(shared, { lines, draft }, isWanted) };
}

/** The work of `soften`. */
export async function softenInProgram(request: SoftenRequest): Promise<SoftenReport> {
  checkOptions(request, { path: "soften", table: softenTable, required: ["tool"] });
  const { tool, target = ".", providers = [], trust = false, confirm } = request;
  const { host, store, program: recordsOf } = await openStep(request);
  const compiled = await compile({ target, host, providers, trust });
  const { outline, program, untrusted, reach, diagnostics } = compiled;
  if (diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(diagnostics);
  if (untrusted && reach) throw new UntrustedProgram(untrusted, reach);
  if (!outline || !program) throw new Error("invariant: a trusted program compiles without errors and is none");
  const path = resolve(host.workingDirectory, target);
  const of = { outline, program, host, store, recordsOf: await recordsOf(), compiled: { target: path, providers } };
  const plan = await planSoftening(tool, of);
  const { worker, files, changes } = plan;
  const report = { worker, files: Object.fromEntries(files), changes };
  if ((await confirm?.(report)) === false) return { ...report, file: "declined" };
  await writeSoftening(plan, host);
  return { ...report, file: "written" };
}

async function openStep({ target = ".", store: given, host: own }: Omit<StepRequest, "step">) {
  const host = own ?? (await defaultHost());
  const store = openStore(host, given);
  const folderOf = async (): Promise<string> => {
    const { outline } = await compile({ target, host });
    const path = resolve(host.workingDirectory, target);
    return outline?.root ?? (path.endsWith(".worker") ? dirname(path) : path);
  };
  const program = async (): Promise<ProgramOfRun> => programInStore(host, store, await folderOf());
  return { host, store, program };
}

/** The step, its cases, and how candidates are asked. */
async function openCases(request: CasesRequest): Promise<{ readonly shared: Omit<CompareStepRequest, "candidates"> }> {
  const { step, target = ".", host: _, store: __, cases, last, limit, ...options } = request;
  const { host, store, program } = await openStep(request);
  const { model, providers = [], trust = false } = request;
  const chosen = { target, host, providers, trust, ...(model === undefined ? {} : { model }) };
  const isFile = target.endsWith(".worker");
  const { outline, worker } = await requireWorker(step, {
    workingDirectory: host.workingDirectory,
    compile: (entry) => compile(entry === undefined || isFile ? chosen : { ...chosen, entry }),
  });
  const choice = {
    ...(cases === undefined ? {} : { cases }),
    ...(last === undefined ? {} : { last }),
    ...(limit === undefined ? {} : { limit }),
  };
  const found = await readStepCases({ host, step, store, program }, choice);
  const path = resolve(host.workingDirectory, target);
  return { shared: { ...options, cases: found, step, root: outline.root, target: path, file: `${worker.id}.worker`, host } };
}

const countOption: OptionForm = {
  wanted: "a whole number, 1 or more",
  fits: (value) => Number.isSafeInteger(value) && Number(value) > 0,
};
const shareOption: OptionForm = {
  wanted: "a number from 0 to 1",
  fits: (value) => typeof value === "number" && value >= 0 && value <= 1,
};
const numberOption: OptionForm = {
  wanted: "a number, more than 0",
  fits: (value) => typeof value === "number" && value > 0,
};

const stepTable: OptionTable<StepRequest> = {
  ...{ step: textOption, target: textOption, store: referenceTable.store, host: objectOption },
};

const callsTable: OptionTable<CallsRequest> = {
  ...stepTable,
  ...{ run: textOption, since: numberOption, last: countOption, model: textOption, all: flagOption },
  outcome: oneOf("done", "failed", "cut"),
  by: oneOf("code", "prompt"),
  ...{ onUnreadable: functionOption, signal: objectOption },
};

const casesTable: OptionTable<CasesRequest> = {
  ...stepTable,
  ...{ cases: textOption, last: countOption, limit: countOption, again: flagOption, judge: textOption, within: objectOption },
  ...{ parallel: countOption, usd: numberOption, liveReads: flagOption, model: textOption, trust: flagOption },
  providers: { wanted: "a list of providers", fits: Array.isArray },
  ...{ prices: objectOption, signal: objectOption, onProgress: functionOption },
};

const softenTable: OptionTable<SoftenRequest> = {
  ...{ tool: textOption, target: textOption, store: referenceTable.store, host: objectOption, trust: flagOption },
  providers: casesTable.providers,
  confirm: functionOption,
};

const comparisonTable: OptionTable<ComparisonRequest> = { ...casesTable, with: textsOption };

const stabiliseTable: OptionTable<StabiliseRequest> = {
  ...casesTable,
  ...{ draft: flagOption, rounds: countOption },
  ...{ with: textOption, atLeast: shareOption, check: shareOption, confirm: functionOption },
};
