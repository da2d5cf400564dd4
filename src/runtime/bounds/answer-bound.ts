import type { LimitName } from "../../protocol/usage.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { describeLimit } from "../run-error.ts";

/** Bounds of the length of one answer. */
export type AnswerBound =
  /** A share of what a limit leaves. */
  | { readonly type: "limit"; readonly tokens: number; readonly limit: LimitName; readonly allowed: number }
  /** The worker's `max_output_tokens`. */
  | { readonly type: "setting"; readonly tokens: number }
  /** The most for one answer where tokens or dollars are limited and the worker sets nothing. */
  | { readonly type: "longest"; readonly tokens: number }
  | { readonly type: "model" };

export interface CutFacts {
  readonly finish: "length" | "context-window";
  /** The provider's word for it. */
  readonly finishReason?: string | undefined;
  /** As the provider counted; undefined if it did not. */
  readonly outputTokens: number | undefined;
}

/** Providers differ by some tokens in what they count; an answer that is much shorter was not cut by our bound. */
const countedShare = 0.9;

/** The bound that an answer was cut at, which is the model's own where ours is not reached. */
export function boundReached(bound: AnswerBound, { finish, outputTokens }: CutFacts): AnswerBound {
  if (finish === "context-window" || bound.type === "model") return { type: "model" };
  return outputTokens !== undefined && outputTokens < bound.tokens * countedShare ? { type: "model" } : bound;
}

/** `the answer reached … tokens`, and what to raise. */
export function describeCut(bound: AnswerBound, { finish, finishReason }: CutFacts): string {
  if (finish === "context-window") return "the model's context window is full; use a model with a larger one, or a smaller task";
  switch (bound.type) {
    case "limit":
      return `the answer reached ${count(bound.tokens)} tokens, its share of ${describeLimit(bound)}`;
    case "setting":
      return `the answer reached \`max_output_tokens\`, which is ${count(bound.tokens)}; raise it, or give a smaller task`;
    case "longest":
      return `the answer reached ${count(bound.tokens)} tokens, the most for one answer where tokens or dollars are limited; set \`max_output_tokens\` to raise it`;
    case "model":
      return `the answer reached the model's own bound (${finishReason ?? "length"}); raise \`max_output_tokens\` as far as the model allows, use a model with a larger context window, or give a smaller task`;
  }
}

function count(tokens: number): string {
  return formatCount(tokens);
}
