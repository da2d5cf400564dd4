import { join } from "node:path";
import type { Compiled } from "../compile/compile.ts";
import { CompileError, type NeedOfTrust, UntrustedProgram } from "../compile/compile-error.ts";
import type { Host } from "../host/host.ts";
import type { TestCaseSyntax } from "../language/test-shape.ts";
import { compile } from "../llm-do.ts";
import type { Provider } from "../models/provider.ts";
import { noUsage } from "../protocol/usage.ts";
import { errorMessage } from "../util/error-message.ts";
import { Semaphore } from "../util/semaphore.ts";
import { isWithin } from "../util/within.ts";
import { type CaseMode, type CaseRequest, type CaseRun, runCase } from "./run-case.ts";
import { TestBudget } from "./test-budget.ts";
import { type CaseReport, reportCase, type TestReport } from "./test-report.ts";
import { findFilesOutside, NoTests, readTestSuites, type TestSuite } from "./test-suite.ts";

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
  /** Code of the programs and of scripts may run. Default false. */
  readonly trust?: boolean;
  readonly providers?: readonly Provider[];
  readonly signal?: AbortSignal;
}

export interface TestRequest extends TestOptions {
  /** A folder with all below it, a test file, or a worker file with one beside it. */
  readonly target: string;
  readonly host: Host;
  /** Asked once for each program that needs trust, where `trust` is not set. Rejects without it. Default: rejects. */
  readonly confirm?: (compiled: Compiled) => Promise<unknown>;
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
  const shared = { slots, budget: new TestBudget(budget, parallel) };
  const tests: OpenTest[] = [];
  for (const suite of selected) {
    const program = await openTested(suite, request);
    for (const testCase of suite.cases) {
      const open = { request, suite, testCase, ...program, ...shared };
      tests.push({ file: suite.file, name: testCase.name.value, run: () => runOften(open) });
    }
  }
  return tests;
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

type TestedProgram = Pick<CaseRequest, "root" | "outside">;

/** Compiles the program, and sees to it that it is trusted as far as it needs to be. */
async function openTested(suite: TestSuite, request: TestRequest): Promise<TestedProgram> {
  const { host, providers = [], trust = false, confirm } = request;
  const variables = Object.assign({}, ...suite.cases.map(({ env = {} }) => env));
  const environment = { ...host.environment, ...variables };
  const compiled = await compile({ target: suite.target, host: { ...host, environment }, providers });
  if (compiled.diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(compiled.diagnostics);
  const { outline } = compiled;
  if (!outline) throw new Error("invariant: a program without errors has an outline");
  const { root, entry, workers } = outline;
  const beyond = await findFilesOutside(host, suite, root);
  if (beyond.length > 0) throw new CompileError(beyond);
  const scopes = [...workers, ...(entry.kind === "code" ? [entry] : [])].flatMap((one) => one.scopes);
  const tested = { root, outside: scopes.filter(({ outside }) => outside).map(({ name }) => name) };
  const needing = withScripts(compiled, { root, scripts: codeScripts(suite, request) });
  if (trust || !needing.untrusted || !needing.reach) return tested;
  if (!confirm) throw new UntrustedProgram(needing.untrusted, needing.reach);
  await confirm(needing);
  return tested;
}

/** Scripts in TypeScript and JavaScript that are going to be imported. */
function codeScripts(suite: TestSuite, request: TestRequest): readonly string[] {
  const played = suite.cases.filter((one) => modeOf(one, request) === "script");
  const named = played.flatMap(({ script, expect }) => [script, expect?.judge?.script]);
  const paths = named.flatMap((one) => (one && /\.[cm]?[jt]s$/.test(one.value) ? [join(suite.folder, one.value)] : []));
  return [...new Set(paths)];
}

/** A program that needs trust for the scripts of its tests, too. */
function withScripts(
  compiled: Compiled,
  { root, scripts }: { readonly root: string; readonly scripts: readonly string[] },
): Compiled {
  const { untrusted, reach, trust } = compiled;
  if (scripts.length === 0 || !reach) return compiled;
  const names = scripts.map((path) => (isWithin(path, root) ? path.slice(root.length + 1) : path));
  const need: NeedOfTrust = {
    root,
    files: [...(untrusted?.files ?? []), ...scripts],
    addresses: untrusted?.addresses ?? [],
    reasons: [...(untrusted?.reasons ?? []), `runs code in tests: ${names.join(", ")}`],
  };
  const more = { ...reach, code: [...new Set([...reach.code, ...names])] };
  const goOn = async () => {
    const whole = trust ? await trust() : compiled;
    return {
      ...whole,
      ...(whole.reach ? { reach: { ...whole.reach, code: [...new Set([...whole.reach.code, ...names])] } } : {}),
    };
  };
  return { ...compiled, untrusted: need, reach: more, trust: goOn };
}

/** Undefined for a case that does not run this time. */
function modeOf({ script, recording }: TestCaseSyntax, { live, record }: TestOptions): CaseMode | undefined {
  if (record) return recording ? "record" : undefined;
  if (live) return "live";
  return recording ? "recording" : script ? "script" : undefined;
}

interface OpenCase extends TestedProgram {
  readonly request: TestRequest;
  readonly suite: TestSuite;
  readonly testCase: TestCaseSyntax;
  readonly slots: Semaphore;
  readonly budget: TestBudget;
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
async function runInSlot({ request, slots, budget, ...open }: OpenCase, mode: CaseMode): Promise<CaseRun | undefined> {
  const { host, providers = [], model, signal } = request;
  const leave = await slots.take(signal);
  const share = budget.take();
  if (share === "spent") {
    leave();
    return undefined;
  }
  try {
    const run = await runCase({ ...open, mode, host, providers, model, usd: share, signal });
    budget.settle(share, run.usage.usd);
    return run;
  } catch (thrown) {
    signal?.throwIfAborted();
    budget.settle(share, share);
    return failedRun(errorMessage(thrown));
  } finally {
    leave();
  }
}

function failedRun(message: string): CaseRun {
  return { failures: [{ expectation: "run", message }], turns: 0, milliseconds: 0, usage: noUsage };
}
