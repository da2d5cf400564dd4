import { dirname, resolve } from "node:path";
import type { Compiled } from "../compile/compile.ts";
import { CompileError, UntrustedProgram } from "../compile/compile-error.ts";
import type { Host } from "../host/host.ts";
import type { TestCaseSyntax } from "../language/shapes/test-shape.ts";
import type { Provider } from "../models/provider.ts";
import { noUsage } from "../protocol/usage.ts";
import { Semaphore } from "../util/async/semaphore.ts";
import { SharedBudget } from "../util/shared-budget.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { isWithin } from "../util/within.ts";
import { type CompiledPart, describePart, needOfTests, type TestedProgram } from "./case-trust.ts";
import { compileTested } from "./check-tests.ts";
import { type CaseRequest, type CaseRun, runCase } from "./run-case.ts";
import { type CaseMode, ScratchCase } from "./scratch-case.ts";
import { type CaseReport, reportCase, type TestReport } from "./test-report.ts";
import { diagnosePaths, NoTests, readTestSuites, type TestSuite } from "./test-suite.ts";

export interface TestOptions {
  /** Only cases whose file or name contains this text. */
  readonly filter?: string;
  /** Asks models in place of scripts and recordings. Default false. */
  readonly live?: boolean;
  /** Asks models, and writes the recordings of the cases that have one. Default false. */
  readonly record?: boolean;
  /** Runs of each case. Default: 1; with `live`, the case's `runs`. */
  readonly runs?: number;
  /** The most dollars of all runs together; the prices of all models have to be known. Default: no limit. */
  readonly budget?: number;
  /** The model of workers that name none, with `live` and `record`. */
  readonly model?: string;
  /** The most runs at the same time. Default 4. */
  readonly parallel?: number;
  /** Code of the programs and of scripts may run, but for that of programs in a program's folder. Default false. */
  readonly trust?: boolean;
  /** Keeps the scratch copies, with the records of their runs beside them. Default false. */
  readonly keep?: boolean;
  readonly providers?: readonly Provider[];
  readonly signal?: AbortSignal;
}

export interface TestRequest extends TestOptions {
  /** A folder with all below it, a test file, or a worker file with one beside it. */
  readonly target: string;
  readonly host: Host;
  /** Gets each program that needs trust and has none by `trust`, before code of any of them runs. Rejects without it. Default: rejects. */
  readonly confirm?: (needing: readonly [Compiled, ...Compiled[]]) => Promise<unknown>;
}

/** A case that can run. */
export interface OpenTest {
  readonly file: string;
  readonly name: string;
  readonly run: () => Promise<CaseReport>;
}

/**
 * Reads the cases of a target and compiles their programs. Rejects with `NoTests`, with a `CompileError` that has the mistakes of the
 * test files or of a program, and with an `UntrustedProgram`.
 */
export async function openTests(request: TestRequest): Promise<readonly OpenTest[]> {
  const { target, filter = "", host, budget, parallel = 4 } = request;
  const suites = await readTestSuites(host, target);
  const fits = ({ file }: TestSuite, { name }: TestCaseSyntax) => file.includes(filter) || name.value.includes(filter);
  const selected = suites
    .map((suite) => ({ ...suite, cases: suite.cases.filter((one) => fits(suite, one)) }))
    .filter(({ cases }) => cases.length > 0);
  if (selected.length === 0) throw new NoTests(`no case of ${target} has \`${filter}\` in its file or name`);
  const slots = new Semaphore(parallel);
  const shared = { slots, budget: new SharedBudget(budget, parallel) };
  const suitesIn = Map.groupBy(selected, ({ folder }) => folder);
  const tests = new Map<TestSuite, readonly OpenTest[]>();
  const needing: Compiled[] = [];
  for (const [folder, inFolder] of suitesIn) {
    const programs = await Promise.all(inFolder.map((suite) => openTested(suite, request)));
    const { permit, need } = await judgeTests(folder, programs, request);
    if (need) needing.push(need);
    for (const { suite, root } of programs) {
      const open = (testCase: TestCaseSyntax): OpenTest => {
        const run = () => runOften({ request, suite, root, testCase, permit, ...shared });
        return { file: suite.file, name: testCase.name.value, run };
      };
      tests.set(suite, suite.cases.map(open));
    }
  }
  const [first, ...others] = needing;
  if (first) await (request.confirm ?? rejectUntrusted)([first, ...others]);
  return selected.flatMap((suite) => tests.get(suite) ?? []);
}

/** Names all programs in one error. */
function rejectUntrusted(needing: readonly Compiled[]): never {
  const needs = needing.flatMap(({ untrusted }) => untrusted ?? []);
  const [first, ...others] = needs;
  const reach = needing[0]?.reach;
  if (!first || !reach) throw new Error("invariant: nothing needs trust");
  const files = needs.flatMap((need) => need.files);
  const addresses = needs.flatMap((need) => need.addresses);
  const reasons = [...first.reasons, ...others.flatMap(({ root, reasons }) => reasons.map((reason) => `${reason}, in ${root}`))];
  throw new UntrustedProgram({ ...first, files, addresses, reasons }, reach);
}

/** Runs all cases of a target. `onCase` gets the reports in the order of the files. Rejects as `openTests` does, and on abort. */
export async function runTests(request: TestRequest, onCase?: (report: CaseReport) => void): Promise<TestReport> {
  const started = request.host.clock.monotonic();
  const tests = await openTests(request);
  const pending = tests.map(({ run }) => run());
  // Every copy is removed before this returns, on abort, too. It also avoids an unhandled rejection.
  const settled = Promise.allSettled(pending);
  const cases: CaseReport[] = [];
  try {
    for (const one of pending) {
      const report = await one;
      cases.push(report);
      onCase?.(report);
    }
  } finally {
    await settled;
  }
  const passed = cases.every(({ outcome }) => outcome !== "failed");
  return { passed, cases, milliseconds: request.host.clock.monotonic() - started };
}

interface TestedSuite extends Pick<TestedProgram, "root" | "compiled"> {
  readonly suite: TestSuite;
}

/** Compiles the program as it lies there. Rejects with a `CompileError` for its mistakes, and for files beyond its folder. */
async function openTested(suite: TestSuite, { host, providers = [] }: TestRequest): Promise<TestedSuite> {
  const compiled = await compileTested(suite, host, providers);
  if (compiled.diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(compiled.diagnostics);
  if (!compiled.outline) throw new Error("invariant: a program without errors has an outline");
  const { root } = compiled.outline;
  const mistakes = await diagnosePaths(host, suite, compiled.outline);
  if (mistakes.length > 0) throw new CompileError(mistakes);
  return { suite, root, compiled };
}

type Permit = (open: Pick<OpenCase, "suite" | "root" | "testCase">) => CaseRequest["permit"];

interface JudgedTests {
  readonly permit: Permit;
  /** Present if the programs, or the cases of them, need trust that `trust` does not give. */
  readonly need?: Compiled | undefined;
}

/** Finds what the programs of a folder's tests, and each case of them, need to be trusted for. */
async function judgeTests(folder: string, suites: readonly TestedSuite[], request: TestRequest): Promise<JudgedTests> {
  const isGiven = request.trust === true && !(await liesInProgram(request, suites));
  if (isGiven) return { permit: () => async (scratch, part) => scratch.trust(part, await scratch.compile(part)) };
  const opened: ScratchCase[] = [];
  const asked = new Map<string, string>();
  try {
    const programs: TestedProgram[] = [];
    for (const tested of suites) programs.push({ ...tested, parts: await compileParts(tested, { request, opened, asked }) });
    return { permit: permitAsAsked(asked), need: needOfTests(folder, programs) };
  } finally {
    await Promise.all(opened.map((scratch) => scratch.remove()));
  }
}

const programNames = /\.worker$|^llm-do\.ya?ml$|^tools\.[cm]?[jt]s$|^workers$/;

/** Returns true for a program in the folder of another one below the target: files that somebody unpacked there, such as a skill. */
async function liesInProgram({ host, target }: TestRequest, suites: readonly TestedSuite[]): Promise<boolean> {
  const top = resolve(host.workingDirectory, target);
  for (const { root } of suites)
    for (let folder = root; folder !== top && isWithin(folder, top); ) {
      folder = dirname(folder);
      if ((await host.files.names(folder)).some((name) => programNames.test(name))) return true;
    }
  return false;
}

/** Permits parts of cases that still are as trust was asked for. */
function permitAsAsked(asked: ReadonlyMap<string, string>): Permit {
  return ({ suite, root, testCase }) =>
    async (scratch, part) => {
      const compiled = await scratch.compile(part);
      const now = await printPart({ scratch, compiled, env: testCase.env ?? {} }, root);
      if (now !== undefined && asked.get(`${part} ${compiledBy(suite, testCase)}`) !== now)
        throw new Error("its files have changed since it was asked for trust");
      return now === undefined ? compiled : scratch.trust(part, compiled);
    };
}

interface PrintedPart extends Pick<CompiledPart, "compiled" | "env"> {
  readonly scratch: ScratchCase;
}

/** Prints what a part can do, and the digests of the code that does it. Undefined if it has errors. */
async function printPart({ scratch, compiled, env }: PrintedPart, root: string): Promise<string | undefined> {
  const reach = describePart({ compiled, folder: scratch.folder, env }, root);
  return reach && JSON.stringify({ reach, code: [...(await scratch.digestCode())] });
}

interface Asking {
  readonly request: TestRequest;
  /** Copies to remove when the answer is there. */
  readonly opened: ScratchCase[];
  /** By part and what it is compiled by: what it can do. */
  readonly asked: Map<string, string>;
}

/** Compiles the cases of a suite as they will run, those that differ in nothing once. */
async function compileParts({ suite, root }: TestedSuite, { request, opened, asked }: Asking): Promise<readonly CompiledPart[]> {
  const { host, providers = [], model } = request;
  const parts: CompiledPart[] = [];
  for (const testCase of suite.cases) {
    const mode = modeOf(testCase, request);
    const key = compiledBy(suite, testCase);
    if (!mode || asked.has(`case ${key}`)) continue;
    const scratch = await ScratchCase.open({ suite, testCase, mode, root, host, providers, model });
    opened.push(scratch);
    const digests = await scratch.digestCode();
    const code = [...digests].filter(([path]) => scratch.brings(path));
    for (const part of scratch.parts) {
      const compiled = await scratch.compile(part);
      const env = testCase.env ?? {};
      const brought = compiled.untrusted ? code.map(([path, digest]) => `${path} (${digest})`) : [];
      const trust = () => scratch.trust(part, compiled);
      asked.set(`${part} ${key}`, (await printPart({ scratch, compiled, env }, root)) ?? "");
      parts.push({ name: testCase.name.value, folder: scratch.folder, env, brought, digests, compiled, trust });
    }
  }
  return parts;
}

/** All of a case that its compilation depends on. Scripts of data are files like others. */
function compiledBy({ target }: TestSuite, testCase: TestCaseSyntax): string {
  const { entry, set, env, files, scopes, without, model, recording, script, expect: { judge } = {} } = testCase;
  const code = [script, judge?.script].map((one) => (one && /\.[cm]?[jt]s$/.test(one.value) ? one.value : undefined));
  const whole = { target, entry, set, env, files, scopes, without, model, recording, judge: judge?.worker, code };
  return JSON.stringify(whole, (key, value) => (key === "span" && value?.source ? undefined : value));
}

/** Undefined for a case that does not run this time. */
function modeOf({ script, recording }: TestCaseSyntax, { live, record }: TestOptions): CaseMode | undefined {
  if (record) return recording ? "record" : undefined;
  if (live) return "live";
  return recording ? "recording" : script ? "script" : undefined;
}

interface OpenCase extends Pick<TestedProgram, "root"> {
  readonly permit: Permit;
  readonly request: TestRequest;
  readonly suite: TestSuite;
  readonly testCase: TestCaseSyntax;
  readonly slots: Semaphore;
  readonly budget: SharedBudget;
}

async function runOften(open: OpenCase): Promise<CaseReport> {
  const { request, suite, testCase } = open;
  const mode = modeOf(testCase, request);
  const named = { file: suite.file, name: testCase.name.value, required: testCase.pass_rate ?? 1 };
  if (!mode) {
    const reason = request.record ? "it has no recording" : "it has neither a script nor a recording: --live runs it";
    return { file: suite.file, name: testCase.name.value, outcome: "skipped", reason };
  }
  const wanted = request.runs ?? (mode === "live" ? testCase.runs : undefined) ?? 1;
  const runs = await Promise.all(Array.from({ length: mode === "record" ? 1 : wanted }, () => runInSlot(open, mode)));
  const made = runs.filter((run) => run !== undefined);
  return reportCase({ ...named, mode, runs: made, notRun: runs.length - made.length });
}

/** Returns undefined if the budget is spent. */
async function runInSlot({ request, slots, budget, permit, ...open }: OpenCase, mode: CaseMode): Promise<CaseRun | undefined> {
  const { host, providers = [], model, signal, keep = false } = request;
  const leave = await slots.take(signal);
  const share = budget.take();
  if (share === "spent") {
    leave();
    return undefined;
  }
  try {
    const run = await runCase({ ...open, permit: permit(open), mode, host, providers, model, usd: share, signal, keep });
    budget.settle(share, run.usage.usd);
    return run;
  } catch (thrown) {
    signal?.throwIfAborted();
    budget.settle(share, share);
    return { ...failedRun(errorMessage(thrown)), isMistake: true };
  } finally {
    leave();
  }
}

function failedRun(message: string): CaseRun {
  return { failures: [{ expectation: "run", message }], turns: 0, milliseconds: 0, usage: noUsage };
}
