import { createGate, PolicyStop } from "../approval/gate.ts";
import type { ApprovalPolicy } from "../approval/policy.ts";
import type { Host } from "../host/host.ts";
import { type Journal, JournalError } from "../journal/journal.ts";
import type { Model } from "../models/model.ts";
import type { CodeEntry, Program, Worker } from "../program/program.ts";
import type { DeniedCall } from "../protocol/approval.ts";
import type { CallPath, StopReason } from "../protocol/call.ts";
import type { EventSink, RunEvent, RunEventBody } from "../protocol/event.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { FilePart, Message } from "../protocol/message.ts";
import type { Limits, Usage } from "../protocol/usage.ts";
import { renderIssues, type Schema } from "../schema/schema.ts";
import { ToolFailure } from "../toolsets/toolset.ts";
import { abortable } from "../util/abortable.ts";
import { errorMessage } from "../util/error-message.ts";
import type { Redactor } from "../util/redactor.ts";
import { checkAttachments, describeFiles } from "./attachments.ts";
import { callWorker } from "./call-worker.ts";
import type { CallEnd, CallPlace, RuntimeConfig } from "./config.ts";
import { LimitAccount } from "./limit-account.ts";
import { LimitReached, RunError, type RunErrorCode } from "./run-error.ts";
import { UsageMeter } from "./usage-meter.ts";
import { createCodeRuntime } from "./worker-runtime.ts";

const defaultLimits = { depth: 5, parallel: 8 } as const;

/** What the run boundary takes. Everything that decides what may happen is required. */
export interface RunEntryOptions {
  readonly runId: string;
  readonly host: Host;
  readonly journal: Journal;
  readonly redactor: Redactor;
  readonly policy: ApprovalPolicy;
  readonly resolveModel: (id: string) => Promise<Model>;
  readonly input: JsonObject;
  readonly files: readonly FilePart[];
  readonly limits: Limits;
  readonly version: string;
  readonly streaming: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onEvent: EventSink | undefined;
  readonly onMessage: ((callPath: CallPath, message: Message) => void) | undefined;
}

export interface RunResult {
  readonly output: JsonValue;
  readonly usage: Usage;
  /** What needed an approval and did not get it. */
  readonly denied: readonly DeniedCall[];
  /** `done`, or `limit`: then `output` is what there was so far. */
  readonly stopReason: "done" | "limit";
  readonly reason?: string;
  readonly runId: string;
}

/** Runs the entry of a program: the boundary at which a policy and a program become a run. Rejects with a `RunError`. */
export async function runEntry(program: Program, options: RunEntryOptions): Promise<RunResult> {
  const { runId, journal } = options;
  const denied: DeniedCall[] = [];
  const name = program.entry.kind === "worker" ? program.entry.worker.name : program.entry.code.name;
  const place = { callPath: name, depth: 0 };
  const controller = new AbortController();
  const run = createConfig(program, options, { denied });
  const stop = startTimer(options, controller);
  const signal = options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal;
  const facts = { program: program.name, entry: name, mode: options.policy.mode };
  run.emit(place, { type: "run-start", ...facts });
  const input = { input: options.input, files: describeFiles(options.files) };
  journal.record({ type: "run-start", runId, ...facts, programDigest: program.digest, version: options.version, input });
  try {
    const end = await endOf(() => enter(run, options, { place, signal }), { signal, place, run });
    const usage = run.meter.of(name);
    journal.record({ type: "run-end", stopReason: end.stopReason, usage, output: end.output, denied: denied.length });
    run.emit(place, { type: "run-end", stopReason: end.stopReason, usage });
    return { ...end, usage, denied, runId };
  } catch (thrown) {
    const error = toRunError(thrown, signal);
    const usage = run.meter.of(name);
    const stopReason = stopReasonOf(error);
    journal.record({
      type: "run-end",
      stopReason,
      usage,
      error: { code: error.code, message: error.message },
      denied: denied.length,
    });
    run.emit(place, { type: "run-end", stopReason, usage, error: error.message });
    error.run = { runId, usage, denied };
    throw error;
  } finally {
    stop();
    await journal.close();
  }
}

function createConfig(program: Program, options: RunEntryOptions, { denied }: { readonly denied: DeniedCall[] }): RuntimeConfig {
  const { host, runId, policy, journal, limits } = options;
  const declared: Limits = program.entry.kind === "worker" ? program.entry.worker.limits : {};
  const depth = limits.depth ?? declared.depth ?? defaultLimits.depth;
  const parallel = limits.parallel ?? declared.parallel ?? defaultLimits.parallel;
  const emit = createEmitter(options);
  const record = journal.record.bind(journal);
  const redact = options.redactor.json.bind(options.redactor);
  const config: RuntimeConfig = {
    runId,
    program,
    gate: createGate({
      runId,
      policy,
      step: journal.step,
      record,
      emit,
      redact,
      onDenied: (call) => denied.push(call),
      endsRun,
    }),
    meter: new UsageMeter(),
    account: new LimitAccount({ ...limits, depth, parallel }),
    maxTurns: limits.turns,
    journal,
    clock: host.clock,
    random: () => host.random(),
    openScopes: host.openScopes.bind(host),
    resolveModel: options.resolveModel,
    streaming: options.streaming,
    emit,
    onMessage: options.onMessage,
    callWorker: (worker, request) => callWorker(config, worker, request),
  };
  return Object.freeze(config);
}

function createEmitter({ runId, host, redactor, onEvent }: RunEntryOptions): (call: CallPlace, body: RunEventBody) => void {
  if (!onEvent) return () => undefined;
  return ({ callPath, depth }, body) => {
    const event: RunEvent = { v: 1, runId, callPath, depth, time: host.clock.now(), ...redactor.json(body) };
    try {
      onEvent(event);
    } catch {
      // A listener's failure is its own; the run goes on.
    }
  };
}

function endsRun(thrown: unknown): boolean {
  return (
    thrown instanceof RunError || thrown instanceof LimitReached || thrown instanceof JournalError || thrown instanceof PolicyStop
  );
}

function startTimer({ host, limits }: RunEntryOptions, controller: AbortController): () => void {
  const timer = new AbortController();
  const allowed = limits.seconds;
  if (allowed !== undefined) {
    const expire = () => controller.abort(new LimitReached({ limit: "seconds", allowed, owner: undefined }));
    host.clock.sleep(allowed * 1000, timer.signal).then(expire, () => undefined);
  }
  return () => timer.abort();
}

interface EntryPlace {
  readonly place: CallPlace;
  readonly signal: AbortSignal;
}

function enter(run: RuntimeConfig, options: RunEntryOptions, entry: EntryPlace): Promise<CallEnd> {
  return run.program.entry.kind === "worker"
    ? enterWorker(run, options, { ...entry, worker: run.program.entry.worker })
    : enterCode(run, options, { ...entry, code: run.program.entry.code });
}

async function enterWorker(
  run: RuntimeConfig,
  options: RunEntryOptions,
  { place, signal, worker }: EntryPlace & { readonly worker: Worker },
): Promise<CallEnd> {
  const input = await validateInput(worker.input, options.input, place.callPath);
  try {
    checkAttachments(options.files, worker.attachmentPolicy);
  } catch (thrown) {
    throw new RunError("input_invalid", errorMessage(thrown), { cause: thrown, callPath: place.callPath });
  }
  return run.callWorker(worker, {
    input: { input: input as JsonObject, files: options.files },
    ...place,
    account: run.account,
    signal,
  });
}

/** Code that starts a run has no model and no toolsets; it reaches its whole program, through the gate. */
async function enterCode(
  run: RuntimeConfig,
  options: RunEntryOptions,
  { place, signal, code }: EntryPlace & { readonly code: CodeEntry },
): Promise<CallEnd> {
  const input = code.input ? await validateInput(code.input, options.input, place.callPath) : options.input;
  run.emit(place, { type: "call-start", kind: "code", name: code.name });
  run.journal.record({ type: "call-start", ...place, kind: "code", name: code.name, input: options.input });
  const started = run.clock.monotonic();
  const scopes = await run.openScopes(code.scopes, { programFiles: run.program.files, programFolder: run.program.root });
  let stopReason: StopReason = "failed";
  try {
    const caller = { name: code.name, description: "" };
    const runtime = createCodeRuntime({
      run,
      ...place,
      caller,
      model: undefined,
      scopes,
      attachments: [],
      account: run.account,
      signal,
      reach: undefined,
    });
    const value = await abortable((async () => code.execute(input, runtime))(), signal);
    stopReason = "done";
    return { output: value === undefined ? null : (JSON.parse(JSON.stringify(value)) as JsonValue), stopReason };
  } finally {
    const usage = run.meter.of(place.callPath);
    run.journal.record({ type: "call-end", callPath: place.callPath, stopReason, usage });
    run.emit(place, {
      type: "call-end",
      kind: "code",
      name: code.name,
      stopReason,
      usage,
      milliseconds: run.clock.monotonic() - started,
    });
    await scopes.close();
  }
}

async function validateInput(schema: Schema, input: JsonObject, callPath: CallPath): Promise<unknown> {
  const checked = await schema.validate(input);
  if (checked.ok) return checked.value;
  throw new RunError("input_invalid", `the input does not fit \`${callPath}\`: ${renderIssues(checked.issues)}`, { callPath });
}

/** The run's own limits end it with what there is; a worker's have ended its call already. */
async function endOf(
  work: () => Promise<CallEnd>,
  { signal, place, run }: EntryPlace & { readonly run: RuntimeConfig },
): Promise<CallEnd> {
  try {
    return await work();
  } catch (thrown) {
    const reason = signal.aborted ? signal.reason : thrown;
    if (!(reason instanceof LimitReached)) throw thrown;
    run.emit(place, { type: "limit", limit: reason.limit, allowed: reason.allowed, message: reason.message });
    return { output: "", stopReason: "limit", reason: reason.message };
  }
}

function toRunError(thrown: unknown, signal: AbortSignal): RunError {
  if (thrown instanceof RunError) return thrown;
  if (signal.aborted)
    return new RunError("aborted", `the run was aborted: ${errorMessage(signal.reason)}`, { cause: signal.reason });
  return new RunError(codeOf(thrown), errorMessage(thrown), { cause: thrown });
}

function codeOf(thrown: unknown): RunErrorCode {
  if (thrown instanceof PolicyStop) return "denied";
  if (thrown instanceof JournalError) return "journal";
  return thrown instanceof ToolFailure && thrown.toolError.type === "output_invalid" ? "output_invalid" : "failed";
}

function stopReasonOf(error: RunError): StopReason {
  if (error.code === "denied" || error.code === "aborted") return error.code;
  return "failed";
}
