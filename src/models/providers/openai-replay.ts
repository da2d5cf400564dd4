import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { isRecord } from "../../protocol/json.ts";
import { sha256 } from "../../util/sha256.ts";

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/**
 * Sends OpenAI the code it ran and the pictures it made back with the conversation. Its library leaves them out where nothing
 * is stored at the provider, and a model that thinks does not take a thought whose consequence is missing. Each of them goes
 * through the library as a text under a mark that only who has the key can write, and becomes the item again in the request.
 */
export function createReplay(fetch: typeof globalThis.fetch, key: string) {
  const mark = `⟦${sha256(`replay ${key}`)}⟧`;
  return {
    fetch: ((input, init) => fetch(input, withItems(init, mark))) as typeof globalThis.fetch,
    wrap: (model: LanguageModelV4): LanguageModelV4 => ({
      specificationVersion: "v4",
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: (options) => model.doGenerate(withMarks(options, mark)),
      doStream: (options) => model.doStream(withMarks(options, mark)),
    }),
  };
}

function withMarks(options: LanguageModelV4CallOptions, mark: string): LanguageModelV4CallOptions {
  const prompt = options.prompt.map((message) =>
    message.role === "assistant" ? { ...message, content: markItems(message.content, mark) } : message,
  );
  return { ...options, prompt };
}

function markItems(content: AssistantContent, mark: string): AssistantContent {
  return content.flatMap((part): AssistantContent => {
    if (part.type === "tool-result" && isReplayed(part.toolName)) return [];
    if (part.type !== "tool-call" || !part.providerExecuted || !isReplayed(part.toolName)) return [part];
    const result = content.find((other) => other.type === "tool-result" && other.toolCallId === part.toolCallId);
    const output = result?.type === "tool-result" && "value" in result.output ? result.output.value : undefined;
    const item = toItem(part, isRecord(output) ? output : {});
    return [{ type: "text", text: mark + JSON.stringify(item) }];
  });
}

function isReplayed(tool: string): boolean {
  return tool === "code_execution" || tool === "image_generation";
}

function toItem(
  { toolCallId: id, toolName, input }: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown },
  output: Record<string, unknown>,
): object {
  const status = "completed";
  if (toolName === "image_generation") return { type: "image_generation_call", id, status, result: output["result"] ?? null };
  const { code = null, containerId = null } = isRecord(input) ? input : {};
  return { type: "code_interpreter_call", id, status, code, container_id: containerId, outputs: output["outputs"] ?? null };
}

function withItems(init: RequestInit | undefined, mark: string): RequestInit | undefined {
  if (typeof init?.body !== "string" || !init.body.includes(mark)) return init;
  const body = JSON.parse(init.body) as { input: { content?: unknown }[] };
  const input = body.input.map((item) =>
    typeof item.content === "string" && item.content.startsWith(mark) ? JSON.parse(item.content.slice(mark.length)) : item,
  );
  return { ...init, body: JSON.stringify({ ...body, input }) };
}
