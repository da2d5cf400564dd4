import {
  type GenerateOptions,
  type Model,
  type ModelDelta,
  ModelError,
  type ModelRequest,
  type ModelResponse,
  type ReportedUsage,
} from "../models/model.ts";
import { describeSurrender, retryDelay, toRetryPolicy } from "../models/retry.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { AssistantMessage } from "../protocol/message.ts";
import type { Usage } from "../protocol/usage.ts";
import { abortable } from "../util/abortable.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import { isTooDeep } from "../util/to-json-value.ts";
import type { AnswerBound } from "./answer-bound.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { longestStreak } from "./failure-streak.ts";
import { measureFailure, measureUsage, type UsageEstimate } from "./measure-usage.ts";
import { planRequest, priceOfCall } from "./request-budget.ts";
import { RequestFailed, RunError } from "./run-error.ts";

interface MeasuredResponse extends ModelResponse {
  readonly usage: Usage;
}

/** An answer, and what bounded its length. */
export interface BoundedResponse extends MeasuredResponse {
  readonly bound: AnswerBound;
}

/**
 * Asks the call's model for one turn: reserves before it spends, journals, retries what the provider says may pass, and
 * meters. Rejects with a `RunError` (`provider`, `authentication`), `LimitReached`, or the abort's reason.
 */
export async function requestModel(call: CallConfig, frame: CallFrame): Promise<BoundedResponse> {
  for (let number = 1; ; number++) {
    const attempt: Attempt = { number, characters: 0, reported: {}, streak: 0 };
    try {
      // In its place from here on: what is left is known when the request goes out, and not when it began to wait.
      return await call.account.bounded(() => attemptRequest(call, frame, attempt), call.signal);
    } catch (thrown) {
      call.signal.throwIfAborted();
      if (!(thrown instanceof ModelError)) throw thrown;
      await waitForRetry(call, thrown, attempt);
    }
  }
}

function buildRequest(call: CallConfig, frame: CallFrame, allowance: number | undefined): ModelRequest {
  const output = call.worker.output?.jsonSchema;
  const { max_retries: _, max_retry_wait: _wait, timeout: _timeout, ...settings } = call.worker.modelSettings;
  return {
    system: frame.system,
    messages: [...frame.messages],
    tools: call.toolsets.flatMap(({ definitions }) => definitions),
    ...serverToolsLeft(call, frame),
    ...(output ? { output } : {}),
    settings: { ...settings, ...(allowance === undefined ? {} : { max_output_tokens: allowance }) },
  };
}

/** Providers count the uses of one request; what a worker declares is for its whole call. */
function serverToolsLeft({ serverTools }: CallConfig, { messages }: CallFrame): Pick<ModelRequest, "serverTools"> {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.parts : []));
  const left = serverTools.flatMap((tool) => {
    if (tool.max_uses === undefined) return [tool];
    const uses = tool.max_uses - calls.filter((part) => part.type === "server-call" && part.name === tool.type).length;
    return uses > 0 ? [{ ...tool, max_uses: uses }] : [];
  });
  return left.length > 0 ? { serverTools: left } : {};
}

interface Attempt {
  /** From 1. */
  readonly number: number;
  /** How much of the answer has been shown. */
  characters: number;
  /** The latest report of the provider, whatever becomes of the request. */
  reported: ReportedUsage;
  /** Requests in a row that failed so, where this was the last attempt and failed. */
  streak: number;
}

async function attemptRequest(call: CallConfig, frame: CallFrame, attempt: Attempt): Promise<BoundedResponse> {
  const { run, callPath } = call;
  const priceOf = await priceOfCall(call);
  const { estimate, maxOutputTokens, bound, inputTokens } = planRequest(call, frame, priceOf);
  const reservation = call.account.reserve(estimate);
  const request = buildRequest(call, frame, maxOutputTokens);
  const plan = { request, estimate: { inputTokens, priceOf }, attempt };
  const charge = (usage: Usage) => {
    reservation.commit({ tokens: usage.inputTokens + usage.outputTokens, usd: usage.usd ?? 0 });
    run.meter.add(callPath, usage);
  };
  let response: MeasuredResponse;
  try {
    response = await journalled(call, frame, plan);
  } catch (thrown) {
    const usage = measureFailure(attempt.reported, plan.estimate, attempt.characters);
    if (usage) charge(usage);
    else reservation.release();
    throw thrown;
  }
  charge(response.usage);
  for (const warning of response.warnings ?? []) run.emit(call, { type: "warning", message: warning });
  return { ...response, bound };
}

interface PlannedAttempt {
  readonly request: ModelRequest;
  readonly estimate: UsageEstimate;
  readonly attempt: Attempt;
}

function journalled(
  call: CallConfig,
  frame: CallFrame,
  { request, estimate, attempt }: PlannedAttempt,
): Promise<MeasuredResponse> {
  const { run, callPath, model, signal, worker } = call;
  const step = {
    callPath,
    kind: "model" as const,
    detail: journalRequest(call, frame, request),
    sideEffect: false,
    describe: ({ warnings: _, ...response }: MeasuredResponse) => response as unknown as JsonObject,
    describeFailure: () => {
      const usage = measureFailure(attempt.reported, estimate, attempt.characters);
      return usage ? { usage: usage as unknown as JsonObject } : {};
    },
  };
  const onDelta = (delta: ModelDelta) => {
    attempt.characters += delta.text.length;
    run.emit(call, delta);
  };
  const { timeout } = worker.modelSettings;
  const options: GenerateOptions = {
    signal,
    call: { worker: worker.name, callPath, turn: frame.turn + 1 },
    ...(timeout === undefined ? {} : { timeout }),
    ...(run.streaming ? { onDelta } : {}),
    onUsage: (usage) => {
      attempt.reported = usage;
    },
  };
  return run.journal.step(step, async () => {
    const response = await generateBounded(model, request, options).catch((thrown: unknown) => {
      if (thrown instanceof ModelError && isLast(call, thrown, attempt)) attempt.streak = run.failures.failed(thrown.code);
      throw thrown;
    });
    run.failures.answered();
    return { ...response, usage: measureUsage(response.usage, response.message, estimate) };
  });
}

/** Nobody waits for a model that does not listen to an abort, and nothing walks arguments that are nested without end. */
async function generateBounded(model: Model, request: ModelRequest, options: GenerateOptions): Promise<ModelResponse> {
  const response = await abortable(model.generate(request, options), options.signal);
  return { ...response, message: withBoundedArgs(response.message) };
}

function withBoundedArgs(message: AssistantMessage): AssistantMessage {
  const parts = message.parts.map((part) => {
    if (part.type === "tool-call" && isTooDeep(part.args)) return { ...part, args: null, invalidArgs: "(nested too deep)" };
    if (part.type === "server-call" && isTooDeep(part.args)) return { ...part, args: null };
    return part.type === "server-result" && isTooDeep(part.value) ? { ...part, value: null } : part;
  });
  return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts };
}

/** The request as the journal keeps it: its digest, and what the journal does not have yet. */
function journalRequest({ model }: CallConfig, frame: CallFrame, request: ModelRequest): JsonObject {
  const fresh = frame.messages.slice(frame.journalled);
  const first = frame.journalled === 0;
  frame.journalled = frame.messages.length;
  return {
    turn: frame.turn + 1,
    model: model.id,
    digest: digestRequest(request),
    ...(first ? { system: request.system, tools: request.tools as unknown as JsonValue } : {}),
    ...(first && request.serverTools ? { serverTools: request.serverTools as unknown as JsonValue } : {}),
    messages: fresh as unknown as JsonValue,
  };
}

const digestOf = new WeakMap<object, string>();

/** Equal requests have equal digests. Messages and tools are digested once each, however often they are sent. */
function digestRequest({ messages, tools, ...rest }: ModelRequest): string {
  return sha256([canonicalJson(rest), ...tools.map(digestOnce), "", ...messages.map(digestOnce)].join("\n"));
}

function digestOnce(value: object): string {
  let digest = digestOf.get(value);
  if (digest === undefined) {
    digest = sha256(canonicalJson(value));
    digestOf.set(value, digest);
  }
  return digest;
}

async function waitForRetry(call: CallConfig, error: ModelError, attempt: Attempt): Promise<void> {
  const { number } = attempt;
  const afterOutput = attempt.characters > 0;
  const policy = toRetryPolicy(call.worker.modelSettings);
  const delay = retryDelay(error, { attempt: number, random: call.run.random(), policy });
  if (delay === undefined) throw toRequestFailure(error, call, attempt);
  const facts = { attempt: number, maxAttempts: policy.maxRetries + 1, delayMilliseconds: delay, afterOutput };
  call.run.emit(call, { type: "retry", ...facts, reason: error.message });
  await call.run.clock.sleep(delay, call.signal);
}

function isLast({ worker }: CallConfig, error: ModelError, { number }: Attempt): boolean {
  return retryDelay(error, { attempt: number, random: 0, policy: toRetryPolicy(worker.modelSettings) }) === undefined;
}

/** A failure that other requests would meet, too, ends the run; any other one, the call of the worker. */
function toRequestFailure(error: ModelError, { callPath, worker }: CallConfig, { number, streak }: Attempt): RunError {
  const policy = toRetryPolicy(worker.modelSettings);
  const failure = toProviderError(error, { callPath }, describeSurrender(error, number, policy));
  // A script that does not expect a request is a mistake in a test.
  if (failure.code === "authentication" || error.code === "unexpected_request") return failure;
  if (streak < longestStreak) return new RequestFailed(failure.message, { cause: error, callPath });
  const message = `${failure.message} (${streak} requests in a row failed so)`;
  return new RunError(failure.code, message, { cause: error, callPath });
}

/** A provider's failure as the caller of the run gets it. */
export function toProviderError(error: ModelError, place: { readonly callPath: string }, more = ""): RunError {
  const code = error.code === "auth" ? "authentication" : "provider";
  return new RunError(code, `${error.message}${more}`, { cause: error, callPath: place.callPath });
}
