import type { GenerateOptions, Model, ModelRequest, ModelResponse } from "../../src/models/model.ts";
import type { AssistantMessage, FilePart, Message, ToolMessage, UserMessage } from "../../src/protocol/message.ts";
import type { ToolDefinition } from "../../src/protocol/tool.ts";
import { sha256 } from "../../src/util/sha256.ts";

export const readFile: ToolDefinition = {
  name: "read_file",
  description: "Reads a file",
  inputSchema: { type: "object", properties: { path: { type: "string" }, limit: { type: "integer" } }, required: ["path"] },
};

export const listFiles: ToolDefinition = { name: "list_files", description: "Lists files", inputSchema: { type: "object" } };

export function user(text: string, ...files: FilePart[]): UserMessage {
  return { role: "user", parts: [{ type: "text", text }, ...files] };
}

export function file(name: string, mediaType: string, content: string | Uint8Array): FilePart {
  const bytes = Buffer.from(content);
  return { type: "file", name, mediaType, bytes: bytes.length, sha256: sha256(bytes), data: bytes.toString("base64") };
}

/** Answers each call of a message: with its arguments, or with an error where the tool is `fails`. */
export function answerCalls(message: AssistantMessage): ToolMessage {
  const calls = message.parts.filter((part) => part.type === "tool-call");
  return {
    role: "tool",
    parts: calls.map(({ id, name, args }) => ({ type: "tool-result", id, name, result: { ok: true, value: { got: args } } })),
  };
}

export function request(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { system: [], messages, tools: [], settings: {}, ...more };
}

export function options(more: Partial<GenerateOptions> = {}): GenerateOptions {
  return {
    signal: new AbortController().signal,
    call: { worker: "secret_worker", callPath: "secret_worker/7.path", turn: 1 },
    ...more,
  };
}

export interface Generated {
  readonly response: ModelResponse;
  readonly deltas: string;
}

export async function generate(model: Model, asked: ModelRequest, streaming: boolean): Promise<Generated> {
  let deltas = "";
  const onDelta: GenerateOptions["onDelta"] = ({ type, text }) => {
    if (type === "text-delta") deltas += text;
  };
  const response = await model.generate(asked, options(streaming ? { onDelta } : {}));
  return { response, deltas };
}
