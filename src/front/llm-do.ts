import { type ApprovalPolicy, checkPolicy, checkPolicyOptions } from "../approval/policy.ts";
import { tightenPolicy } from "../approval/rules/tighten-policy.ts";
import { type Compiled, makerOf } from "../compile/compile.ts";
import { type AnswererOptions, createAnswerer } from "../effects/answerer.ts";
import type { ForkPoint } from "../effects/fork-point.ts";
import { forked } from "../effects/policies/forked.ts";
import { RequestChanged } from "../effects/policies/request-changed.ts";
import { JournalError, noJournal } from "../journal/journal.ts";
import { RunSecrets } from "../journal/run-secrets.ts";
import { findRecord, isReference } from "../journal/stores/find-store.ts";
import { createModelResolver } from "../models/create-model-resolver.ts";
import { createProviderEnvironment, scriptsOfTheUser } from "../models/login/provider-environment.ts";
import type { KeyForVariable } from "../models/login/stored-keys.ts";
import { checkPrices, createPriceLookup, createWindowLookup, toGivenPrices } from "../models/prices.ts";
import type { Program } from "../program/program.ts";
import type { Fact, ProgramOptions } from "../protocol/fact.ts";
import type { FirstRequest } from "../protocol/first-request.ts";
import type { JsonObject } from "../protocol/json.ts";
import { checkLimits } from "../runtime/bounds/check-limits.ts";
import type { RequestPace } from "../runtime/bounds/request-pace.ts";
import { requireIsolation } from "../runtime/bounds/require-isolation.ts";
import { warnOfPrices } from "../runtime/bounds/require-prices.ts";
import type { RunSetup } from "../runtime/config.ts";
import { checkHistory } from "../runtime/history/check-history.ts";
import { type CallJudge, createCallJudge } from "../runtime/judge-calls.ts";
import { type RehearsalSetup, rehearseEntry } from "../runtime/rehearse.ts";
import { buildEntryInput, checkEntryFiles, inputSchemaOf } from "../runtime/results/entry-input.ts";
import { readFiles, sizeOf } from "../runtime/results/read-files.ts";
import { type RunStart, runEntry, unattended } from "../runtime/run-entry.ts";
import { RunError } from "../runtime/run-error.ts";
import { type CreatedWorkerFile, createWorkerFile } from "../toolsets/workers/dynamic-workers.ts";
import type { WorkerSpec } from "../toolsets/workers/worker-toolset.ts";
import { anySignal } from "../util/async/abortable.ts";
import { checkOptions, type OptionCheck } from "../util/check-options.ts";
import { Redactor, type Secret } from "../util/secrets/redactor.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { version } from "../version.ts";
import { loginFinder, readCredentials, secretsOf } from "./credentials.ts";
import { shareRun } from "./fork.ts";
import {
  beginRecord,
  type CompileManner,
  checkSource,
  compileSources,
  defaultHost,
  hostOf,
  type OpenProgram,
  openProgram,
  readerOf,
  refuse,
  refuseOverlap,
} from "./open-program.ts";
import type { ReplayReport } from "./replay.ts";
import {
  type CompileRequest,
  type CreateWorkerOptions,
  compileOptions,
  createOptions,
  type DefinedWorkers,
  type EntryRun,
  type ForkRequest,
  forkOptions,
  type JudgeRequest,
  judgeOptions,
  type ReplayRequest,
  type ResumeRequest,
  type RunOutput,
  type RunRequest,
  replayOptions,
  resumeOptions,
  runOptions,
  type UndoRequest,
  undoOptions,
} from "./requests.ts";
import { collectMessages, continueRun, placeFailure, termsOf } from "./resume.ts";
import type { UndoReport } from "./undo.ts";

export type { ForkPoint } from "../effects/fork-point.ts";
export { listPrices, type PriceOverrides, priceTable } from "../models/prices.ts";
export type { Program } from "../program/program.ts";
export { warnOfPrices } from "../runtime/bounds/require-prices.ts";
export type { CallJudge, JudgedCall, Judgement } from "../runtime/judge-calls.ts";
export type { ReplayReport } from "./replay.ts";
export type {
  CompileRequest,
  CreateWorkerOptions,
  DefinedWorkers,
  EntryRun,
  ForkRequest,
  JudgeRequest,
  ReplayRequest,
  ResumeRequest,
  RunOutput,
  RunRequest,
  TypedRunOutput,
  UndoRequest,
} from "./requests.ts";
export { type RecordedConversation, readConversation, readOutcome, readResult } from "./resume.ts";
export type { UndoneFile, UndoPlan, UndoReport } from "./undo.ts";

/**
 * Compiles a program: everything that is wrong with it and, if nothing is, its linked form. Calls no model. Rejects with a `TypeError`
 * for an option that is unknown or of another form.
 */
export function compile(request: CompileRequest): Promise<Compiled> {
  return compileWith(request, {});
}

/** Compiles as `compile` does, with options that the program gives itself: below the request's own. Not among the public names. */
export async function compileWith(request: CompileRequest, ofProgram: ProgramOptions, how?: CompileManner): Promise<Compiled> {
  checkOptions(request, compileOptions);
  checkSource(request);
  return compileSources(request, ofProgram, how);
}

/**
 * Compiles a program and runs its entry: the front door of the command line and the library. Rejects with `CompileError`,
 * `UntrustedProgram` (both before anything ran), or `RunError`.
 */
export function run<const W extends DefinedWorkers = DefinedWorkers, E extends string = never>(
  request: RunRequest<W, E>,
): Promise<EntryRun<W, E>>;
export async function run(request: RunRequest): Promise<RunOutput> {
  const opened = await openRun(request, runOptions);
  return runProgram(opened, request, {}).catch(failAsRun);
}

/** Stands between a run and the world, for tests of programs. Without members it changes nothing. */
export interface RunInterception {
  /** Values that the run's redactor replaces, beside those that it knows. */
  readonly secrets?: readonly Secret[];
  /** Receives the facts of a run without a journal, without secrets. Must not throw. */
  readonly onFact?: (fact: Fact) => void;
  /** Returns the answerer of the run's effects. Default: the world answers. */
  readonly answer?: (live: AnswererOptions["live"], redact: <T>(value: T) => T) => RunSetup["effects"];
  /** In the place of the request's own input. */
  readonly start?: Pick<RunStart, "input" | "files" | "fragments" | "history" | "signal">;
  /** The id of the run that this one is a fork of. */
  readonly forkOf?: string;
  /** Default: a new id. */
  readonly runId?: string;
  /** Shared with other runs. */
  readonly pace?: RequestPace;
}

/** Runs a program as `run` does, with something in between. Not among the public names. */
export async function runWith(request: RunRequest, between: RunInterception): Promise<RunOutput> {
  const opened = await openRun(request, runOptions);
  return runProgram(opened, request, between).catch(failAsRun);
}

/**
 * Returns what a run would give its entry first. Calls no model, imports the code of the program and runs none of it, and writes nothing.
 * Rejects as `run` does.
 */
export async function rehearse(request: RunRequest): Promise<FirstRequest> {
  const opened = await openRun(request, runOptions);
  const start = async () => {
    const { program, host } = opened;
    const { keys, secrets } = await readCredentials(host);
    const how = { runId: "rehearsal", redactor: new Redactor(secretsOf(host, program, secrets)), keys };
    const setup = await createSetup(opened, { ...request, ...how });
    return rehearseEntry(program, setup, { ...unattended, ...(await createStart(opened, request)) });
  };
  return start().catch(failAsRun);
}

async function openRun<R extends RunRequest | ResumeRequest>(request: R, check: OptionCheck<R>): Promise<OpenProgram> {
  checkRequest(request, check);
  const recorded = isReference(request) ? { forRun: request } : {};
  return openProgram({ ...request, ...recorded, rules: request.approval?.rules ?? [], toRun: true });
}

function checkRequest<T extends CompileRequest | UndoRequest>(request: T, check: OptionCheck<T>): void {
  try {
    checkOptions(request, check);
    checkSource(request);
    if ("approval" in check.table) checkPolicyOptions((request as unknown as RunRequest).approval);
  } catch (thrown) {
    failAsRun(thrown);
  }
}

function failAsRun(thrown: unknown): never {
  if (thrown instanceof RunError) throw thrown;
  throw new RunError(thrown instanceof JournalError && !thrown.isNew ? "journal" : "configuration", errorMessage(thrown), {
    cause: thrown,
  });
}

/** Judges calls as the gate would, and makes none: for tests of policies. Rejects as `run` does, before anything is judged. */
export async function judgeCalls(whole: JudgeRequest): Promise<CallJudge> {
  checkRequest(whole, judgeOptions);
  const { unisolated = false, ...request } = whole;
  const opened = await openProgram(request);
  const approval: ApprovalPolicy = { mode: "prompt", unisolated };
  const setup = await createSetup(opened, { approval, runId: "verdict", redactor: new Redactor([]), keys: [] });
  return createCallJudge(opened.program, setup);
}

/**
 * Plays a recorded run again with the program of today, compiled as `run` compiles it: nothing is asked, llm-do touches nothing, and
 * every effect is answered from the record. Rejects as `compile` and `run` do before anything ran, and if the record cannot
 * be read.
 */
export async function replay(whole: ReplayRequest): Promise<ReplayReport> {
  checkRequest(whole, replayOptions);
  const { directory, run, store: named, onEvent, ...request } = whole;
  const forRun = { directory, run, store: named };
  const { program, host, sources } = await openProgram({ ...request, forRun, toRun: true });
  const [{ replayFacts }, { secrets: stored }] = await Promise.all([import("./replay.ts"), readCredentials(host)]);
  const { store, id } = findRecord(host, whole);
  const record = await store.read(id, secretsOf(host, program, stored));
  const readSource = readerOf({ program, sources });
  return replayFacts(program, { host, stored, ...record, rules: whole.rules, readSource, ...(onEvent ? { onEvent } : {}) });
}

/**
 * Begins a new run with the recorded answers of another one, up to a request, and goes on live from there: with today's program, another
 * model or another input. The shared part costs nothing. Rejects as `run` does, with a `RunError` `configuration` if there is no such
 * request.
 */
export function fork<const W extends DefinedWorkers = DefinedWorkers, E extends string = never>(
  request: ForkRequest<W, E>,
): Promise<EntryRun<W, E>>;
export async function fork(request: ForkRequest): Promise<RunOutput> {
  const opened = await openRun(request, forkOptions);
  return forkProgram(opened, request).catch(failAsRun);
}

async function forkProgram(opened: OpenProgram, request: ForkRequest, stop?: Required<ForkPoint>): Promise<RunOutput> {
  const { program, host } = opened;
  const { at = {}, signal } = request;
  const { secrets: stored } = await readCredentials(host);
  const { store, id } = findRecord(host, request);
  const { facts } = await store.read(id, secretsOf(host, program, stored));
  const { start, shared } = shareRun({ facts, program, host }, stop ? { ...stop, isStop: true } : at);
  const { runId: forkOf, entry, history = [] } = start;
  const isNew = request.input !== undefined;
  const answer: RunInterception["answer"] = (live) =>
    createAnswerer({ live, facts: shared, policy: forked(isNew ? entry : undefined) });
  const whole = { ...request, store };
  if (isNew) return runProgram(opened, whole, { answer, forkOf });
  const { input, files, fragments } = start.input;
  return runProgram(opened, stop ? { ...whole, ...termsOf(facts, request) } : whole, {
    ...{ answer, forkOf },
    start: { input: input as JsonObject, files, fragments, history, signal },
  });
}

/**
 * Takes back what the file tools of a recorded run wrote, the last write first. A file that was changed since stays as it is. Effects of
 * shell commands and other tools are listed, and stay. Rejects with a `RunError` `configuration` if the run is under way.
 */
export async function undo(request: UndoRequest): Promise<UndoReport> {
  checkRequest(request, undoOptions);
  return (await import("./undo.ts")).undoRun(request.host ?? (await defaultHost()), request).catch(failAsRun);
}

/** Creates a worker with no more than its creator. The next compilation finds it. Rejects with a `RunError` that names the permitted abilities. */
export async function createWorker(
  program: Program,
  spec: WorkerSpec,
  options: CreateWorkerOptions = {},
): Promise<CreatedWorkerFile> {
  const create = async () => {
    checkOptions(options, createOptions);
    return createWorkerFile(hostOf(program), makerOf(program, options.creator), { spec, ...options });
  };
  return create().catch(failAsRun);
}

/**
 * Goes on with a recorded run: nothing recorded is done again. Rejects as `run` does; with a `RunError` `configuration` if the
 * run has ended or another process executes it, `changed` if the program asks a model for something else than was recorded, and
 * `uncertain` if a call may have run already and there is no approver to ask.
 */
export function resume<const W extends DefinedWorkers = DefinedWorkers, E extends string = never>(
  request: ResumeRequest<W, E>,
): Promise<EntryRun<W, E>>;
export function resume(request: ResumeRequest): Promise<RunOutput> {
  return resumeWith(request, {});
}

/** Goes on as `resume` does, at a pace that other runs share. Not among the public names. */
export async function resumeWith(request: ResumeRequest, between: Pick<RunInterception, "pace">): Promise<RunOutput> {
  const opened = await openRun(request, resumeOptions);
  return resumeProgram(opened, request, between)
    .catch((thrown: unknown) => goOnFrom(opened, request, thrown))
    .catch((thrown: unknown) => placeFailure(thrown, readerOf(opened)))
    .catch(failAsRun);
}

/** Goes on as a fork from the request that a run stopped at because the program was changed. */
function goOnFrom(opened: OpenProgram, request: ResumeRequest, thrown: unknown): Promise<RunOutput> {
  const change = request.fromHere && thrown instanceof RunError ? thrown.cause : undefined;
  if (!(change instanceof RequestChanged) || change.today.kind !== "model") throw thrown;
  const { callPath, detail } = change.today;
  return forkProgram(opened, request, { callPath, turn: Number(detail["turn"]) });
}

async function resumeProgram(
  opened: OpenProgram,
  request: ResumeRequest,
  { pace }: Pick<RunInterception, "pace">,
): Promise<RunOutput> {
  const { program, host } = opened;
  await refuseOverlap(opened, findRecord(host, request).store);
  const { keys, secrets: stored } = await readCredentials(host);
  const secrets = secretsOf(host, program, stored);
  const policy = tightenPolicy(request.approval, program);
  return continueRun(program, {
    host,
    request,
    secrets,
    policy,
    createSetup: (of) => createSetup(opened, { ...request, ...of, keys, pace }),
  });
}

async function runProgram(opened: OpenProgram, request: RunRequest, between: RunInterception): Promise<RunOutput> {
  const { program, host } = opened;
  const start = between.start ?? (await createStart(opened, request));
  const { runId = host.createId(), pace } = between;
  const ids = new RunSecrets(() => host.createKey());
  const { keys, secrets } = await readCredentials(host);
  const { secrets: more = [], onFact, answer } = between;
  const known = secretsOf(host, program, secrets);
  const redactor = new Redactor(more.length === 0 ? known : [...known, ...more], ids);
  const { messages, onMessage } = collectMessages(program, request.onMessage);
  const setup = await createSetup(opened, { ...request, onMessage, runId, redactor, keys, pace });
  const record = await beginRecord(opened, request, { id: runId, redactor, secrets: ids });
  const journal = record?.journal ?? (onFact ? { ...noJournal, append: (fact: Fact) => onFact(redactor.json(fact)) } : noJournal);
  const live = { clock: host.clock, journal };
  const effects = answer?.(live, (value) => redactor.json(value)) ?? createAnswerer({ live });
  const result = await runEntry(
    program,
    { ...setup, effects, writes: record?.writes, results: record?.results },
    {
      ...start,
      signal: anySignal(start.signal, record?.lost),
      artifacts: [],
      ...(between.forkOf === undefined ? {} : { forkOf: between.forkOf }),
      ...(opened.compiledWith ? { compiled: opened.compiledWith } : {}),
      warnings: [...(record?.notes ?? []), ...opened.warnings, ...warnOfPrices(program, request)],
      keepArtifacts: async (made) => record?.keepArtifacts(made) ?? made,
      closeJournal: () => journal.close(),
    },
  );
  return { ...result, messages: [...start.history, ...messages] };
}

interface SetupRequest
  extends Pick<RunRequest, "approval" | "limits" | "prices" | "debug" | "deltas" | "onEvent" | "traceOf" | "onMessage">,
    Pick<RunSetup, "runId" | "redactor" | "pace"> {
  readonly keys: readonly KeyForVariable[];
}

/** Creates the common part of runs, rehearsals and judges. Rejects if nothing may begin. */
async function createSetup(opened: OpenProgram, request: SetupRequest): Promise<RehearsalSetup> {
  const { program, host, sources, trusted, known } = opened;
  const { runId, redactor, debug = false, deltas: streaming = false, onEvent, traceOf, onMessage, prices = {} } = request;
  const policy = checkPolicy(tightenPolicy(request.approval, program));
  await requireIsolation(program, host);
  const ownScripts = scriptsOfTheUser([...program.workers.values()].flatMap(({ model }) => model ?? []));
  const mayImport = (path: string) => trusted || ownScripts.has(path);
  const environment = createProviderEnvironment(sources, { mayImport, keys: request.keys });
  return {
    runId,
    host,
    redactor,
    policy,
    version,
    debug,
    streaming,
    onEvent,
    traceOf,
    onMessage,
    givenRules: request.approval?.rules,
    pace: request.pace,
    limits: checkLimits({ ...program.limits, ...request.limits }),
    prices: toGivenPrices(prices),
    resolveModel: createModelResolver({ ...environment, findLogin: loginFinder(host) }, known),
    priceOf: createPriceLookup(checkPrices(prices), known),
    windowOf: createWindowLookup(known),
  };
}

async function createStart({ program, host }: OpenProgram, request: RunRequest) {
  const { attachments = [], input = program.args, fragments = [], history = [], signal } = request;
  checkHistory(history);
  if (history.length > 0 && program.entry.kind === "code") refuse("`history` is for a worker, and the entry is code");
  const given = typeof input === "string" ? { prompt: input } : { input };
  const sizes = await Promise.all(attachments.map((source) => sizeOf(host, source)));
  const whole = buildEntryInput(inputSchemaOf(program), { ...given, files: sizes });
  checkEntryFiles(program, sizes);
  return { input: whole, files: await readFiles(host, attachments), fragments, history, signal };
}
