import { modelKey } from "../effects/keys.ts";
import { ModelError, type ModelRequest } from "../models/model.ts";
import { splitSettings } from "../models/patience.ts";
import type { PriceOf } from "../models/prices.ts";
import { describeSurrender, retryDelay, toRetryPolicy } from "../models/retry.ts";
import type { Usage } from "../protocol/usage.ts";
import { seededFraction } from "../util/seeded-fraction.ts";
import type { Reservation } from "./bounds/budget.ts";
import { announceLastTurn, reserveLastTurn } from "./bounds/last-turn.ts";
import { measureFailure } from "./bounds/measure-usage.ts";
import { planRequest, priceOfCall } from "./bounds/request-budget.ts";
import { AccountUsedUp } from "./bounds/request-pace.ts";
import type { CallConfig, CallFrame, RuntimeConfig } from "./config.ts";
import { serverToolsLeft } from "./connect/server-tools-left.ts";
import { compactHistory, noteRefusal } from "./history/compact-history.ts";
import { offeredTools } from "./history/search-tools.ts";
import { type Attempt, type BoundedResponse, toModelEffect } from "./model-effect.ts";
import { LimitReached, RequestFailed, RunError } from "./run-error.ts";

/** Failures in a row from which on no other request is expected to fare better. */
const longestStreak = 3;

/**
 * Asks the call's model for one turn: keeps within its window, reserves before it spends, records, retries failures that may pass, and
 * meters. A limit that does not allow the request beside what is set aside for the last turn makes it the last turn's. Rejects with a
 * `RunError` (`provider`, `authentication`), with `LimitReached` if it is the last turn's already, or with the abort's reason. Where an
 * account of several runs is used up, it waits for the end of the run.
 */
export async function requestModel(call: CallConfig, frame: CallFrame): Promise<BoundedResponse> {
  const { run, budget, signal } = call;
  const priceOf = await priceOfCall(call);
  const window = call.worker.context.window ?? (await run.windowOf(call.model.id));
  reserveLastTurn(call, frame, priceOf);
  for (let number = 1; ; ) {
    compactHistory(call, frame, { attempt: number, window });
    let failed: FailedAttempt | AccountUsedUp;
    const leaveSlot = await budget.takeSlot(signal);
    try {
      // Planned after taking the slot: the remaining budget may change while queued.
      let attempt = planAllowed(call, frame, { number, priceOf });
      // A recorded answer was charged when it was spent.
      const isRecorded = run.effects.recall("result", { callPath: call.callPath, key: attempt.key }) !== undefined;
      const waiting = isRecorded ? undefined : run.pace?.admit(signal);
      if (waiting) {
        await waiting;
        attempt = planAllowed(call, frame, { number, priceOf });
      }
      const reservation = isRecorded ? undefined : budget.reserve(attempt.cost);
      try {
        const response = await run.effects.perform(toModelEffect(call, frame, attempt), signal);
        charge(run, reservation, response.usage);
        noteAnswer(call, frame, { attempt, response });
        return response;
      } catch (thrown) {
        charge(run, reservation, measureFailure(attempt.progress.reported, attempt.estimate, attempt.progress.characters));
        signal.throwIfAborted();
        if (!(thrown instanceof ModelError)) throw thrown;
        failed = { attempt, error: thrown };
      }
    } catch (thrown) {
      if (!(thrown instanceof AccountUsedUp)) throw thrown;
      failed = thrown;
    } finally {
      leaveSlot();
    }
    // The slot is free again: calls beside this one come to their ends, so that nothing of them is lost.
    if (failed instanceof AccountUsedUp) return run.activity.hold(call.callPath, failed, signal);
    const canShrink = failed.error.code === "context_window" && noteRefusal(call, frame);
    if (!canShrink) await waitForRetry(call, frame, failed);
    number = failed.attempt.number + 1;
  }
}

interface AnsweredAttempt {
  readonly attempt: Attempt;
  readonly response: BoundedResponse;
}

/** Measures the conversation by an answer to it, and passes its warnings on. */
function noteAnswer(call: CallConfig, frame: CallFrame, { attempt, response }: AnsweredAttempt): void {
  const { run } = call;
  frame.measured = { tokens: response.usage.inputTokens, estimate: attempt.estimate.inputTokens };
  const broken = run.prefixes.note(call.worker.id, attempt.request, response.usage);
  const spoilt = broken === undefined ? [] : [`what the provider had in its cache could not be used: ${broken}`];
  for (const message of [...(response.warnings ?? []), ...spoilt]) run.emit(call, { type: "warning", message });
}

interface FailedAttempt {
  readonly attempt: Attempt;
  readonly error: ModelError;
}

/** Replaces what was reserved by what was spent; `undefined` if nothing is known to be. */
function charge({ pace }: RuntimeConfig, reservation: Reservation | undefined, usage: Usage | undefined): void {
  if (usage) reservation?.commit({ tokens: usage.inputTokens + usage.outputTokens, usd: usage.usd ?? 0 });
  else reservation?.release();
  if (usage && reservation) pace?.spend(usage.usd ?? 0);
}

interface NextAttempt {
  /** From 1. */
  readonly number: number;
  readonly priceOf: PriceOf | undefined;
}

/**
 * An attempt that the limits allow. Where they do not allow the next one, it is the first of the last turn, which gets at once what is
 * released for it: a call beside this one cannot take it. Throws `LimitReached` if they do not allow that, either.
 */
function planAllowed(call: CallConfig, frame: CallFrame, next: NextAttempt): Attempt {
  const attempt = planAttempt(call, frame, next);
  const key = { callPath: call.callPath, key: attempt.key };
  const reached = call.run.effects.decideOnce("limit", key, { decide: () => call.budget.limitFor(attempt.cost) });
  if (!reached) return attempt;
  if (frame.lastTurn) throw new LimitReached(reached);
  announceLastTurn(call, frame, reached);
  return planAllowed(call, frame, { ...next, number: 1 });
}

function planAttempt(call: CallConfig, frame: CallFrame, { number, priceOf }: NextAttempt): Attempt {
  const { cost, maxOutputTokens, bound, inputTokens } = planRequest(call, frame, priceOf);
  return {
    ...{ number, cost, bound },
    key: modelKey(frame.turn + 1, number, frame.lastTurn !== undefined),
    request: buildRequest(call, frame, maxOutputTokens),
    estimate: { inputTokens, priceOf },
    progress: { characters: 0, reported: {}, streak: 0 },
  };
}

function buildRequest(call: CallConfig, frame: CallFrame, allowance: number | undefined): ModelRequest {
  const output = call.worker.output?.jsonSchema;
  const { asked: settings } = splitSettings(call.worker.modelSettings);
  return {
    system: frame.system,
    messages: [...frame.messages],
    tools: offeredTools(call, frame),
    ...serverToolsLeft(call, frame),
    ...(output ? { output } : {}),
    settings: { ...settings, ...(allowance === undefined ? {} : { max_output_tokens: allowance }) },
  };
}

async function waitForRetry(call: CallConfig, frame: CallFrame, { attempt, error }: FailedAttempt): Promise<void> {
  const { run, callPath, worker, signal } = call;
  const { number, progress } = attempt;
  const policy = toRetryPolicy(worker.modelSettings);
  const random = seededFraction(`${run.runId} ${callPath} ${number}`);
  const delay = retryDelay(error, { attempt: number, random, policy });
  if (delay === undefined) throw toRequestFailure(error, call, attempt);
  if (error.code === "rate_limit") run.pace?.delay(delay);
  const afterOutput = progress.characters > 0;
  const facts = { attempt: number, maxAttempts: policy.maxRetries + 1, delayMilliseconds: delay, afterOutput };
  run.emit(call, { type: "retry", ...facts, reason: error.message });
  const next = modelKey(frame.turn + 1, number + 1, frame.lastTurn !== undefined);
  await run.effects.sleep(delay, signal, { callPath, key: next });
}

/** A failure that other requests would meet, too, ends the run; any other one, the call of the worker. */
function toRequestFailure(error: ModelError, call: CallConfig, { number, progress }: Attempt): RunError {
  const { callPath, worker } = call;
  // A script that does not expect a request is a mistake in the script.
  const isConfiguration = error.code === "configuration" || error.code === "unexpected_request";
  const code = error.code === "auth" ? "authentication" : isConfiguration ? "configuration" : "provider";
  const place = { cause: error, callPath };
  const message = `${error.message}${describeSurrender(error, number, toRetryPolicy(worker.modelSettings))}`;
  if (code !== "provider") return new RunError(code, message, place);
  if (progress.streak < longestStreak) return new RequestFailed(message, place);
  return new RunError(code, `${message} (${progress.streak} requests in a row failed so)`, place);
}
