import { isRecord } from "../../protocol/json.ts";
import { count, kept, list, object, or, parts, record, text, unread } from "./fit.ts";
import type { AnswerRepair, Body } from "./repair.ts";

const usage = record({
  ...{ inputTokens: or(count, 0), outputTokens: or(count, 0), totalTokens: or(count, 0) },
  ...{ cacheReadInputTokens: count, cacheWriteInputTokens: count },
  cacheDetails: list(record({ inputTokens: count, ttl: text }, ["inputTokens", "ttl"])),
});
const noUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** Facts beside an answer that nothing reads. */
const facts = { metrics: unread, trace: unread, performanceConfig: unread, serviceTier: record({ type: text }, ["type"]) };
const extra = record({ delta: record({ stop_sequence: text }) });

const reasoning = (value: unknown) => {
  const { reasoningText, redactedReasoning, redactedContent } = isRecord(value) ? value : {};
  const given = record({ text, signature: text }, ["text"])(reasoningText);
  if (given) return { reasoningText: given };
  const hidden = record({ data: text }, ["data"])(redactedReasoning);
  return hidden ? { redactedReasoning: hidden } : typeof redactedContent === "string" ? { redactedContent } : undefined;
};

const block = record({
  text: (value) => value ?? undefined,
  reasoningContent: reasoning,
  citationsContent: record({ content: list(record({ text })) }),
});

const body = record({
  output: record({ message: record({ role: or(text, "assistant"), content: parts(block) }) }),
  additionalModelResponseFields: extra,
  usage: or(usage, noUsage),
  stopReason: or(text, ""),
  ...facts,
});

/** Deltas that the library knows; of one that it does not know, nothing is read. */
const deltas: readonly ((delta: Body) => boolean)[] = [
  (delta) => "text" in delta,
  (delta) => "toolUse" in delta,
  ({ citation }) => isRecord(citation),
  ({ reasoningContent: given }) =>
    isRecord(given) && ["text", "signature", "data", "redactedContent"].some((name) => typeof given[name] === "string"),
];

const events: Readonly<Record<string, (data: unknown) => unknown>> = {
  contentBlockDelta: (data) =>
    isRecord(data) && isRecord(data["delta"]) && deltas.some((isKnown) => isKnown(data["delta"] as Body)) ? data : undefined,
  contentBlockStart: record({ start: object }),
  contentBlockStop: kept,
  messageStop: record({ additionalModelResponseFields: extra, stopReason: or(text, "") }),
  metadata: or(record({ usage, ...facts }), {}),
};

export const bedrockRepair: AnswerRepair = {
  inFrames: true,
  body: (whole) => void body(whole),
  events: () => ({
    event(event) {
      const [[type = "", data] = []] = Object.entries(event);
      // Exceptions are the library's to read.
      if (/exception$/i.test(type)) return true;
      const fitted = events[type]?.(data);
      if (fitted === undefined) return false;
      event[type] = fitted;
      return true;
    },
    textOf: () => undefined,
  }),
  asEvents: () => [],
};
