/** What was spent, in tokens and provider requests. */
export interface Usage {
  readonly requests: number;
  /** Input tokens in total, cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
}

export const noUsage: Usage = { requests: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    requests: a.requests + b.requests,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  };
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
  readonly seconds?: number;
  /** Model requests and leaf tools in flight in the whole run. */
  readonly parallel?: number;
}

export type LimitName = keyof Limits;
