import type { Effect, OutcomeCodec } from "../effects/effects.ts";
import {
  type GenerateOptions,
  type ModelDelta,
  ModelError,
  type ModelErrorCode,
  type ModelRequest,
  type ModelResponse,
  type ReportedUsage,
} from "../models/model.ts";
import { splitSettings } from "../models/patience.ts";
import { retryDelay, toRetryPolicy } from "../models/retry.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { AssistantMessage } from "../protocol/message.ts";
import type { Usage } from "../protocol/usage.ts";
import { abortable } from "../util/async/abortable.ts";
import { isTooDeep } from "../util/json/to-json-value.ts";
import type { AnswerBound } from "./bounds/answer-bound.ts";
import type { Amount } from "./bounds/budget.ts";
import { measureFailure, measureUsage, type UsageEstimate } from "./bounds/measure-usage.ts";
import { longestAnswer } from "./bounds/request-budget.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { digestRequest } from "./history/digest-request.ts";

/** An answer with what it came to, and what bounded its length. */
export interface BoundedResponse extends ModelResponse {
  readonly usage: Usage;
  readonly bound: AnswerBound;
}

export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** At most this is spent where the provider keeps to its bounds and the estimate holds. */
  readonly cost: Amount;
  readonly key: string;
  readonly request: ModelRequest;
  readonly bound: AnswerBound;
  readonly estimate: UsageEstimate;
  readonly progress: AttemptProgress;
}

/** The known state of an attempt while it runs, and when it has failed. */
export interface AttemptProgress {
  /** How much of the answer has been shown. */
  characters: number;
  /** The latest report of the provider, whatever becomes of the request. */
  reported: ReportedUsage;
  /** Requests in a row that failed so, where this was the last attempt and failed. */
  streak: number;
}

/** One attempt at a turn's request, as an effect. */
export function toModelEffect(call: CallConfig, frame: CallFrame, attempt: Attempt): Effect<BoundedResponse> {
  const { callPath, run } = call;
  const { key, request, bound, estimate } = attempt;
  const detail = takeUnrecorded(call, frame, attempt);
  const digest = digestRequest(
    { ...request, settings: splitSettings(call.worker.modelSettings).asked },
    { model: call.model.recorded, redactor: run.redactor },
  );
  return {
    record: {
      ...{ callPath, key, kind: "model", digest, sideEffect: false, announced: true, detail },
      source: `${call.worker.id}.worker`,
    },
    codec: createCodec(call, attempt),
    spentByFailure: () => measureFailure(attempt.progress.reported, estimate, attempt.progress.characters),
    work: async () => {
      const model = await run.resolveModel(call.model.id, call.worker.auth);
      // A model that does not listen to an abort is abandoned.
      const response = await abortable(model.generate(request, optionsOf(call, frame, attempt)), call.signal);
      const message = withBoundedArgs(response.message);
      return { ...response, message, usage: measureUsage(response.usage, message, estimate), bound };
    },
  };
}

function optionsOf({ run, callPath, worker, signal, ...place }: CallConfig, frame: CallFrame, attempt: Attempt): GenerateOptions {
  const onDelta = (delta: ModelDelta) => {
    attempt.progress.characters += delta.text.length;
    const isOutput = delta.type === "text-delta" && worker.output !== undefined;
    run.emit({ callPath, depth: place.depth }, isOutput ? { ...delta, type: "output-delta" } : delta);
  };
  const { timeouts } = splitSettings(worker.modelSettings);
  return {
    signal,
    timeouts,
    ...(timeouts.timeout === undefined ? {} : { timeout: timeouts.timeout }),
    call: { worker: worker.name, callPath, turn: frame.turn + 1 },
    ...(run.streaming ? { onDelta } : {}),
    onUsage: (usage) => {
      attempt.progress.reported = usage;
    },
  };
}

/** The request as a record keeps it: what the record does not have yet. */
function takeUnrecorded({ model, worker }: CallConfig, frame: CallFrame, attempt: Attempt): JsonObject {
  const { request } = attempt;
  const fresh = frame.messages.slice(frame.recorded);
  const first = frame.recorded === frame.earlier;
  const { asked: settings } = splitSettings(worker.modelSettings);
  frame.recorded = frame.messages.length;
  const allowance = request.settings.max_output_tokens;
  return {
    turn: frame.turn + 1,
    model: model.recorded,
    ...(first ? { system: request.system, tools: request.tools as unknown as JsonValue } : {}),
    ...(first && request.output ? { output: request.output as JsonObject } : {}),
    ...(first && Object.keys(settings).length > 0 ? { settings: settings as unknown as JsonValue } : {}),
    ...(first && request.serverTools ? { serverTools: request.serverTools as unknown as JsonValue } : {}),
    ...(allowance === undefined ? {} : { allowance }),
    reserved: reservedBy(attempt),
    messages: fresh as unknown as JsonValue,
  };
}

/** The most that the request takes: charged where its outcome is lost. */
function reservedBy({ request, estimate: { inputTokens, priceOf } }: Attempt): JsonObject {
  const outputTokens = request.settings.max_output_tokens ?? longestAnswer;
  const usd = priceOf?.({ inputTokens, outputTokens, cachedInputTokens: 0 }).usd;
  return { tokens: inputTokens + outputTokens, ...(usd === undefined ? {} : { usd }) };
}

/** A failure after the last retry carries how many in a row failed so. */
function createCodec(call: CallConfig, { number, progress }: Attempt): OutcomeCodec<BoundedResponse> {
  const { run } = call;
  return {
    encode: (response) => response as unknown as JsonValue,
    decode: (value) => value as unknown as BoundedResponse,
    encodeError: (thrown) => {
      if (!(thrown instanceof ModelError)) return undefined;
      const { code, model, message, status, retryable, retryAfterMilliseconds } = thrown;
      if (isLast(call, thrown, number)) progress.streak = run.effects.state.streakWith(code);
      return {
        ...{ code, model, message, retryable },
        ...(status === undefined ? {} : { status }),
        ...(retryAfterMilliseconds === undefined ? {} : { retryAfterMilliseconds }),
        ...(progress.streak > 0 ? { streak: progress.streak } : {}),
      };
    },
    decodeError: ({ code, model, message, retryable, status, retryAfterMilliseconds, streak }) => {
      progress.streak = typeof streak === "number" ? streak : 0;
      return new ModelError({
        ...{ code: code as ModelErrorCode, model: String(model), message: String(message), retryable: retryable === true },
        ...(typeof status === "number" ? { status } : {}),
        ...(typeof retryAfterMilliseconds === "number" ? { retryAfterMilliseconds } : {}),
      });
    },
  };
}

/** A conversation that is too long says nothing of other requests. */
function isLast({ worker }: CallConfig, error: ModelError, attempt: number): boolean {
  if (error.code === "context_window") return false;
  return retryDelay(error, { attempt, random: 0, policy: toRetryPolicy(worker.modelSettings) }) === undefined;
}

/** Drops arguments that are nested too deep to be walked. */
function withBoundedArgs(message: AssistantMessage): AssistantMessage {
  const parts = message.parts.map((part) => {
    if (part.type === "tool-call" && isTooDeep(part.args)) return { ...part, args: null, invalidArgs: "(nested too deep)" };
    if (part.type === "server-call" && isTooDeep(part.args)) return { ...part, args: null };
    return part.type === "server-result" && isTooDeep(part.value) ? { ...part, value: null } : part;
  });
  return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts };
}
