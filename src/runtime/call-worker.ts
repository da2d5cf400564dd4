import type { GatedToolset } from "../approval/gate-types.ts";
import type { Scopes } from "../host/scopes.ts";
import { ModelError } from "../models/model.ts";
import { defaultTurns, type ModelChoice, type RenderedPrompt, type Worker } from "../program/program.ts";
import type { CallPath } from "../protocol/call.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { UserMessage } from "../protocol/message.ts";
import type { ServerTool } from "../protocol/tool.ts";
import { toolFailure } from "../toolsets/toolset.ts";
import { abortable } from "../util/abortable.ts";
import { errorMessage } from "../util/error-message.ts";
import { runAgentLoop } from "./agent-loop.ts";
import { describeFiles, toHandle } from "./attachments.ts";
import type { CallConfig, CallEnd, CallFrame, CallRequest, RuntimeConfig, WorkerInput } from "./config.ts";
import { describeStart } from "./describe-start.ts";
import { gateToolsets } from "./gate-toolsets.ts";
import { LimitAccount } from "./limit-account.ts";
import { startLimitTimer } from "./limit-timer.ts";
import { toProviderError } from "./request-model.ts";
import { LimitReached, RunError } from "./run-error.ts";
import { describeDenied, type GrantedServerTools } from "./server-tool-grants.ts";

const closingMilliseconds = 5000;

/** The engine behind `RuntimeConfig.callWorker`, which states its contract. */
export async function callWorker(run: RuntimeConfig, worker: Worker, request: CallRequest): Promise<CallEnd> {
  const { callPath, depth } = request;
  const started = run.clock.monotonic();
  const choice = requireModel(worker, callPath);
  const place = { kind: "worker" as const, name: worker.name, model: choice.id, modelSource: choice.source };
  const files = describeFiles(request.input.files);
  const prompt = renderPrompt(worker, request.input.input);
  run.emit(request, {
    type: "call-start",
    ...place,
    ...(files.length > 0 ? { attachments: request.input.files.map(({ name }) => name) } : {}),
    ...(run.debug || worker.debug ? { detail: describeStart(request.input, prompt) } : {}),
  });
  run.journal.record({ type: "call-start", callPath, depth, ...place, input: { input: request.input.input, files } });
  const milliseconds = () => run.clock.monotonic() - started;
  try {
    const end = await runCall(run, worker, { ...request, choice, prompt });
    const usage = run.meter.of(callPath);
    const { output, ...how } = end;
    run.journal.record({ type: "call-end", callPath, ...how, usage, output });
    run.emit(request, { type: "call-end", kind: "worker", name: worker.name, ...how, usage, milliseconds: milliseconds() });
    return end;
  } catch (thrown) {
    const stopReason = request.signal.aborted ? "aborted" : "failed";
    const usage = run.meter.of(callPath);
    run.journal.record({ type: "call-end", callPath, stopReason, usage, error: { message: errorMessage(thrown) } });
    run.emit(request, { type: "call-end", kind: "worker", name: worker.name, stopReason, usage, milliseconds: milliseconds() });
    throw thrown;
  }
}

/** A toolset that does not come to an end while it closes is left to itself. */
async function closeToolsets(run: RuntimeConfig, toolsets: readonly GatedToolset[]): Promise<void> {
  const stop = new AbortController();
  const patience = run.clock.sleep(closingMilliseconds, stop.signal).catch(() => undefined);
  await Promise.race([Promise.allSettled(toolsets.map((toolset) => toolset.close())), patience]);
  stop.abort();
}

function requireModel(worker: Worker, callPath: CallPath): ModelChoice {
  if (worker.model) return worker.model;
  throw new RunError("configuration", `no model for the worker \`${worker.name}\``, { callPath });
}

async function runCall(
  run: RuntimeConfig,
  worker: Worker,
  request: CallRequest & { readonly choice: ModelChoice; readonly prompt: RenderedPrompt },
): Promise<CallEnd> {
  const { callPath } = request;
  const serverTools = await run.serverTools.of(run, worker, request);
  const frame = createFrame(request.input, withDenied(request.prompt, serverTools));
  const controller = new AbortController();
  const scopes = await run.openScopes(worker.scopes, {
    programFiles: run.program.protectedPaths,
    programFolder: run.program.root,
  });
  const stopTimer = startLimitTimer(run.clock, { seconds: worker.limits.seconds, owner: callPath, controller });
  const account = new LimitAccount(worker.limits, callPath, request.account);
  let toolsets: readonly GatedToolset[] = [];
  try {
    const { granted } = serverTools;
    const base = await describeCall(run, worker, { ...request, scopes, account, controller, granted });
    toolsets = gateToolsets(base);
    for (const toolset of toolsets) await abortable(toolset.open(), base.signal);
    return await runAgentLoop(Object.freeze({ ...base, toolsets }), frame);
  } catch (thrown) {
    const reason = request.signal.aborted ? request.signal.reason : controller.signal.aborted ? controller.signal.reason : thrown;
    if (reason instanceof LimitReached && endsThisCall(reason, request))
      return endAtLimit(run, request, { reached: reason, frame });
    throw reason;
  } finally {
    stopTimer();
    controller.abort(new Error("the call has ended"));
    await closeToolsets(run, toolsets);
    await scopes.close();
  }
}

interface CallParts extends CallRequest {
  readonly choice: ModelChoice;
  readonly scopes: Scopes;
  readonly controller: AbortController;
  readonly granted: readonly ServerTool[];
}

async function describeCall(run: RuntimeConfig, worker: Worker, parts: CallParts): Promise<Omit<CallConfig, "toolsets">> {
  const { callPath, depth, choice, scopes, account, controller } = parts;
  return {
    run,
    callPath,
    depth,
    worker,
    model: await resolveModel(run, choice.id, callPath),
    modelSource: choice.source,
    serverTools: parts.granted,
    scopes,
    attachments: parts.input.files.map(toHandle),
    account,
    maxTurns: Math.min(worker.limits.turns ?? run.maxTurns ?? defaultTurns, run.maxTurns ?? Number.POSITIVE_INFINITY),
    signal: AbortSignal.any([parts.signal, controller.signal]),
    abort: (reason) => controller.abort(reason),
  };
}

async function resolveModel(run: RuntimeConfig, id: string, callPath: CallPath) {
  try {
    return await run.resolveModel(id);
  } catch (thrown) {
    if (thrown instanceof ModelError) throw toProviderError(thrown, { callPath });
    throw thrown;
  }
}

/** The worker's instructions may speak of what is not there. */
function withDenied(prompt: RenderedPrompt, serverTools: GrantedServerTools): RenderedPrompt {
  if (serverTools.denied.length === 0) return prompt;
  return { ...prompt, system: [...prompt.system, describeDenied(serverTools)] };
}

function createFrame({ input, files, fragments }: WorkerInput, { system, user, userFragments }: RenderedPrompt): CallFrame {
  const texts = [user, ...userFragments, ...fragments].map((text) => ({ type: "text" as const, text }));
  const message: UserMessage = { role: "user", parts: [...texts, ...files] };
  return {
    input,
    system,
    messages: [message],
    turn: 0,
    toolCalls: 0,
    serverCalls: new Map(),
    journalled: 0,
    partialOutput: "",
    ...atStart,
  };
}

const atStart = { ending: undefined, letGo: () => undefined, lastAnswer: undefined };

/** A template that an input makes too long, or that misses a value of it, is the caller's to correct. */
function renderPrompt(worker: Worker, input: JsonObject): RenderedPrompt {
  try {
    return worker.render(input);
  } catch (thrown) {
    throw toolFailure(
      "invalid_arguments",
      `the prompt of \`${worker.name}\` cannot be made of this input: ${errorMessage(thrown)}`,
    );
  }
}

/** The run's own account ends its entry's call; any other, the call that it belongs to. */
function endsThisCall({ owner }: LimitReached, { callPath, depth }: CallRequest): boolean {
  return owner === undefined ? depth === 0 : owner === callPath;
}

function endAtLimit(
  run: RuntimeConfig,
  place: CallRequest,
  { reached, frame }: { reached: LimitReached; frame: CallFrame },
): CallEnd {
  run.emit(place, { type: "limit", limit: reached.limit, allowed: reached.allowed, message: reached.message });
  return { output: frame.partialOutput, stopReason: "limit", reason: reached.message };
}
