import type { Recorded } from "./local-server.ts";

/** What a provider is to answer, free of any wire format. */
export interface Canned {
  readonly text?: string;
  readonly reasoning?: { readonly text: string; readonly signature: string };
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly args: string }[];
  /** The wire's own word for how the answer ended. Default: whole, or with calls. */
  readonly finish?: string;
  /** A refusal in the form of the wire. */
  readonly refusal?: string;
}

/** One wire format: how a test points a model at a server, and what that server sends. */
export interface Dialect {
  readonly name: string;
  readonly model: string;
  variables(url: string): Record<string, string>;
  body(canned: Canned): unknown;
  /** Events of a whole stream, the closing event last. */
  events(canned: Canned): string[];
  error(message: string): unknown;
  /** Tool results in a request, in order. */
  results(request: Recorded): { readonly id: string; readonly content: unknown }[];
}

const usage = { input: 100, output: 20, cached: 40 };

function event(data: unknown, name?: string): string {
  return `${name ? `event: ${name}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** Two halves, as deltas come. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

export const anthropic: Dialect = {
  name: "anthropic",
  model: "anthropic:claude-sonnet-4-5",
  variables: (url) => ({ ANTHROPIC_BASE_URL: `${url}/v1`, ANTHROPIC_BASE_URL_KEY: "test-key-anthropic" }),
  body: (canned) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content: anthropicBlocks(canned),
    ...anthropicEnd(canned),
    usage: { input_tokens: usage.input - usage.cached, output_tokens: usage.output, cache_read_input_tokens: usage.cached },
  }),
  events: anthropicEvents,
  error: (message) => ({ type: "error", error: { type: "some_error", message } }),
  results: ({ body }) =>
    body.messages.flatMap(({ content }: { content: { type: string; tool_use_id: string; content: unknown }[] }) =>
      content.filter(({ type }) => type === "tool_result").map((block) => ({ id: block.tool_use_id, content: block.content })),
    ),
};

function anthropicEnd({ calls, finish, refusal }: Canned) {
  return {
    stop_reason: finish ?? (calls ? "tool_use" : "end_turn"),
    stop_sequence: null,
    ...(refusal ? { stop_details: { type: "refusal", category: "cyber", explanation: refusal } } : {}),
  };
}

function anthropicBlocks({ text, reasoning, calls = [] }: Canned): Record<string, unknown>[] {
  return [
    ...(reasoning ? [{ type: "thinking", thinking: reasoning.text, signature: reasoning.signature }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...calls.map(({ id, tool, args }) => ({ type: "tool_use", id, name: tool, input: JSON.parse(args) })),
  ];
}

function anthropicEvents(canned: Canned): string[] {
  const { text, reasoning, calls = [] } = canned;
  const blocks: { start: unknown; deltas: unknown[] }[] = [];
  if (reasoning) {
    const deltas = halves(reasoning.text).map((thinking) => ({ type: "thinking_delta", thinking }));
    const signature = { type: "signature_delta", signature: reasoning.signature };
    blocks.push({ start: { type: "thinking", thinking: "" }, deltas: [...deltas, signature] });
  }
  if (text)
    blocks.push({ start: { type: "text", text: "" }, deltas: halves(text).map((half) => ({ type: "text_delta", text: half })) });
  for (const { id, tool, args } of calls) {
    const deltas = halves(args).map((partial_json) => ({ type: "input_json_delta", partial_json }));
    blocks.push({ start: { type: "tool_use", id, name: tool, input: {} }, deltas });
  }
  const named = (data: { type: string }) => event(data, data.type);
  const input = { input_tokens: usage.input - usage.cached, output_tokens: 1, cache_read_input_tokens: usage.cached };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-4-5", content: [], usage: input };
  return [
    named({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } } as never),
    ...blocks.flatMap(({ start, deltas }, index) => [
      named({ type: "content_block_start", index, content_block: start } as never),
      ...deltas.map((delta) => named({ type: "content_block_delta", index, delta } as never)),
      named({ type: "content_block_stop", index } as never),
    ]),
    named({
      type: "message_delta",
      delta: anthropicEnd(canned),
      usage: { output_tokens: usage.output },
    } as never),
    named({ type: "message_stop" }),
  ];
}

export const chat: Dialect = {
  name: "openai-compatible",
  model: "openai-compatible:local-model",
  variables: (url) => ({ OPENAI_COMPATIBLE_BASE_URL: `${url}/v1`, OPENAI_COMPATIBLE_BASE_URL_KEY: "test-key-chat" }),
  body: ({ text, reasoning, calls, finish, refusal }) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "local-model",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text ?? null,
          ...(reasoning ? { reasoning_content: reasoning.text } : {}),
          ...(refusal ? { refusal } : {}),
          ...(calls ? { tool_calls: calls.map(({ id, tool, args }) => chatCall(id, tool, args)) } : {}),
        },
        finish_reason: finish ?? (calls ? "tool_calls" : "stop"),
      },
    ],
    usage: chatUsage,
  }),
  events: chatEvents,
  error: (message) => ({ error: { message, type: "some_error", code: null } }),
  results: ({ body }) =>
    body.messages
      .filter(({ role }: { role: string }) => role === "tool")
      .map((message: { tool_call_id: string; content: unknown }) => ({ id: message.tool_call_id, content: message.content })),
};

const chatUsage = {
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: usage.cached },
};

function chatCall(id: string, name: string, args: string) {
  return { id, type: "function", function: { name, arguments: args } };
}

function chatEvents({ text, reasoning, calls, finish, refusal }: Canned): string[] {
  const chunk = (delta: unknown, finish: string | null = null) =>
    event({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "local-model",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  return [
    chunk({ role: "assistant", content: "" }),
    ...halves(reasoning?.text ?? "").map((half) => chunk({ reasoning_content: half })),
    ...halves(text ?? "").map((half) => chunk({ content: half })),
    ...halves(refusal ?? "").map((half) => chunk({ refusal: half })),
    ...(calls ?? []).flatMap(({ id, tool, args }, index) => [
      chunk({ tool_calls: [{ index, ...chatCall(id, tool, "") }] }),
      ...halves(args).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
    ]),
    chunk({}, finish ?? (calls ? "tool_calls" : "stop")),
    event({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "local-model", choices: [], usage: chatUsage }),
    event("[DONE]"),
  ];
}

export const responses: Dialect = {
  name: "openai",
  model: "openai:gpt-5",
  variables: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_BASE_URL_KEY: "test-key-openai" }),
  body: (canned) => responsesBody(responsesItems(canned), canned.finish ? "incomplete" : "completed", canned.finish),
  events: responsesEvents,
  error: (message) => ({ error: { message, type: "some_error", code: null, param: null } }),
  results: ({ body }) =>
    body.input
      .filter(({ type }: { type: string }) => type === "function_call_output")
      .map((item: { call_id: string; output: unknown }) => ({ id: item.call_id, content: item.output })),
};

function responsesBody(output: readonly unknown[], status = "completed", reason?: string) {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status,
    model: "gpt-5",
    output,
    error: null,
    incomplete_details: reason ? { reason } : null,
    usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      total_tokens: 120,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: wire data
function responsesItems({ text, reasoning, calls = [], refusal }: Canned): any[] {
  return [
    ...(reasoning
      ? [
          {
            type: "reasoning",
            id: "rs_1",
            encrypted_content: reasoning.signature,
            summary: [{ type: "summary_text", text: reasoning.text }],
          },
        ]
      : []),
    ...(text || refusal
      ? [
          {
            type: "message",
            id: "msg_1",
            role: "assistant",
            status: "completed",
            content: [refusal ? { type: "refusal", refusal } : { type: "output_text", text, annotations: [] }],
          },
        ]
      : []),
    ...calls.map(({ id, tool, args }) => ({
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name: tool,
      arguments: args,
      status: "completed",
    })),
  ];
}

function responsesEvents(canned: Canned): string[] {
  let sequence = 0;
  const named = (type: string, data: object) => event({ type, sequence_number: sequence++, ...data }, type);
  const items = responsesItems(canned);
  return [
    named("response.created", { response: responsesBody([], "in_progress") }),
    named("response.in_progress", { response: responsesBody([], "in_progress") }),
    ...items.flatMap((item, index) => [
      named("response.output_item.added", { output_index: index, item: emptied(item) }),
      ...itemDeltas(item, index).map(([type, data]) => named(type, { output_index: index, item_id: item.id, ...data })),
      named("response.output_item.done", { output_index: index, item }),
    ]),
    canned.finish
      ? named("response.incomplete", { response: responsesBody(items, "incomplete", canned.finish) })
      : named("response.completed", { response: responsesBody(items) }),
  ];
}

// biome-ignore lint/suspicious/noExplicitAny: wire data
function emptied(item: any) {
  if (item.type === "function_call") return { ...item, arguments: "", status: "in_progress" };
  if (item.type === "message") return { ...item, content: [], status: "in_progress" };
  return { ...item, summary: [] };
}

// biome-ignore lint/suspicious/noExplicitAny: wire data
function itemDeltas(item: any, index: number): [string, object][] {
  if (item.type === "function_call") {
    return [
      ...halves(item.arguments).map((delta): [string, object] => ["response.function_call_arguments.delta", { delta }]),
      ["response.function_call_arguments.done", { arguments: item.arguments }],
    ];
  }
  if (item.type === "message") {
    const [{ text, refusal }] = item.content;
    if (refusal) return halves(refusal).map((delta): [string, object] => ["response.refusal.delta", { content_index: 0, delta }]);
    return [
      ["response.content_part.added", { content_index: 0, part: { type: "output_text", text: "", annotations: [] } }],
      ...halves(text).map((delta): [string, object] => ["response.output_text.delta", { content_index: 0, delta, logprobs: [] }]),
      ["response.output_text.done", { content_index: 0, text, logprobs: [] }],
      ["response.content_part.done", { content_index: 0, part: item.content[0] }],
    ];
  }
  const [{ text }] = item.summary;
  return [
    ["response.reasoning_summary_part.added", { summary_index: 0, part: { type: "summary_text", text: "" } }],
    ...halves(text).map((delta): [string, object] => ["response.reasoning_summary_text.delta", { summary_index: 0, delta }]),
    ["response.reasoning_summary_text.done", { summary_index: 0, text, index }],
    ["response.reasoning_summary_part.done", { summary_index: 0, part: item.summary[0] }],
  ];
}

export const dialects: readonly Dialect[] = [anthropic, responses, chat];
