import { EventStreamCodec } from "@smithy/eventstream-codec";

/*
 * Answers with the members that their providers send beside the answer: counts, ratings, citations, traces. Each says the same: the
 * text "It is 21 degrees." and a call of `read_file`, where the wire can hold both.
 */

type Json = Record<string, unknown>;

/** Full answers of one wire format. */
export interface FullAnswer {
  readonly body: Json;
  readonly events: readonly Json[];
  readonly encode: (events: readonly Json[]) => readonly (string | Uint8Array)[];
  /** Paths of members that are the answer itself: without them there is none. Numbers stand as `#`. */
  readonly essential: RegExp;
  readonly essentialInStream: RegExp;
  readonly texts: string;
}

const text = "It is 21 degrees.";
const args = '{"path":"a.txt"}';
const lines = (events: readonly Json[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`);

const chatUsage = {
  ...{ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, queue_time: 0.1, num_sources_used: 0 },
  prompt_tokens_details: { cached_tokens: 40, audio_tokens: 0, text_tokens: 60, cache_write_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 5,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
  cost: { total_cost: 0.01, request_cost: 0.005 },
};
const chatHead = {
  id: "c1",
  created: 1,
  model: "m",
  system_fingerprint: "fp",
  service_tier: "default",
  provider: "Some",
  x_groq: { id: "r1" },
};
const citations = {
  citations: ["https://a.example"],
  search_results: [{ title: "A", url: "https://a.example", date: null }],
  images: [],
};
const annotations = [
  { type: "url_citation", url_citation: { url: "https://a.example", title: "A", start_index: 0, end_index: 3, content: "x" } },
];
const logprobs = { content: [{ token: "It", logprob: -0.1, bytes: [73], top_logprobs: [] }], refusal: null };
const chatCall = { id: "call_1", index: 0, type: "function", function: { name: "read_file", arguments: args } };
const chatSay = {
  role: "assistant",
  content: text,
  annotations,
  refusal: null,
  audio: null,
  reasoning_content: "Hm.",
  executed_tools: [],
};
const chatChoice = { index: 0, logprobs, matched_stop: null, native_finish_reason: "stop", content_filter_results: {} };

export const fullChat: FullAnswer = {
  texts: text,
  body: {
    ...{ ...chatHead, ...citations, object: "chat.completion", usage: chatUsage },
    choices: [{ ...chatChoice, message: { ...chatSay, tool_calls: [chatCall] }, finish_reason: "tool_calls" }],
  },
  events: [
    { ...chatHead, object: "chat.completion.chunk", choices: [{ ...chatChoice, delta: chatSay, finish_reason: null }] },
    { ...chatHead, choices: [{ ...chatChoice, delta: { role: "assistant", content: null, tool_calls: [chatCall] } }] },
    { ...chatHead, ...citations, choices: [{ ...chatChoice, delta: {}, finish_reason: "tool_calls" }], usage: chatUsage },
    { ...chatHead, choices: [], usage: chatUsage },
  ],
  encode: (events) => [...lines(events), "data: [DONE]\n\n"],
  essential:
    /^choices(\.#(\.finish_reason|\.message(\.content|\.refusal|\.tool_calls(\.[#+](\.function(\.name|\.arguments)?)?)?)?)?)?$/,
  essentialInStream:
    /^#(\.choices(\.#(\.(delta|finish_reason|index)(\.content|\.refusal|\.tool_calls(\.#(\.index|\.id|\.function(\.name|\.arguments)?)?)?)?)?)?)?$/,
};

/** The same without the call. */
export const fullSearch: FullAnswer = {
  ...fullChat,
  body: { ...fullChat.body, choices: [{ ...chatChoice, message: chatSay, finish_reason: "stop" }] },
  events: fullChat.events.toSpliced(1, 1),
};

const messagesUsage = {
  ...{
    input_tokens: 60,
    output_tokens: 20,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: 0,
    service_tier: "standard",
  },
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
  iterations: [
    { type: "message", input_tokens: 60, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  ],
  inference_geo: "us",
};
const location = {
  type: "web_search_result_location",
  url: "https://a.example",
  title: "A",
  encrypted_index: "x",
  cited_text: "21",
};
const found = { type: "web_search_result", url: "https://a.example", title: "A", encrypted_content: "x", page_age: "1 day" };
const searchCall = { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } };
const searchResult = { type: "web_search_tool_result", tool_use_id: "s1", content: [found] };
const thinking = { type: "thinking", thinking: "Hm.", signature: "sig" };
const messagesHead = {
  id: "m1",
  type: "message",
  role: "assistant",
  model: "m",
  container: null,
  context_management: { applied_edits: [] },
};
const messagesEnd = { stop_reason: "tool_use", stop_sequence: null, stop_details: null };
const toolUse = { type: "tool_use", id: "call_1", name: "read_file", input: { path: "a.txt" } };
const block = (index: number, content_block: Json, ...deltas: Json[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

export const fullMessages: FullAnswer = {
  texts: text,
  body: {
    ...{ ...messagesHead, ...messagesEnd, usage: messagesUsage },
    content: [thinking, searchCall, searchResult, { type: "text", text, citations: [location] }, toolUse],
  },
  events: [
    {
      type: "message_start",
      message: { ...messagesHead, content: [], stop_reason: null, stop_sequence: null, usage: messagesUsage },
    },
    { type: "ping" },
    ...block(0, { type: "text", text: "" }, { type: "text_delta", text }, { type: "citations_delta", citation: location }),
    ...block(1, { ...toolUse, input: {} }, { type: "input_json_delta", partial_json: args }),
    { type: "message_delta", delta: messagesEnd, usage: messagesUsage, context_management: { applied_edits: [] } },
    { type: "message_stop" },
  ],
  encode: lines,
  essential: /^(type|stop_reason|content(\.#(\.(type|text|id|name|input(\..*)?))?)?)$/,
  essentialInStream:
    /^#(\.(type|index|delta(\.(type|text|partial_json|stop_reason))?|content_block(\.(type|id|name|text|input(\..*)?))?))?$/,
};

const responsesUsage = {
  ...{ input_tokens: 100, output_tokens: 20, total_tokens: 120 },
  input_tokens_details: { cached_tokens: 40, cache_write_tokens: 0, text_tokens: 60 },
  output_tokens_details: { reasoning_tokens: 5 },
  num_server_side_tools_used: 1,
};
const annotation = { type: "url_citation", url: "https://a.example", title: "A", start_index: 0, end_index: 3 };
const outputText = {
  type: "output_text",
  text,
  annotations: [annotation],
  logprobs: [{ token: "It", logprob: -0.1, top_logprobs: [], bytes: [] }],
};
const responsesItems = [
  {
    type: "reasoning",
    id: "rs_1",
    encrypted_content: "x",
    summary: [{ type: "summary_text", text: "Hm." }],
    content: null,
    status: null,
  },
  {
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "q", sources: [{ type: "url", url: "https://a.example" }] },
  },
  { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [outputText], phase: null },
  { type: "function_call", id: "fc_1", call_id: "call_1", name: "read_file", arguments: args, status: "completed" },
];
const responsesHead = {
  ...{ id: "resp_1", object: "response", created_at: 1, completed_at: 2, model: "m", error: null, incomplete_details: null },
  ...{
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    user: null,
  },
  ...{ reasoning: { effort: "low", summary: null }, text: { format: { type: "text" } }, service_tier: "default", store: false },
};
const responsesWhole = { ...responsesHead, status: "completed", output: responsesItems, usage: responsesUsage };

export const fullResponses: FullAnswer = {
  texts: text,
  body: responsesWhole,
  events: [
    {
      type: "response.created",
      sequence_number: 0,
      response: { ...responsesHead, status: "in_progress", output: [], usage: null },
    },
    { type: "response.output_item.added", output_index: 0, item: { ...responsesItems[2], content: [], status: "in_progress" } },
    {
      type: "response.content_part.added",
      output_index: 0,
      item_id: "msg_1",
      content_index: 0,
      part: { ...outputText, text: "" },
    },
    { type: "response.output_text.delta", output_index: 0, item_id: "msg_1", content_index: 0, delta: text, logprobs: [] },
    {
      type: "response.output_text.annotation.added",
      output_index: 0,
      item_id: "msg_1",
      content_index: 0,
      annotation_index: 0,
      annotation,
    },
    { type: "response.output_item.done", output_index: 0, item: responsesItems[2] },
    { type: "response.output_item.added", output_index: 1, item: { ...responsesItems[3], arguments: "", status: "in_progress" } },
    { type: "response.function_call_arguments.delta", output_index: 1, item_id: "fc_1", delta: args },
    { type: "response.output_item.done", output_index: 1, item: responsesItems[3] },
    {
      type: "response.completed",
      sequence_number: 9,
      response: { ...responsesWhole, output: [responsesItems[2], responsesItems[3]] },
    },
  ].map((event, sequence_number) => ({ ...event, sequence_number })),
  encode: lines,
  essential: /^(error|output(\.#(\.(type|call_id|name|arguments|content(\.#(\.(type|text))?)?))?)?)$/,
  essentialInStream:
    /^#(\.(type|output_index|item_id|delta|item(\.(type|id|call_id|name|arguments|content(\.#(\.(type|text))?)?))?|response(\.output(\.#(\.(type|call_id|name|arguments|content(\.#(\.(type|text))?)?))?)?)?))?$/,
};

const rating = {
  category: "HARM_CATEGORY_HARASSMENT",
  probability: "NEGLIGIBLE",
  probabilityScore: 0.1,
  severity: "HARM_SEVERITY_NEGLIGIBLE",
  severityScore: 0.1,
  blocked: false,
};
const grounding = {
  webSearchQueries: ["q"],
  searchEntryPoint: { renderedContent: "<div>", sdkBlob: "x" },
  groundingChunks: [
    { web: { uri: "https://a.example", title: "A", domain: "a.example" } },
    {
      retrievedContext: {
        uri: "u",
        title: "t",
        text: "x",
        ragChunk: { text: "x" },
        customMetadata: [{ key: "k", stringValue: "v" }],
      },
    },
    { maps: { uri: "u", title: "t", placeId: "p" } },
  ],
  groundingSupports: [
    { segment: { partIndex: 0, startIndex: 0, endIndex: 3, text: "It" }, groundingChunkIndices: [0], confidenceScores: [0.9] },
  ],
  retrievalMetadata: { webDynamicRetrievalScore: 0.5 },
};
const details = (tokenCount: number) => [{ modality: "TEXT", tokenCount }];
const googleUsage = {
  ...{
    promptTokenCount: 100,
    candidatesTokenCount: 20,
    totalTokenCount: 125,
    cachedContentTokenCount: 40,
    thoughtsTokenCount: 5,
  },
  ...{ toolUsePromptTokenCount: 0, trafficType: "ON_DEMAND", serviceTier: "standard", promptTokensDetails: details(100) },
  ...{ cacheTokensDetails: details(40), candidatesTokensDetails: details(20), toolUsePromptTokensDetails: [] },
};
const googleHead = { modelVersion: "m", responseId: "r", createTime: "2026-01-01T00:00:00Z" };
const googleParts = [
  { text: "Hm.", thought: true },
  { text, thoughtSignature: "c2lnbg==" },
  { functionCall: { id: "call_1", name: "read_file", args: { path: "a.txt" } }, thoughtSignature: "c2lnbg==" },
];
const candidate = {
  ...{ finishReason: "STOP", finishMessage: "", index: 0, avgLogprobs: -0.1, tokenCount: 20, safetyRatings: [rating] },
  citationMetadata: { citations: [{ startIndex: 0, endIndex: 3, uri: "https://a.example", license: "" }] },
  groundingMetadata: grounding,
  urlContextMetadata: {
    urlMetadata: [{ retrievedUrl: "https://a.example", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" }],
  },
};
const feedback = { safetyRatings: [rating] };

export const fullGoogle: FullAnswer = {
  texts: text,
  body: {
    ...googleHead,
    candidates: [{ ...candidate, content: { role: "model", parts: googleParts } }],
    usageMetadata: googleUsage,
    promptFeedback: feedback,
  },
  events: [
    {
      ...googleHead,
      candidates: [{ index: 0, safetyRatings: [rating], content: { role: "model", parts: googleParts.slice(0, 2) } }],
      usageMetadata: googleUsage,
      promptFeedback: feedback,
    },
    {
      ...googleHead,
      candidates: [{ ...candidate, content: { role: "model", parts: googleParts.slice(2) } }],
      usageMetadata: googleUsage,
    },
  ],
  encode: lines,
  essential:
    /^candidates(\.#(\.finishReason|\.content(\.parts(\.#(\.text|\.thought|\.functionCall(\.name|\.args(\..*)?)?)?)?)?)?)?$/,
  essentialInStream:
    /^#(\.candidates(\.#(\.finishReason|\.content(\.parts(\.#(\.text|\.thought|\.functionCall(\.name|\.args(\..*)?)?)?)?)?)?)?)?$/,
};

const frames = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
  (said) => Buffer.from(said),
);

export function bedrockFrame(type: string, data: unknown, messageType = "event"): Uint8Array {
  const string = (value: string) => ({ type: "string", value }) as const;
  const kind = messageType === "event" ? ":event-type" : ":exception-type";
  const headers = { ":message-type": string(messageType), [kind]: string(type), ":content-type": string("application/json") };
  return frames.encode({ headers, body: Buffer.from(JSON.stringify(data)) });
}

const bedrockUsage = {
  ...{ inputTokens: 60, outputTokens: 20, totalTokens: 120, cacheReadInputTokens: 40, cacheWriteInputTokens: 0 },
  cacheDetails: [{ inputTokens: 40, ttl: "5m" }],
  serverToolUsage: { webSearchRequests: 0 },
};
const bedrockEnd = { additionalModelResponseFields: { delta: { stop_sequence: null } } };
const bedrockFacts = {
  metrics: { latencyMs: 10 },
  trace: { guardrail: {} },
  performanceConfig: { latency: "standard" },
  serviceTier: { type: "default" },
};
const cited = {
  citationsContent: { content: [{ text: "" }], citations: [{ title: "A", location: { documentChar: { documentIndex: 0 } } }] },
};

export const fullBedrock: FullAnswer = {
  texts: text,
  body: {
    output: {
      message: {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } },
          { text },
          cited,
          { toolUse: { toolUseId: "call_1", name: "read_file", input: { path: "a.txt" } } },
        ],
      },
    },
    ...{ ...bedrockEnd, ...bedrockFacts, stopReason: "tool_use", usage: bedrockUsage },
  },
  events: [
    { messageStart: { role: "assistant", p: "abc" } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text }, p: "abc" } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { citation: { title: "A", location: {} } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: "call_1", name: "read_file" } } } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: args } } } },
    { contentBlockStop: { contentBlockIndex: 1 } },
    { messageStop: { stopReason: "tool_use", ...bedrockEnd } },
    { metadata: { ...bedrockFacts, usage: bedrockUsage } },
  ],
  encode: (events) => events.flatMap((event) => Object.entries(event ?? {}).map(([type, data]) => bedrockFrame(type, data))),
  essential: /^output(\.message(\.content(\.#(\.text|\.toolUse(\.name|\.toolUseId|\.input(\..*)?)?)?)?)?)?$/,
  essentialInStream:
    /^#(\.(contentBlockDelta|contentBlockStart|contentBlockStop|messageStop)(\.(contentBlockIndex|stopReason|delta(\.(text|toolUse(\.input)?))?|start(\.toolUse(\.name|\.toolUseId)?)?))?)?$/,
};

const cohereUsage = {
  billed_units: { input_tokens: 100, output_tokens: 20, search_units: 0, classifications: 0 },
  tokens: { input_tokens: 100, output_tokens: 20 },
  cached_tokens: 40,
};
const citation = (source: Json) => ({ start: 6, end: 8, text: "21", sources: [source], type: "TEXT_CONTENT", content_index: 0 });
const cohereCitations = [
  citation({ type: "tool", id: "t:0", tool_output: { t: "21" } }),
  citation({ type: "document", id: "d:0", document: { id: "d", text: "21" } }),
  citation({ type: "document", id: "d:1", document: { id: "d", text: "21", title: "A" } }),
];
const cohereCall = { id: "call_1", type: "function", function: { name: "read_file", arguments: args } };
const content = (said: Json, more: Json = {}) => ({ ...more, delta: { message: { content: said } } });

export const fullCohere: FullAnswer = {
  texts: text,
  body: {
    ...{
      id: "x",
      generation_id: "g",
      finish_reason: "COMPLETE",
      usage: cohereUsage,
      logprobs: [{ text: "It", token_ids: [1], logprobs: [-0.1] }],
    },
    message: {
      ...{ role: "assistant", tool_plan: null, citations: cohereCitations },
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text },
      ],
    },
  },
  events: [
    {
      type: "message-start",
      id: "x",
      delta: { message: { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] } },
    },
    { type: "content-start", index: 0, ...content({ type: "text", text: "" }) },
    { type: "content-delta", index: 0, ...content({ text }), logprobs: { text: "It", token_ids: [1] } },
    { type: "citation-start", index: 0, delta: { message: { citations: cohereCitations[0] } } },
    { type: "citation-end", index: 0 },
    { type: "content-end", index: 0 },
    { type: "tool-plan-delta", delta: { message: { tool_plan: "I look." } } },
    {
      type: "tool-call-start",
      index: 0,
      delta: { message: { tool_calls: { ...cohereCall, function: { ...cohereCall.function, arguments: "" } } } },
    },
    { type: "tool-call-delta", index: 0, delta: { message: { tool_calls: { function: { arguments: args } } } } },
    { type: "tool-call-end", index: 0 },
    { type: "message-end", id: "x", delta: { finish_reason: "TOOL_CALL", usage: cohereUsage, error: null } },
  ],
  encode: lines,
  essential: /^(finish_reason|message(\.content(\.#(\.type|\.text)?)?)?)$/,
  essentialInStream:
    /^#(\.(type|index|delta(\.finish_reason|\.message(\.tool_plan|\.content(\.type|\.text)?|\.tool_calls(\.id|\.function(\.name|\.arguments)?)?)?)?))?$/,
};
