/** Provider requests, their tokens, and dollars. */
export interface Usage {
  readonly requests: number;
  /** Input tokens in total, cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
  /** Input tokens that the provider put into its cache, for which some ask more. Absent: none. */
  readonly cacheWriteTokens?: number;
  /** Tokens of input and output together that the provider did not count and that are estimated. Absent: none. */
  readonly estimatedTokens?: number;
  /** The most tokens that requests took whose outcome was lost, as by a kill. Absent: none. */
  readonly unknownTokens?: number;
  /** The same in dollars, where prices are known. */
  readonly unknownUsd?: number;
  /** The cost of all requests. Absent if the price of one is unknown. */
  readonly usd?: number;
  /** True if something of what was billed has no known price: the cost is at least `usd`. Absent: `usd` is all of it. */
  readonly usdAtLeast?: true;
  /** Dollars that requests would have cost more without the provider's cache; below 0 where writing cost more. Absent: none. */
  readonly savedUsd?: number;
}

export const noUsage: Usage = { requests: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const written = (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0);
  const estimated = (a.estimatedTokens ?? 0) + (b.estimatedTokens ?? 0);
  const saved = addDollars(a.savedUsd, b.savedUsd);
  const unknown = (a.unknownTokens ?? 0) + (b.unknownTokens ?? 0);
  const unknownUsd = addDollars(a.unknownUsd, b.unknownUsd);
  const usd = a.requests === 0 ? b.usd : b.requests === 0 ? a.usd : sum(a.usd, b.usd);
  return {
    requests: a.requests + b.requests,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...(written > 0 ? { cacheWriteTokens: written } : {}),
    ...(estimated > 0 ? { estimatedTokens: estimated } : {}),
    ...(unknown > 0 ? { unknownTokens: unknown } : {}),
    ...(unknownUsd > 0 ? { unknownUsd } : {}),
    ...(usd === undefined ? {} : { usd }),
    ...(usd !== undefined && (a.usdAtLeast || b.usdAtLeast) ? { usdAtLeast: true } : {}),
    ...(saved === 0 ? {} : { savedUsd: saved }),
  };
}

/** The usage of a run, as far as runs are compared by it. */
export interface Taken {
  readonly requests: number;
  /** Input and output together. */
  readonly tokens: number;
  /** Undefined if a price is unknown. */
  readonly usd: number | undefined;
}

export const takenNames = ["requests", "tokens", "usd"] satisfies (keyof Taken)[];

export function takenOf({ requests, inputTokens, outputTokens, usd }: Usage): Taken {
  return { requests, tokens: inputTokens + outputTokens, usd: dollarsOf({ requests, usd }) };
}

/** Dollars; 0 where no model was asked. Undefined if a price is unknown. */
export function dollarsOf({
  requests,
  usd,
}: {
  readonly requests: number;
  readonly usd?: number | undefined;
}): number | undefined {
  return usd ?? (requests === 0 ? 0 : undefined);
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : addDollars(a, b);
}

/** Rounded, so that a sum does not depend on the order in which requests ended. */
function addDollars(a = 0, b = 0): number {
  if (a === 0 && b === 0) return 0;
  return Number((a + b).toFixed(12));
}

/** Accounts of a tree, except `turns`, which counts per call, and `parallel` and `depth`, which are bounds. */
export interface Limits {
  /** Deepest worker call; the entry is 0. */
  readonly depth?: number;
  /** Model responses in one call. */
  readonly turns?: number;
  readonly tool_calls?: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  /** Dollars. The price of every model that draws on it must be known. */
  readonly usd?: number;
  readonly seconds?: number;
  /** Model requests and leaf tools in flight in the whole run. */
  readonly parallel?: number;
}

export type LimitName = keyof Limits;

export const limitNames = ["depth", "turns", "tool_calls", "tokens", "usd", "seconds", "parallel"] satisfies LimitName[];
