import { ModelError, type ModelRequest } from "../models/model.ts";
import { describeSurrender, retryDelay, toRetryPolicy } from "../models/retry.ts";
import type { Usage } from "../protocol/usage.ts";
import { seededFraction } from "../util/seeded-fraction.ts";
import type { CallConfig, CallFrame } from "./config.ts";
import { measureFailure } from "./measure-usage.ts";
import { type Attempt, type AttemptProgress, type BoundedResponse, toModelEffect } from "./model-effect.ts";
import { planRequest, priceOfCall } from "./request-budget.ts";
import { RequestFailed, RunError } from "./run-error.ts";
import { spendWithin } from "./spend-within.ts";

/** Failures in a row from which on no other request is expected to fare better. */
const longestStreak = 3;

/**
 * Asks the call's model for one turn: reserves before it spends, journals, retries what the provider says may pass, and
 * meters. Rejects with a `RunError` (`provider`, `authentication`), `LimitReached`, or the abort's reason.
 */
export async function requestModel(call: CallConfig, frame: CallFrame): Promise<BoundedResponse> {
  for (let number = 1; ; number++) {
    const progress: AttemptProgress = { characters: 0, reported: {}, streak: 0 };
    const leaveSlot = await call.account.takeSlot(call.signal);
    try {
      // Reserve after acquiring the slot: the remaining budget may change while queued.
      return await attemptRequest(call, frame, { number, progress }).finally(leaveSlot);
    } catch (thrown) {
      call.signal.throwIfAborted();
      if (!(thrown instanceof ModelError)) throw thrown;
      await waitForRetry(call, thrown, { number, progress });
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

interface NumberedAttempt {
  /** From 1. */
  readonly number: number;
  readonly progress: AttemptProgress;
}

async function attemptRequest(
  call: CallConfig,
  frame: CallFrame,
  { number, progress }: NumberedAttempt,
): Promise<BoundedResponse> {
  const { run, callPath, signal } = call;
  const key = `model ${frame.turn + 1}.${number}${frame.ending ? " last" : ""}`;
  const priceOf = await priceOfCall(call);
  const { estimate, maxOutputTokens, bound, inputTokens } = planRequest(call, frame, priceOf);
  const reservation = spendWithin(run.effects, { callPath, key }, () => call.account.reserve(estimate));
  const request = buildRequest(call, frame, maxOutputTokens);
  const attempt: Attempt = { number, key, request, bound, estimate: { inputTokens, priceOf }, progress };
  const charge = ({ inputTokens: input, outputTokens, usd = 0 }: Usage) =>
    reservation?.commit({ tokens: input + outputTokens, usd });
  let response: BoundedResponse;
  try {
    response = await run.effects.perform(toModelEffect(call, frame, attempt), signal);
  } catch (thrown) {
    const usage = measureFailure(progress.reported, attempt.estimate, progress.characters);
    if (usage) charge(usage);
    else reservation?.release();
    throw thrown;
  }
  charge(response.usage);
  for (const warning of response.warnings ?? []) run.emit(call, { type: "warning", message: warning });
  return response;
}

async function waitForRetry(call: CallConfig, error: ModelError, { number, progress }: NumberedAttempt): Promise<void> {
  const { run, callPath, worker, signal } = call;
  const policy = toRetryPolicy(worker.modelSettings);
  const random = seededFraction(`${run.runId} ${callPath} ${number}`);
  const delay = retryDelay(error, { attempt: number, random, policy });
  if (delay === undefined) throw toRequestFailure(error, call, { number, progress });
  const afterOutput = progress.characters > 0;
  const facts = { attempt: number, maxAttempts: policy.maxRetries + 1, delayMilliseconds: delay, afterOutput };
  run.emit(call, { type: "retry", ...facts, reason: error.message });
  await run.effects.sleep(delay, signal);
}

/** A failure that other requests would meet, too, ends the run; any other one, the call of the worker. */
function toRequestFailure(error: ModelError, call: CallConfig, { number, progress }: NumberedAttempt): RunError {
  const { callPath, worker } = call;
  const code = error.code === "auth" ? "authentication" : "provider";
  const place = { cause: error, callPath };
  const message = `${error.message}${describeSurrender(error, number, toRetryPolicy(worker.modelSettings))}`;
  // A script that does not expect a request is a mistake in a test.
  if (code === "authentication" || error.code === "unexpected_request") return new RunError(code, message, place);
  if (progress.streak < longestStreak) return new RequestFailed(message, place);
  return new RunError(code, `${message} (${progress.streak} requests in a row failed so)`, place);
}
