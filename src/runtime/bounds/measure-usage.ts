import type { ReportedUsage } from "../../models/model.ts";
import type { PriceOf } from "../../models/prices.ts";
import type { AssistantMessage } from "../../protocol/message.ts";
import type { Usage } from "../../protocol/usage.ts";
import { lengthOfJson } from "../../util/text/long-texts.ts";

/** Numbers for an estimate where a provider reports nothing. */
export interface UsageEstimate {
  readonly inputTokens: number;
  readonly priceOf: PriceOf | undefined;
}

/** Returns the usage of an answer as the provider reported it. Estimates what it did not report, or reported impossibly. */
export function measureUsage(
  reported: ReportedUsage,
  message: AssistantMessage,
  { inputTokens: estimate, priceOf }: UsageEstimate,
): Usage {
  const [input, output] = [countOf(reported.inputTokens), countOf(reported.outputTokens)];
  const inputTokens = input ?? estimate;
  const outputTokens = output ?? estimateAnswer(message);
  const estimated = (input === undefined ? inputTokens : 0) + (output === undefined ? outputTokens : 0);
  const serverTools = message.parts.flatMap((part) => (part.type === "server-call" ? part.name : []));
  const webSearches = Math.max(serverTools.filter((name) => name === "web_search").length, reported.webSearches ?? 0);
  return complete({ ...reported, inputTokens, outputTokens }, { estimated, webSearches, serverTools, priceOf });
}

/**
 * Returns the usage of a failed attempt: what it had reported, and at least its answer so far, `characters` long.
 * Undefined if neither is known.
 */
export function measureFailure(
  reported: ReportedUsage,
  { inputTokens: estimate, priceOf }: UsageEstimate,
  characters = 0,
): Usage | undefined {
  const [input = 0, output = 0] = [countOf(reported.inputTokens), countOf(reported.outputTokens)];
  if (input === 0 && output === 0 && characters === 0 && reported.usd === undefined) return undefined;
  const inputTokens = characters > 0 && input === 0 ? estimate : input;
  const outputTokens = Math.max(output, Math.ceil(characters / 4));
  const estimated = inputTokens - input + outputTokens - output;
  const { webSearches = 0 } = reported;
  return complete({ ...reported, inputTokens, outputTokens }, { estimated, webSearches, serverTools: [], priceOf });
}

interface Known extends ReportedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

interface Priced {
  readonly estimated: number;
  readonly webSearches: number;
  readonly serverTools: readonly string[];
  readonly priceOf: PriceOf | undefined;
}

/** A cost that the provider reports goes before any price. */
function complete(reported: Known, { estimated, webSearches, serverTools, priceOf }: Priced): Usage {
  const { inputTokens, outputTokens } = reported;
  const cacheWriteTokens = within(reported.cacheWriteTokens, inputTokens);
  const longCacheWriteTokens = within(reported.longCacheWriteTokens, cacheWriteTokens);
  const usage = {
    requests: countOf(reported.requests) ?? 1,
    inputTokens,
    outputTokens,
    cachedInputTokens: within(reported.cachedInputTokens, inputTokens),
    reasoningTokens: within(reported.reasoningTokens, outputTokens),
    ...(cacheWriteTokens > 0 ? { cacheWriteTokens } : {}),
    ...(estimated > 0 ? { estimatedTokens: estimated } : {}),
  };
  const { modalities, serviceTier } = reported;
  const billed = { ...usage, longCacheWriteTokens, webSearches, serverTools, modalities, serviceTier };
  const cost = priceOf?.(billed);
  const isKnown = isAmount(reported.usd);
  const usd = isKnown ? reported.usd : cost?.usd;
  const uncached = cost && priceOf?.({ ...billed, cachedInputTokens: 0, cacheWriteTokens: 0, longCacheWriteTokens: 0 });
  const saved = cost && uncached ? uncached.usd - cost.usd : 0;
  return {
    ...usage,
    ...(usd === undefined ? {} : { usd }),
    ...(cost?.isAtLeast && !isKnown ? { usdAtLeast: true } : {}),
    ...(saved === 0 ? {} : { savedUsd: saved }),
  };
}

/** Four characters for a token, as for the input. Files that the provider made are not written by the model. */
function estimateAnswer({ parts }: AssistantMessage): number {
  const written = parts.map((part) => {
    if (part.type === "text" || part.type === "reasoning") return part.text.length;
    if (part.type !== "tool-call" && part.type !== "server-call") return 0;
    return part.name.length + ("invalidArgs" in part && part.invalidArgs ? part.invalidArgs.length : lengthOfJson(part.args));
  });
  return Math.ceil(written.reduce((sum, length) => sum + length, 0) / 4);
}

function countOf(tokens: number | undefined): number | undefined {
  return isAmount(tokens) ? tokens : undefined;
}

function within(tokens: number | undefined, total: number): number {
  return Math.min(countOf(tokens) ?? 0, total);
}

function isAmount(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value >= 0;
}
