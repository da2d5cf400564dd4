import { expect } from "vitest";
import { anthropic, responses } from "./dialects.ts";

const calls = [{ id: "call_a", tool: "list_files", args: "{}" }];
const toolCalls = [{ id: "callAbcde", type: "function", function: { name: "list_files", arguments: "{}" } }];

/** A whole answer of chat completions that calls a tool. */
export function chatWith(message: object) {
  const choice = {
    index: 0,
    finish_reason: "tool_calls",
    message: { role: "assistant", content: null, tool_calls: toolCalls, ...message },
  };
  return {
    id: "1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [choice],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** An answer with reasoning and a call, and what the next request must hold. */
export const reasoningRows: readonly (readonly [name: string, answer: object, returned: object])[] = [
  [
    "anthropic",
    anthropic.body({ reasoning: { text: "I look.", signature: "c2ln" }, calls }) as object,
    { messages: [{}, { content: [{ type: "thinking", thinking: "I look.", signature: "c2ln" }, {}] }, {}] },
  ],
  ...["openai-compatible", "openrouter", "ollama", "together", "fireworks"].map(
    (name) =>
      [name, chatWith({ reasoning_content: "I look." }), { messages: [{}, { reasoning_content: "I look." }, {}] }] as const,
  ),
  ["groq", chatWith({ reasoning: "I look." }), { messages: [{}, { reasoning: "I look." }, {}] }],
  ["cerebras", chatWith({ reasoning: "I look." }), { messages: [{}, { reasoning: "I look." }, {}] }],
  ["deepseek", chatWith({ reasoning_content: "I look." }), { messages: [{}, { reasoning_content: "I look." }, {}] }],
  [
    "mistral",
    chatWith({ content: [{ type: "thinking", thinking: [{ type: "text", text: "I look." }] }] }),
    { messages: [{}, { content: [{ type: "thinking", thinking: [{ type: "text", text: "I look." }] }] }, {}] },
  ],
  ...["google", "vertex"].map(
    (name) => [name, googleThought(), { contents: [{}, { parts: [{ thoughtSignature: "c2lnbg==" }] }, {}] }] as const,
  ),
  [
    "bedrock",
    {
      output: {
        message: {
          role: "assistant",
          content: [
            { reasoningContent: { reasoningText: { text: "I look.", signature: "c2ln" } } },
            { toolUse: { toolUseId: "t1", name: "list_files", input: {} } },
          ],
        },
      },
      stopReason: "tool_use",
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
    { messages: [{}, { content: [{ reasoningContent: { reasoningText: { text: "I look.", signature: "c2ln" } } }, {}] }, {}] },
  ],
  ...["openai", "xai", "azure"].map(
    (name) =>
      [
        name,
        encryptedThought(),
        { input: expect.arrayContaining([expect.objectContaining({ type: "reasoning", encrypted_content: "c2lnbmVk" })]) },
      ] as const,
  ),
];

/** xAI sends the state of each item. */
function encryptedThought(): object {
  const body = responses.body({ reasoning: { text: "I look.", signature: "c2lnbmVk" }, calls });
  const { output, ...rest } = body as { readonly output: readonly object[] };
  return { ...rest, output: output.map((item) => ({ ...item, status: "completed" })) };
}

function googleThought() {
  const parts = [{ functionCall: { name: "list_files", args: {} }, thoughtSignature: "c2lnbg==" }];
  return {
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}
