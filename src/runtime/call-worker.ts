import type { GatedToolset } from "../approval/gate-types.ts";
import { defaultTurns, type ModelChoice, type RenderedPrompt, type Worker } from "../program/program.ts";
import type { CallPath } from "../protocol/call.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { UserMessage } from "../protocol/message.ts";
import { toHandle } from "../toolsets/attachments.ts";
import { toolFailure } from "../toolsets/toolset.ts";
import { errorMessage } from "../util/error-message.ts";
import { runAgentLoop } from "./agent-loop.ts";
import { bracketCall } from "./bracket-call.ts";
import type { CallConfig, CallEnd, CallFrame, CallRequest, RuntimeConfig, WorkerInput } from "./config.ts";
import { describeStart } from "./describe-start.ts";
import { LimitAccount } from "./limit-account.ts";
import { startLimitTimer } from "./limit-timer.ts";
import { openCallScopes } from "./open-call-scopes.ts";
import { LimitReached, RunError } from "./run-error.ts";
import { describeDenied, type GrantedServerTools } from "./server-tool-grants.ts";

const closingMilliseconds = 5000;

/** The engine behind `RuntimeConfig.callWorker`, which states its contract. A recorded call starts with its recorded input. */
export async function callWorker(run: RuntimeConfig, worker: Worker, request: CallRequest): Promise<CallEnd> {
  const { callPath, depth, signal } = request;
  const { id: model, source: modelSource } = requireModel(worker, callPath);
  const input = (run.effects.recallStart(callPath)?.input as WorkerInput | undefined) ?? request.input;
  const prompt = renderPrompt(worker, input.input);
  const debugged = run.debug || worker.debug;
  const bracketed = {
    ...{ callPath, depth, signal, input, attachments: input.files.map(({ name }) => name) },
    who: { kind: "worker" as const, name: worker.name, model, modelSource },
    ...(debugged ? { detail: describeStart(input, prompt) } : {}),
  };
  return bracketCall(run, bracketed, () => runCall(run, worker, { ...request, input, prompt }));
}

/** A toolset that does not come to an end while it closes is left to itself. */
async function closeToolsets(run: RuntimeConfig, toolsets: readonly GatedToolset[]): Promise<void> {
  const stop = new AbortController();
  const patience = run.effects.sleep(closingMilliseconds, stop.signal).catch(() => undefined);
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
  request: CallRequest & { readonly prompt: RenderedPrompt },
): Promise<CallEnd> {
  const { callPath, input } = request;
  const serverTools = await run.serverTools.of(run, worker, request);
  const frame = createFrame(input, withDenied(request.prompt, serverTools));
  const controller = new AbortController();
  const scopes = await openCallScopes(run, worker.scopes, callPath);
  const stopTimer = startLimitTimer(run, { seconds: worker.limits.seconds, callPath, owner: callPath, controller });
  const account = new LimitAccount(worker.limits, callPath, request.account);
  const toolsets = worker.toolsets.map((reference) => run.gate.gate(reference));
  const { turns } = run.limits;
  const call: CallConfig = Object.freeze({
    ...{ run, callPath, depth: request.depth, worker, model: requireModel(worker, callPath), toolsets, scopes, account },
    serverTools: serverTools.granted,
    attachments: input.files.map(toHandle),
    maxTurns: Math.min(worker.limits.turns ?? turns ?? defaultTurns, turns ?? Number.POSITIVE_INFINITY),
    signal: AbortSignal.any([request.signal, controller.signal]),
    abort: (reason: unknown) => controller.abort(reason),
  });
  try {
    return await runAgentLoop(call, frame);
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
    recorded: 0,
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
