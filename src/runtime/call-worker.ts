import { toStart } from "../effects/effects.ts";
import { defaultTurns, type ModelChoice, type RenderedPrompt, type Worker } from "../program/program.ts";
import type { CallPath } from "../protocol/call.ts";
import type { FactOf } from "../protocol/fact.ts";
import type { JsonObject } from "../protocol/json.ts";
import { type Message, messageOfAnswer, type UserMessage } from "../protocol/message.ts";
import type { ToolError } from "../protocol/tool.ts";
import { toHandle } from "../toolsets/attachments.ts";
import { ToolFailure, toolFailure } from "../toolsets/toolset.ts";
import { follow } from "../util/async/abortable.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { runTurns } from "./agent-loop.ts";
import { answerByCode } from "./answer-by-code.ts";
import { amountOf, Budget } from "./bounds/budget.ts";
import { startLimitTimer } from "./bounds/limit-timer.ts";
import { Repeats } from "./bounds/loop-guard.ts";
import { bracketCall } from "./bracket-call.ts";
import type { CallConfig, CallEnd, CallFrame, CallRequest, WorkerInput } from "./config.ts";
import { addNotes } from "./connect/connection-notes.ts";
import type { OpenToolsets } from "./connect/connections.ts";
import { describeStart } from "./connect/describe-start.ts";
import { openCallScopes } from "./connect/open-call-scopes.ts";
import { describeDenied, type GrantedServerTools } from "./connect/server-tool-grants.ts";
import { addMessage, publishMessage } from "./conversation.ts";
import { LimitReached, RequestFailed, RunError } from "./run-error.ts";

/**
 * Runs one call of a worker of the program, by its id, with its own frame, scopes, toolsets and budget. A recorded call starts with its
 * recorded input. Rejects only with what ends more than that call (an abort, a refused key, a provider that keeps failing, a policy
 * stop, an exhausted budget of a caller), or with a `ToolFailure` for the caller.
 */
export async function callWorker(request: CallRequest, id: string, given: WorkerInput): Promise<CallEnd> {
  const { run, callPath, depth, signal } = request;
  const worker = run.created.get(id) ?? run.program.workers.get(id);
  if (!worker) throw new Error(`invariant: the worker ${id} is not part of the program`);
  const recorded = run.effects.recall("call-end", { callPath });
  if (recorded) return repeatEnd(request, worker, recorded);
  const { recorded: model, source: modelSource } = requireModel(worker, callPath);
  const input = (run.effects.recall("call-start", { callPath })?.input as WorkerInput | undefined) ?? given;
  const prompt = renderPrompt(worker, input.input);
  await run.effects.requireLive(toStart(callPath, signal));
  signal.throwIfAborted();
  const callee = { kind: "worker" as const, name: worker.name, model, modelSource };
  const detail = run.debug || worker.debug ? describeStart(input, prompt) : undefined;
  const bracket = bracketCall(run, { callPath, depth, signal, callee, input, detail });
  let ended: CallEnd;
  try {
    const { call, frame, close } = await openCall(request, worker, { input, prompt });
    let opened: OpenToolsets | undefined;
    try {
      opened = await run.connections.open(run, worker, call);
      const { toolsets, deferred, notes } = opened;
      addNotes(frame, notes);
      const whole = Object.freeze({ ...call, toolsets, deferred });
      ended = (await answerFirst(whole, frame, request)) ?? (await runTurns(whole, frame));
    } catch (thrown) {
      const aborted = [signal, call.signal].find((one) => one.aborted);
      ended = endAtOwnLimit(call, frame, aborted ? aborted.reason : thrown);
    } finally {
      await close(opened);
    }
  } catch (thrown) {
    const turn = run.effects.finish(callPath, signal);
    if (turn) await turn.catch(() => undefined);
    const failure = depth > 0 && thrown instanceof RequestFailed ? failureOf(worker, thrown) : thrown;
    bracket.fail(thrown, depth > 0 && failure instanceof ToolFailure ? failure : undefined);
    throw signal.aborted ? signal.reason : failure;
  }
  return bracket.end(ended);
}

/** The answer of the worker's code. Undefined if there is none, or if it leaves the call to the prompt. */
async function answerFirst(call: CallConfig, frame: CallFrame, { byPrompt }: CallRequest): Promise<CallEnd | undefined> {
  const { run, worker } = call;
  const { code } = worker;
  if (!code || byPrompt || (frame.earlier > 0 && !code.history)) return undefined;
  const end = await answerByCode(call, frame, code);
  if (end.type === "answer") {
    run.emit(call, { type: "answered-by", by: "code" });
    for (const message of frame.messages.slice(frame.earlier)) publishMessage(call, message);
    addMessage(call, frame, messageOfAnswer(end.output));
    return { output: end.output, stopReason: "done" };
  }
  const { reason, hint } = end;
  run.emit(call, { type: "answered-by", by: "prompt", reason });
  if (!code.hasPrompt)
    throw toolFailure("tool_failed", `the code of \`${worker.name}\` left the call, and there is no prompt: ${reason}`);
  if (hint !== undefined) addHint(frame, hint);
  return undefined;
}

/** Adds what the code found out to the first message, before the files. */
function addHint({ messages }: CallFrame, text: string): void {
  const first = messages.at(-1);
  if (first?.role !== "user") throw new Error("invariant: a call begins with a message of the user");
  const texts = first.parts.filter((part) => part.type === "text");
  const files = first.parts.filter((part) => part.type !== "text");
  messages[messages.length - 1] = { ...first, parts: [...texts, { type: "text", text }, ...files] };
}

/** Ends a call as it was recorded, without entering it. Its caller is charged what it used. */
function repeatEnd({ run, callPath, depth, budget }: CallRequest, worker: Worker, ended: FactOf<"call-end">): CallEnd {
  const { state } = run.effects;
  const { stopReason, reason, output, usage, error } = ended;
  const callee = { kind: "worker" as const, name: worker.name };
  run.emit({ callPath, depth }, { type: "call-start", ...callee });
  run.emit({ callPath, depth }, { type: "call-end", ...callee, stopReason, usage, milliseconds: 0 });
  budget.countToolCalls(state.toolCallsOf(callPath));
  if (error) throw new ToolFailure(error["failure"] as unknown as ToolError);
  return { output: output ?? "", stopReason: stopReason as CallEnd["stopReason"], ...(reason === undefined ? {} : { reason }) };
}

/** A failure of its provider ends the worker's call alone: its caller goes on. */
function failureOf({ name }: Worker, { message }: RequestFailed): ToolFailure {
  return toolFailure("provider", `\`${name}\` failed: ${message}`, "go on without it, or call it again");
}

function requireModel(worker: Worker, callPath: CallPath): ModelChoice {
  if (worker.model) return worker.model;
  throw new RunError("configuration", `no model for the worker \`${worker.name}\``, { callPath });
}

interface OpenCall {
  /** Without its toolsets, which connect first. */
  readonly call: Omit<CallConfig, "toolsets" | "deferred">;
  readonly frame: CallFrame;
  /** Ends everything below the call, and closes what it opened. */
  readonly close: (opened: OpenToolsets | undefined) => Promise<void>;
}

/** Made once: the stack of an error costs more than the rest of the end of a call. */
const callEnded = Object.freeze(new Error("the call has ended"));

async function openCall(
  request: CallRequest,
  worker: Worker,
  { input, prompt }: { readonly input: WorkerInput; readonly prompt: RenderedPrompt },
): Promise<OpenCall> {
  const { run, callPath, depth } = request;
  const serverTools = await run.serverTools.of(request, worker);
  const frame = createFrame(input, withDenied(prompt, serverTools), request.history);
  const controller = new AbortController();
  const scopes = await openCallScopes(run, worker, callPath);
  const stopFollowing = follow(request.signal, controller);
  const stopTimer = startLimitTimer(run, { seconds: worker.limits.seconds, callPath, owner: callPath, controller });
  const budget = new Budget(worker.limits, {
    owner: callPath,
    parent: request.budget,
    spent: amountOf(run.effects.state.usageOf(callPath)),
  });
  const { turns } = run.limits;
  const call = Object.freeze({
    ...{ run, callPath, depth, worker, model: requireModel(worker, callPath), scopes, budget },
    serverTools: serverTools.granted,
    attachments: input.files.map(toHandle),
    maxTurns: Math.min(worker.limits.turns ?? turns ?? defaultTurns, turns ?? Number.POSITIVE_INFINITY),
    signal: controller.signal,
    abort: (reason: unknown) => controller.abort(reason),
  });
  const close = async (opened: OpenToolsets | undefined) => {
    frame.releaseLastTurn();
    stopTimer();
    stopFollowing();
    controller.abort(callEnded);
    await opened?.close();
    await scopes.close();
  };
  return { call, frame, close };
}

/**
 * Ends a call at a limit of its own, with what it had so far. Throws whatever else ended it. The run's own limits end the entry's call,
 * any other one the call that it belongs to.
 */
function endAtOwnLimit(call: OpenCall["call"], frame: CallFrame, thrown: unknown): CallEnd {
  if (!(thrown instanceof LimitReached)) throw thrown;
  const { limit, allowed, owner } = thrown.reached;
  if (owner === undefined ? call.depth > 0 : owner !== call.callPath) throw thrown;
  call.run.emit(call, { type: "limit", limit, allowed, message: thrown.message });
  return { output: frame.partialOutput, stopReason: "limit", reason: thrown.message };
}

/** The worker's instructions may speak of what is not there. */
function withDenied(prompt: RenderedPrompt, serverTools: GrantedServerTools): RenderedPrompt {
  if (serverTools.denied.length === 0) return prompt;
  return { ...prompt, system: [...prompt.system, describeDenied(serverTools)] };
}

function createFrame(
  { input, files, fragments }: WorkerInput,
  { system, user, userFragments }: RenderedPrompt,
  history: readonly Message[] = [],
): CallFrame {
  const texts = [user, ...userFragments, ...fragments].map((text) => ({ type: "text" as const, text }));
  const message: UserMessage = { role: "user", parts: [...texts, ...files] };
  return {
    input,
    system,
    messages: [...history, message],
    earlier: history.length,
    turn: 0,
    toolCalls: 0,
    created: new Map(),
    serverCalls: new Map(),
    recorded: history.length,
    cuts: undefined,
    repeats: new Repeats(),
    measured: undefined,
    refusedTokens: undefined,
    partialOutput: "",
    lastTurn: undefined,
    releaseLastTurn: () => undefined,
    lastAnswerTokens: undefined,
  };
}

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
