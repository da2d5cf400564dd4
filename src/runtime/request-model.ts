import { ModelError, type ModelRequest, type ModelResponse } from "../models/model.ts";
import { retryDelay } from "../models/retry.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import { canonicalJson } from "../util/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { RunError } from "./run-error.ts";

/**
 * Asks the call's model for one turn: reserves before it spends, journals, retries what the provider says may pass, and
 * meters. Rejects with a `RunError` (`provider`, `authentication`), `LimitReached`, or the abort's reason.
 */
export async function requestModel(call: CallConfig, frame: CallFrame): Promise<ModelResponse> {
  const request = buildRequest(call, frame);
  for (let attempt = 1; ; attempt++) {
    const streamed = { any: false };
    try {
      return await attemptRequest(call, frame, { request, streamed });
    } catch (thrown) {
      call.signal.throwIfAborted();
      if (!(thrown instanceof ModelError)) throw thrown;
      await waitForRetry(call, thrown, { attempt, afterOutput: streamed.any });
    }
  }
}

function buildRequest(call: CallConfig, frame: CallFrame): ModelRequest {
  const left = call.account.tokensLeft();
  const output = call.worker.output?.jsonSchema;
  return {
    system: frame.system,
    messages: [...frame.messages],
    tools: call.toolsets.flatMap(({ definitions }) => definitions),
    ...(output ? { output } : {}),
    settings: left === undefined ? {} : { max_output_tokens: Math.max(1, left - estimateTokens(frame)) },
  };
}

interface Attempt {
  readonly request: ModelRequest;
  readonly streamed: { any: boolean };
}

async function attemptRequest(call: CallConfig, frame: CallFrame, { request, streamed }: Attempt): Promise<ModelResponse> {
  const { run, callPath, signal, model, worker } = call;
  const reservation = call.account.reserveTokens(estimateTokens(frame));
  const onDelta = (delta: { readonly type: "text-delta" | "reasoning-delta"; readonly text: string }) => {
    streamed.any = true;
    run.emit(call, delta);
  };
  const step = {
    callPath,
    kind: "model" as const,
    detail: journalRequest(call, frame, request),
    sideEffect: false,
    describe: ({ message, usage, finish }: ModelResponse) => ({ message, usage, finish }) as unknown as JsonObject,
  };
  const options = {
    signal,
    call: { worker: worker.name, callPath, turn: frame.turn + 1 },
    ...(run.streaming ? { onDelta } : {}),
  };
  try {
    const response = await run.journal.step(step, () => call.account.bounded(() => model.generate(request, options), signal));
    reservation.commit(response.usage.inputTokens + response.usage.outputTokens);
    run.meter.add(callPath, response.usage);
    for (const warning of response.warnings ?? []) run.emit(call, { type: "warning", message: warning });
    return response;
  } catch (thrown) {
    reservation.release();
    throw thrown;
  }
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
    messages: fresh as unknown as JsonValue,
  };
}

const digestOf = new WeakMap<object, string>();

/** Equal requests have equal digests. Messages and tools are digested once each, so that a long call stays linear. */
function digestRequest({ messages, tools, ...rest }: ModelRequest): string {
  return sha256(canonicalJson([rest, tools.map(digestOnce), messages.map(digestOnce)]));
}

function digestOnce(value: object): string {
  let digest = digestOf.get(value);
  if (digest === undefined) {
    digest = sha256(canonicalJson(value));
    digestOf.set(value, digest);
  }
  return digest;
}

async function waitForRetry(
  call: CallConfig,
  error: ModelError,
  { attempt, afterOutput }: { attempt: number; afterOutput: boolean },
): Promise<void> {
  const delay = retryDelay(error, attempt, call.run.random());
  if (delay === undefined) throw toRunError(error, call);
  call.run.emit(call, { type: "retry", attempt, delayMilliseconds: delay, reason: error.message, afterOutput });
  await call.run.clock.sleep(delay, call.signal);
}

export function toRunError(error: ModelError, place: { readonly callPath: string }): RunError {
  const code = error.code === "auth" ? "authentication" : "provider";
  return new RunError(code, error.message, { cause: error, callPath: place.callPath });
}

/** Four characters a token is what English text comes to; files are counted by their size. Linear in what is new. */
function estimateTokens(frame: CallFrame): number {
  return (
    frame.messages.reduce(
      (sum, message) => sum + messageTokens(message),
      frame.system.reduce((sum, part) => sum + part.length / 4, 0),
    ) | 0
  );
}

const tokensOf = new WeakMap<Message, number>();

function messageTokens(message: Message): number {
  let tokens = tokensOf.get(message);
  if (tokens === undefined) {
    tokens = Math.ceil(JSON.stringify(message).length / 4);
    tokensOf.set(message, tokens);
  }
  return tokens;
}
