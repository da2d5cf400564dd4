import type { AssistantMessage, ToolCallPart } from "../protocol/message.ts";
import { clipText } from "../util/text/clip-text.ts";
import { type AnswerBound, boundReached, describeCut } from "./bounds/answer-bound.ts";
import type { BoundedResponse } from "./model-effect.ts";

/** Outcome of a turn, which decides how the call goes on. */
export type TurnOutcome =
  | { readonly type: "answer" }
  /** Neither text nor a file nor a call. */
  | { readonly type: "empty" }
  /** Tools are asked for in a whole answer. */
  | { readonly type: "calls"; readonly calls: readonly ToolCallPart[] }
  /** The provider wants the answer back as it is, to continue it. */
  | { readonly type: "paused" }
  /** The answer is not known to be whole, and so may be each of its calls: none of them runs. */
  | {
      readonly type: "cut";
      readonly calls: readonly ToolCallPart[];
      readonly bound: AnswerBound;
      readonly reason: string;
      readonly hint: string;
    }
  /** The model refused, or a filter of the provider withheld the answer. */
  | { readonly type: "refused"; readonly reason: string };

/** Characters of a refusal in the error's message. */
const longestRefusal = 1000;

/** Characters of a finish reason in a message. */
const longestFinish = 80;

/** The finish reason decides. `answer`: the text that the response adds up to, with what it continues. */
export function outcomeOf(response: BoundedResponse, answer: string): TurnOutcome {
  const { message, finish, finishReason, usage, bound } = response;
  const calls = message.parts.filter((part) => part.type === "tool-call");
  if (finish === "content-filter") return { type: "refused", reason: describeRefusal(response) };
  if (finish === "length" || finish === "context-window") {
    const facts = { finish, finishReason, outputTokens: usage.estimatedTokens ? undefined : usage.outputTokens };
    const reached = boundReached(bound, facts);
    return { type: "cut", calls, bound: reached, reason: describeCut(reached, facts), hint: "answer in smaller steps" };
  }
  if (finish === "other") return { ...again, calls, reason: describeOther(response) };
  if (calls.length > 0) return { type: "calls", calls };
  if (finish === "paused") return { type: "paused" };
  const isEmpty = answer.trim() === "" && !message.parts.some(({ type }) => type === "file");
  if (isEmpty || finish !== "tool-calls") return { type: isEmpty ? "empty" : "answer" };
  return { ...again, calls, reason: "the answer announces tool calls, and none came" };
}

const again = { type: "cut", bound: { type: "model" }, hint: "answer again" } as const;

function describeOther({ finishReason = "other", refusal }: BoundedResponse): string {
  const said = refusal === undefined ? "" : `: ${clipText(refusal.trim(), longestRefusal)}`;
  return `the provider ended the answer with \`${clipText(finishReason, longestFinish)}\`, which does not say that it is whole${said}`;
}

function describeRefusal({ message, refusal, finishReason }: BoundedResponse): string {
  const said = clipText((refusal ?? textOf(message.parts)).trim(), longestRefusal);
  return `refused to answer${finishReason ? ` (${finishReason})` : ""}${said === "" ? ", without a word" : `: ${said}`}`;
}

export function textOf(parts: AssistantMessage["parts"]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
