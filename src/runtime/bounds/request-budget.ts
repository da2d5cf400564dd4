import type { PriceOf } from "../../models/prices.ts";
import type { CallConfig, CallFrame } from "../config.ts";
import { serverToolsLeft } from "../connect/server-tools-left.ts";
import { RunError } from "../run-error.ts";
import type { AnswerBound } from "./answer-bound.ts";
import type { Amount } from "./budget.ts";
import { estimateTokens } from "./estimate-tokens.ts";

/** Tokens of one answer under a limit of tokens or dollars; more, and some models refuse the request. */
export const longestAnswer = 16_384;

/** Tokens that the answer of the last turn gets, where a tenth of what there is comes to as much. */
const lastAnswer = 1024;

export interface RequestPlan {
  /** Estimated tokens of the request's input. */
  readonly inputTokens: number;
  /** At most this is spent where the provider keeps to its bounds and the estimate holds. */
  readonly cost: Amount;
  /** Undefined: nothing bounds it but the worker's own settings. */
  readonly maxOutputTokens: number | undefined;
  readonly bound: AnswerBound;
}

/** The price of the call's model. Throws a `RunError` if dollars are limited and it is not known. */
export async function priceOfCall({ run, worker, model, budget, callPath }: CallConfig): Promise<PriceOf | undefined> {
  const id = worker.model?.id ?? model.id;
  const priceOf = await run.priceOf(id);
  if (priceOf || budget.left().usd === undefined) return priceOf;
  throw new RunError("configuration", `no price is known for \`${id}\`, and dollars are limited`, { callPath });
}

/**
 * Returns the bounds of the next request: an answer gets half of what is left, so that requests beside this one get something too,
 * and all of it where it is the last of the entry, which nothing runs beside.
 */
export function planRequest(call: CallConfig, frame: CallFrame, priceOf: PriceOf | undefined): RequestPlan {
  const inputTokens = estimateTokens(call, frame);
  const searches = serverToolsLeft(call, frame).serverTools?.find(({ type }) => type === "web_search")?.max_uses ?? 0;
  const costOf = createCostOf({ frame, inputTokens, priceOf, searches });
  const { tokens, usd } = call.budget.left();
  const setting = call.worker.modelSettings.max_output_tokens;
  if (tokens === undefined && usd === undefined) {
    const bound: AnswerBound = setting === undefined ? { type: "model" } : { type: "setting", tokens: setting };
    return { cost: { tokens: inputTokens, usd: costOf(0) }, maxOutputTokens: undefined, bound, inputTokens };
  }
  const among = frame.lastTurn && call.depth === 0 ? 1 : 2;
  const byTokens = tokens === undefined ? Number.POSITIVE_INFINITY : (tokens - inputTokens) / among;
  const byUsd = usd === undefined ? Number.POSITIVE_INFINITY : affordable((usd - costOf(0)) / among, costOf);
  const share = Math.max(1, Math.floor(Math.min(byTokens, byUsd)));
  const maxOutputTokens = Math.min(setting ?? longestAnswer, share);
  const limit = call.budget.strictest(byTokens <= byUsd ? "tokens" : "usd");
  const bound: AnswerBound =
    limit && maxOutputTokens === share
      ? { type: "limit", tokens: share, ...limit }
      : { type: setting === undefined ? "longest" : "setting", tokens: maxOutputTokens };
  return {
    cost: { tokens: inputTokens + maxOutputTokens, usd: costOf(maxOutputTokens) },
    maxOutputTokens,
    bound,
    inputTokens,
  };
}

/** Returns the tokens of a last turn now: the conversation once more, and an answer. Its searches are among those of the request before it. Undefined if nothing limits it. */
export function planLastTurn(call: CallConfig, frame: CallFrame, priceOf: PriceOf | undefined): Amount | undefined {
  const { tokens, usd } = call.budget.left();
  if (tokens === undefined && usd === undefined) return undefined;
  const inputTokens = estimateTokens(call, frame);
  const costOf = createCostOf({ frame, inputTokens, priceOf, searches: 0 });
  const byTokens = tokens === undefined ? lastAnswer : tokens / 10;
  const byUsd = usd === undefined ? lastAnswer : affordable(usd / 10, costOf);
  frame.lastAnswerTokens ??= Math.max(0, Math.floor(Math.min(lastAnswer, byTokens, byUsd)));
  return { tokens: inputTokens + frame.lastAnswerTokens, usd: costOf(frame.lastAnswerTokens) };
}

interface Costed {
  readonly frame: CallFrame;
  readonly inputTokens: number;
  readonly priceOf: PriceOf | undefined;
  /** The most searches that the provider may make. */
  readonly searches: number;
}

/** The most that a request with so many tokens of answer can cost: tokens at the price of pictures and sounds, and all searches. */
function createCostOf({ frame, inputTokens, priceOf, searches: webSearches }: Costed): (outputTokens: number) => number {
  const hasSound = frame.messages.some(
    ({ role, parts }) => role === "user" && parts.some((part) => part.type === "file" && part.mediaType.startsWith("audio/")),
  );
  return (outputTokens) => {
    const modalities = { imageOutput: outputTokens, ...(hasSound ? { audioInput: inputTokens } : {}) };
    return priceOf?.({ inputTokens, outputTokens, cachedInputTokens: 0, webSearches, modalities }).usd ?? 0;
  };
}

/** How many tokens of answer these dollars buy. */
function affordable(usd: number, costOf: (outputTokens: number) => number): number {
  const ofThousand = costOf(1000) - costOf(0);
  return ofThousand > 0 ? (usd / ofThousand) * 1000 : Number.POSITIVE_INFINITY;
}
