import { EventStreamCodec } from "@smithy/eventstream-codec";
import { type Canned, chat, type Dialect, halves, responses } from "./dialects.ts";

/*
 * Providers of the table that speak a protocol of their own, or a known one in a way or at an address of their own. Google and Bedrock have their
 * streams under other paths; Bedrock's is binary.
 */

type CannedCall = NonNullable<Canned["calls"]>[number];

/** A dialect of one of these providers. */
export interface OwnDialect extends Omit<Dialect, "events"> {
  events(canned: Canned): readonly (string | Uint8Array)[];
  readonly reportsCache?: false;
}

function variablesOf(name: string, path = "/v1"): Dialect["variables"] {
  const prefix = `${name.toUpperCase()}_BASE_URL`;
  return (url) => ({ [prefix]: `${url}${path}`, [`${prefix}_KEY`]: `test-key-${name}` });
}

const googleUsage = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120, cachedContentTokenCount: 40 };

function googleBody({ text, calls = [] }: Canned) {
  const parts = [
    ...(text ? [{ text }] : []),
    ...calls.map(({ id, tool, args }) => ({
      functionCall: { id, name: tool, args: JSON.parse(args) },
      thoughtSignature: "c2lnbg==",
    })),
  ];
  return { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }], usageMetadata: googleUsage };
}

// biome-ignore lint/suspicious/noExplicitAny: wire data
function partsOf(body: any, key: string): any[] {
  return body.contents.flatMap(({ parts }: { parts: object[] }) => parts.filter((part) => key in part));
}

const google: OwnDialect = {
  name: "google",
  model: "google:gemini-2.5-pro",
  variables: variablesOf("google", "/v1beta"),
  body: googleBody,
  events: (canned) => [`data: ${JSON.stringify(googleBody(canned))}\n\n`],
  error: (message) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }),
  results: ({ body }) =>
    partsOf(body, "functionResponse").map(({ functionResponse: { id, response } }) => ({ id, content: response })),
};

const frames = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
  (text) => Buffer.from(text),
);

function frame(type: string, data: object): Uint8Array {
  const headers = {
    ":message-type": { type: "string", value: "event" },
    ":event-type": { type: "string", value: type },
    ":content-type": { type: "string", value: "application/json" },
  } as const;
  return frames.encode({ headers, body: Buffer.from(JSON.stringify(data)) });
}

const bedrockUsage = { inputTokens: 60, outputTokens: 20, totalTokens: 120, cacheReadInputTokens: 40 };

function bedrockEvents({ text, calls = [] }: Canned): Uint8Array[] {
  const block = (contentBlockIndex: number, start: object | undefined, deltas: readonly object[]) => [
    ...(start ? [frame("contentBlockStart", { contentBlockIndex, start })] : []),
    ...deltas.map((delta) => frame("contentBlockDelta", { contentBlockIndex, delta })),
    frame("contentBlockStop", { contentBlockIndex }),
  ];
  const written = text ? 1 : 0;
  return [
    frame("messageStart", { role: "assistant" }),
    ...(text
      ? block(
          0,
          undefined,
          halves(text).map((half) => ({ text: half })),
        )
      : []),
    ...calls.flatMap(({ id, tool, args }, index) =>
      block(
        written + index,
        { toolUse: { toolUseId: id, name: tool } },
        halves(args).map((input) => ({ toolUse: { input } })),
      ),
    ),
    frame("messageStop", { stopReason: calls.length > 0 ? "tool_use" : "end_turn" }),
    frame("metadata", { usage: bedrockUsage, metrics: { latencyMs: 1 } }),
  ];
}

export const bedrock: OwnDialect = {
  name: "bedrock",
  model: "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
  variables: variablesOf("bedrock", ""),
  body: ({ text, calls = [] }) => ({
    output: {
      message: {
        role: "assistant",
        content: [
          ...(text ? [{ text }] : []),
          ...calls.map(({ id, tool, args }) => ({ toolUse: { toolUseId: id, name: tool, input: JSON.parse(args) } })),
        ],
      },
    },
    stopReason: calls.length > 0 ? "tool_use" : "end_turn",
    usage: bedrockUsage,
  }),
  events: bedrockEvents,
  error: (message) => ({ message }),
  results: ({ body }) =>
    body.messages.flatMap(({ content }: { content: { toolResult?: { toolUseId: string; content: unknown } }[] }) =>
      content.flatMap(({ toolResult }) => (toolResult ? [{ id: toolResult.toolUseId, content: toolResult.content }] : [])),
    ),
};

const cohereUsage = { tokens: { input_tokens: 100, output_tokens: 20 } };

function cohereCall({ id, tool, args }: CannedCall) {
  return { id, type: "function", function: { name: tool, arguments: args } };
}

function cohereBody({ text, calls: made }: Canned) {
  const tools = made ? { tool_plan: text, tool_calls: made.map(cohereCall) } : {};
  return {
    generation_id: "1",
    message: { role: "assistant", content: made ? [] : [{ type: "text", text }], ...tools },
    finish_reason: made ? "TOOL_CALL" : "COMPLETE",
    usage: cohereUsage,
  };
}

function cohereEvents({ text, calls: made }: Canned): string[] {
  const written = [
    { type: "content-start", index: 0, delta: { message: { content: { type: "text", text: "" } } } },
    { type: "content-delta", index: 0, delta: { message: { content: { text } } } },
    { type: "content-end", index: 0 },
  ];
  const called = (made ?? []).flatMap((call) => {
    const { function: named, ...whole } = cohereCall(call);
    const start = { ...whole, function: { ...named, arguments: "" } };
    return [
      { type: "tool-call-start", delta: { message: { tool_calls: start } } },
      { type: "tool-call-delta", delta: { message: { tool_calls: { function: { arguments: named.arguments } } } } },
      { type: "tool-call-end" },
    ];
  });
  const events = [
    { type: "message-start", id: "1" },
    ...(made ? called : written),
    { type: "message-end", delta: { finish_reason: made ? "TOOL_CALL" : "COMPLETE", usage: cohereUsage } },
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
}

export const cohere: OwnDialect = {
  name: "cohere",
  model: "cohere:command-a-03-2025",
  reportsCache: false,
  variables: variablesOf("cohere", "/v2"),
  body: cohereBody,
  events: cohereEvents,
  error: (message) => ({ message }),
  results: chat.results,
};

/** It sends the state of each item, and reports an answer with calls as it does any other. */
const xai: OwnDialect = {
  ...responses,
  name: "xai",
  model: "xai:grok-4",
  variables: variablesOf("xai"),
};

const chatUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const cachedOfChat = { ...chatUsage, prompt_tokens_details: { cached_tokens: 40 } };

/** Chat completions whose usage has members of its own, and comes with the last choice of a stream and not after it. */
function withUsage(usage: object, inStream: object = { usage }): Pick<Dialect, "body" | "events"> {
  return {
    body: (canned) => ({ ...(chat.body(canned) as object), usage }),
    events: (canned) => {
      const [done = "", , finish = "", ...before] = chat.events(canned).toReversed();
      const last = { ...JSON.parse(finish.slice("data: ".length)), ...inStream };
      return [...before.toReversed(), `data: ${JSON.stringify(last)}\n\n`, done];
    },
  };
}

/** Searches for each answer, and reports what that cost. */
const perplexity: OwnDialect = likeChat("perplexity", "sonar", {
  reportsCache: false,
  ...withUsage({ ...chatUsage, num_search_queries: 1, cost: { request_cost: 0.005, total_cost: 0.0053 } }),
});

/** A provider that speaks chat completions through a package of its own. */
function likeChat(name: string, model: string, more: Partial<OwnDialect>): OwnDialect {
  return { ...chat, name, model: `${name}:${model}`, variables: variablesOf(name), ...more };
}

export const ownDialects: readonly OwnDialect[] = [
  google,
  {
    ...{ ...google, name: "vertex", model: "vertex:gemini-2.5-pro", variables: variablesOf("vertex") },
    // It knows calls by their order alone.
    results: (request) => google.results(request).map(({ content }, index) => ({ id: `call_${index}`, content })),
  },
  bedrock,
  cohere,
  xai,
  { ...responses, name: "azure", model: "azure:gpt-5", variables: variablesOf("azure") },
  likeChat("mistral", "mistral-large-latest", { ...withUsage({ ...chatUsage, num_cached_tokens: 40 }) }),
  likeChat("groq", "openai/gpt-oss-120b", {
    ...withUsage(cachedOfChat, { x_groq: { id: "req_1", usage: cachedOfChat } }),
  }),
  likeChat("deepseek", "deepseek-chat", withUsage({ ...chatUsage, prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 })),
  perplexity,
  likeChat("openrouter", "acme/m", {}),
  likeChat("ollama", "llama3", {}),
  likeChat("together", "m", {}),
  likeChat("fireworks", "m", {}),
  likeChat("cerebras", "m", {}),
];
