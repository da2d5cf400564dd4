import { Suspended } from "../effects/activity.ts";
import type { Effects } from "../effects/effects.ts";
import type { Program } from "../program/program.ts";
import type { ApprovalRule, DeniedCall } from "../protocol/approval.ts";
import type { CompiledWith, FactOf } from "../protocol/fact.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { Artifact, Message } from "../protocol/message.ts";
import type { Usage } from "../protocol/usage.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { errorStacks } from "../util/text/error-stacks.ts";
import { endAsRecorded } from "./bounds/interruptions.ts";
import { startLimitTimer } from "./bounds/limit-timer.ts";
import { requirePrices } from "./bounds/require-prices.ts";
import { runChecks } from "./bounds/run-checks.ts";
import { callCode, checkEntryInput } from "./call-entry.ts";
import { callWorker } from "./call-worker.ts";
import type { CallEnd, CallRequest, RunSetup, WorkerInput } from "./config.ts";
import { gateEntry } from "./connect/gate-entry.ts";
import { createConfig, entryName } from "./create-config.ts";
import { LimitReached, type RunError, runEnded } from "./run-error.ts";
import { stopReasonOf, toRunError } from "./to-run-error.ts";

/** The input of a run, and the actions around it. */
export interface RunStart extends WorkerInput {
  /** The conversation before the input, if the entry is a worker. */
  readonly history: readonly Message[];
  readonly signal: AbortSignal | undefined;
  /** Warnings from before the run began; emitted first. */
  readonly warnings: readonly string[];
  /** Files of earlier attempts of the run. */
  readonly artifacts: readonly Artifact[];
  /** Absent: it is not recorded. */
  readonly compiled?: CompiledWith;
  /** The id of the run that this one is a fork of. */
  readonly forkOf?: string;
  /** Puts the files that providers made where they stay, and says where. Called once, before `closeJournal`. Never rejects. */
  readonly keepArtifacts: (artifacts: readonly Artifact[]) => Promise<readonly Artifact[]>;
  /** Closes the journal after the last fact. Resolves with what could not be written. */
  readonly closeJournal: () => Promise<Error | undefined>;
}

/** Around a run that nobody can stop and that leaves nothing behind. */
export const unattended: Omit<RunStart, keyof WorkerInput | "history"> = {
  signal: undefined,
  warnings: [],
  artifacts: [],
  keepArtifacts: async (made) => made,
  closeJournal: async () => undefined,
};

export interface RunResult {
  readonly output: JsonValue;
  readonly usage: Usage;
  /** Calls that needed an approval and did not get it. */
  readonly denied: readonly DeniedCall[];
  /** Files that providers made, in the order in which they came. */
  readonly artifacts: readonly Artifact[];
  /** `done`; or `limit` or `cut`: then `output` is what there was so far, and `reason` says which limit, or what to raise. */
  readonly stopReason: "done" | "limit" | "cut";
  readonly reason?: string;
  readonly runId: string;
}

/** Runs the entry of a program: the boundary at which a policy and a program become a run. Rejects with a `RunError`. */
export async function runEntry(program: Program, setup: RunSetup, start: RunStart): Promise<RunResult> {
  const { runId, effects, limits, policy } = setup;
  const { state } = effects;
  const name = entryName(program);
  const place = { callPath: name, depth: 0 };
  const controller = new AbortController();
  const abort = controller.abort.bind(controller);
  const run = createConfig(program, setup, abort);
  for (const made of start.artifacts) run.artifacts.add(made.callPath, made, made.name);
  effects.onInterruption((reason) => endAsRecorded(run, reason, abort));
  let kept: Promise<readonly Artifact[]> | undefined;
  const keepArtifacts = () => {
    kept ??= start.keepArtifacts(run.artifacts.list());
    return kept;
  };
  const stopTimer = startLimitTimer(run, { seconds: limits.seconds, callPath: name, owner: undefined, controller });
  const signal = start.signal ? AbortSignal.any([start.signal, controller.signal]) : controller.signal;
  const { input, files, fragments, history } = start;
  const earlier = history.length > 0 ? { history } : {};
  run.emit(place, { type: "run-start", program: program.name, entry: name, mode: policy.mode });
  for (const message of start.warnings) run.emit(place, { type: "warning", message });
  effects.record(startOf(program, setup, start));
  try {
    await requirePrices(run, name);
    const ended = await callEntry({ run, ...place, budget: run.budget, signal, ...earlier }, { input, files, fragments });
    const end = ended.reason === undefined ? ended : { ...ended, reason: setup.redactor.text(ended.reason) };
    await interruptRest(effects, signal, () => controller.abort(runEnded));
    const usage = state.usageOfRun(name);
    const denied = state.denied();
    const { output, ...how } = end;
    effects.record({ type: "run-end", ...how, usage, output, denied: denied.length });
    run.emit(place, { type: "run-end", ...how, usage });
    const artifacts = await keepArtifacts();
    const lost = await start.closeJournal();
    if (lost) throw lost;
    return { ...end, usage, denied, artifacts, runId };
  } catch (thrown) {
    const error = toRunError(thrown, signal);
    await interruptRest(effects, signal, () => controller.abort(error));
    error.trace = setup.redactor.text(errorStacks(error));
    error.message = setup.redactor.text(error.message);
    const ended = recordFailure(error, { run, ...place, signal });
    const { questions, behind } = signal.reason instanceof Suspended ? signal.reason : { questions: [], behind: [] };
    error.run = { runId, ...ended, artifacts: await keepArtifacts(), questions, behind };
    throw error;
  } finally {
    stopTimer();
    await start.closeJournal();
  }
}

/** Records and tells the end of a run that gives no result. */
function recordFailure(
  error: RunError,
  { run, signal, ...place }: Omit<CallRequest, "budget">,
): Pick<RunResult, "usage" | "denied"> {
  const { effects } = run;
  const usage = effects.state.usageOfRun(place.callPath);
  const denied = effects.state.denied();
  const stopReason = stopReasonOf(error);
  const reported = { code: error.code, message: error.message };
  const why = stopReason === "aborted" ? { reason: errorMessage(signal.reason) } : {};
  effects.record({ type: "run-end", stopReason, ...why, usage, error: reported, denied: denied.length });
  run.emit(place, { type: "run-end", stopReason, usage, error: error.message });
  return { usage, denied };
}

/** The first fact of a run. */
function startOf(program: Program, { policy, ...setup }: RunSetup, start: RunStart): FactOf<"run-start"> {
  const { onDenied = "return", onUnanswered, gateEntry: isGated, mode } = policy;
  const { input, files, fragments, history, compiled, forkOf } = start;
  return {
    type: "run-start",
    ...{ runId: setup.runId, program: program.name, entry: entryName(program), mode },
    ...{ programDigest: program.digest, version: setup.version, onDenied, limits: setup.limits },
    ...(setup.prices?.length ? { prices: setup.prices } : {}),
    ...(onUnanswered === "hold" ? { onUnanswered } : {}),
    ...(isGated ? { gateEntry: true as const } : {}),
    ...rulesOf(setup.givenRules),
    ...{ owner: setup.host.processes.self, files: program.sources },
    ...(compiled ? { compiled } : {}),
    ...(forkOf === undefined ? {} : { forkOf }),
    input: { input, files, fragments },
    ...(history.length > 0 ? { history } : {}),
  };
}

/** The member of a fact that holds rules, as plain data. Empty if there are none. */
export function rulesOf(rules: readonly ApprovalRule[] = []): { readonly rules?: readonly ApprovalRule[] } {
  const plain = rules.map(({ effect, rule, source }) => ({ effect, rule, ...(source === undefined ? {} : { source }) }));
  return plain.length > 0 ? { rules: plain } : {};
}

/** Ends what code of the run left under way. */
async function interruptRest(effects: Effects, signal: AbortSignal, abort: () => void): Promise<void> {
  const turn = effects.finish(undefined, signal);
  if (turn) await turn.catch(() => undefined);
  abort();
  effects.interruptAll();
}

/**
 * Calls the entry, which needs no approval unless the policy gates it: the user started it. The run's own limits end it with what there
 * is.
 */
async function callEntry(request: CallRequest, given: WorkerInput): Promise<CallEnd> {
  const { run } = request;
  const { entry } = run.program;
  const leave = run.activity.begin(request.callPath);
  try {
    const input = await gateEntry(request, given);
    await run.serverTools.askAll(request);
    const ended =
      entry.kind === "code"
        ? await callCode(request, entry.code, input)
        : await callWorker(request, entry.worker.id, await checkEntryInput(request, entry.worker, input));
    if (ended.stopReason === "done") await runChecks(request);
    return ended;
  } catch (thrown) {
    const reason = request.signal.aborted ? request.signal.reason : thrown;
    if (!(reason instanceof LimitReached)) throw thrown;
    const { limit, allowed } = reason.reached;
    run.emit(request, { type: "limit", limit, allowed, message: reason.message });
    return { output: "", stopReason: "limit", reason: reason.message };
  } finally {
    leave();
    await run.connections.close(run, request);
  }
}
