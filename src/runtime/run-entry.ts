import type { ApprovalPolicy } from "../approval/policy.ts";
import type { Host } from "../host/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { Model } from "../models/model.ts";
import type { PriceLookup } from "../models/prices.ts";
import type { Program } from "../program/program.ts";
import type { DeniedCall } from "../protocol/approval.ts";
import type { CallPath } from "../protocol/call.ts";
import type { EventSink } from "../protocol/event.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Artifact, FilePart, Message } from "../protocol/message.ts";
import type { Limits, Usage } from "../protocol/usage.ts";
import { errorStacks } from "../util/error-stacks.ts";
import type { Redactor } from "../util/redactor.ts";
import { describeFiles } from "./attachments.ts";
import type { CallEnd, RuntimeConfig } from "./config.ts";
import { createConfig } from "./create-config.ts";
import { type EntryRequest, enter } from "./enter.ts";
import { startLimitTimer } from "./limit-timer.ts";
import { requirePrices } from "./require-prices.ts";
import { LimitReached } from "./run-error.ts";
import { stopReasonOf, toRunError } from "./to-run-error.ts";

/** What the run boundary takes. Everything that decides what may happen is required. */
export interface RunEntryOptions {
  readonly runId: string;
  readonly host: Host;
  readonly journal: Journal;
  readonly redactor: Redactor;
  readonly policy: ApprovalPolicy;
  readonly resolveModel: (id: string) => Promise<Model>;
  readonly priceOf: PriceLookup;
  readonly input: JsonObject;
  readonly files: readonly FilePart[];
  readonly fragments: readonly string[];
  readonly limits: Limits;
  readonly version: string;
  /** Whether every call is told in full detail, whatever the program says. */
  readonly debug: boolean;
  readonly streaming: boolean;
  readonly signal: AbortSignal | undefined;
  readonly onEvent: EventSink | undefined;
  /** What was found before the run began; emitted first. */
  readonly warnings: readonly string[];
  readonly onMessage: ((callPath: CallPath, message: Message) => void) | undefined;
  /** Puts the files that providers made where they stay, and says where. Never rejects. */
  readonly keepArtifacts: (artifacts: readonly Artifact[]) => Promise<readonly Artifact[]>;
}

export interface RunResult {
  readonly output: JsonValue;
  readonly usage: Usage;
  /** What needed an approval and did not get it. */
  readonly denied: readonly DeniedCall[];
  /** Files that providers made, in the order in which they came. */
  readonly artifacts: readonly Artifact[];
  /** `done`; or `limit` or `cut`: then `output` is what there was so far, and `reason` says which limit, or what to raise. */
  readonly stopReason: "done" | "limit" | "cut";
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
  const run = createConfig(program, options, { denied, stop: (reason) => controller.abort(reason) });
  const stopTimer = startLimitTimer(options.host.clock, { seconds: options.limits.seconds, owner: undefined, controller });
  const signal = options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal;
  const facts = { program: program.name, entry: name, mode: options.policy.mode };
  run.emit(place, { type: "run-start", ...facts });
  for (const message of options.warnings) run.emit(place, { type: "warning", message });
  const input = { input: options.input, files: describeFiles(options.files) };
  journal.record({ type: "run-start", runId, ...facts, programDigest: program.digest, version: options.version, input });
  try {
    await requirePrices(program, options.limits, options.priceOf);
    const end = await endOf(run, { ...place, input: options.input, files: options.files, fragments: options.fragments, signal });
    controller.abort(new Error("the run has ended"));
    const usage = run.meter.of(name);
    const { output, ...how } = end;
    journal.record({ type: "run-end", ...how, usage, output, denied: denied.length });
    run.emit(place, { type: "run-end", ...how, usage });
    const lost = await journal.close();
    if (lost) throw lost;
    return { ...end, usage, denied, artifacts: await options.keepArtifacts(run.artifacts.list()), runId };
  } catch (thrown) {
    const error = toRunError(thrown, signal);
    controller.abort(error);
    error.trace = options.redactor.text(errorStacks(error));
    error.message = options.redactor.text(error.message);
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
    error.run = { runId, usage, denied, artifacts: await options.keepArtifacts(run.artifacts.list()) };
    throw error;
  } finally {
    stopTimer();
    await journal.close();
  }
}

/** The run's own limits end it with what there is; a worker's have ended its call already. */
async function endOf(run: RuntimeConfig, request: EntryRequest): Promise<CallEnd> {
  try {
    await run.serverTools.askAll(run, request);
    return await enter(run, request);
  } catch (thrown) {
    const reason = request.signal.aborted ? request.signal.reason : thrown;
    if (!(reason instanceof LimitReached)) throw thrown;
    run.emit(request, { type: "limit", limit: reason.limit, allowed: reason.allowed, message: reason.message });
    return { output: "", stopReason: "limit", reason: reason.message };
  }
}
