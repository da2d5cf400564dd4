import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { AssistantMessage, FilePart, Message, ToolCallPart, ToolMessage, UserMessage } from "../protocol/message.ts";
import { giveReasoningBack } from "./chat-reasoning.ts";
import { giveImageBack } from "./made-file.ts";
import { isTextType } from "./text-type.ts";

type Content<Role> = Extract<LanguageModelV4Message, { role: Role }>["content"];
type UserContent = Content<"user">[number];
type AssistantContent = Content<"assistant">[number];

/** Messages never change, so each is converted once, however often it is sent. `undefined`: nothing in it can be sent. */
const converted = new WeakMap<Message, LanguageModelV4Message | "nothing">();

/** The same for the system parts of a call, whose list is the same for each of its requests. */
const systemParts = new WeakMap<readonly string[], readonly LanguageModelV4Message[]>();

const toSystemMessage = (content: string): LanguageModelV4Message => ({ role: "system", content });

/**
 * System parts stay messages of their own, in their order, before the conversation. Empty parts are left out: providers refuse
 * them.
 */
export function toPrompt(system: readonly string[], messages: readonly Message[]): LanguageModelV4Prompt {
  const parts = systemParts.get(system) ?? system.filter((part) => part !== "").map(toSystemMessage);
  systemParts.set(system, parts);
  const prompt: LanguageModelV4Prompt = [...parts];
  for (const message of messages) {
    const known = converted.get(message) ?? convertOnce(message);
    if (known !== "nothing") prompt.push(known);
  }
  return prompt;
}

function convertOnce(message: Message): LanguageModelV4Message | "nothing" {
  const found = convertByRole(message);
  const result = found.content.length > 0 ? found : "nothing";
  converted.set(message, result);
  return result;
}

function convertByRole(message: Message): LanguageModelV4Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.parts.flatMap(toUserContent) };
    case "assistant":
      return {
        role: "assistant",
        content: message.parts.flatMap((part) => toAssistantContent(part, message)),
        ...giveReasoningBack(message),
      };
    case "tool":
      return { role: "tool", content: message.parts.map(toToolResult) };
  }
}

function toUserContent(part: UserMessage["parts"][number]): UserContent[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (isTextType(part.mediaType)) return [{ type: "text", text: describeTextFile(part) }];
  return [{ type: "file", filename: part.name, mediaType: part.mediaType, data: { type: "data", data: part.data } }];
}

function describeTextFile(part: FilePart): string {
  return `File ${part.name}:\n\n${Buffer.from(part.data, "base64").toString("utf8")}`;
}

function toAssistantContent(part: AssistantMessage["parts"][number], message: AssistantMessage): AssistantContent[] {
  // Files that the provider made are in its results; sources are for readers.
  if (part.type === "file" || part.type === "source") return [];
  const providerOptions = toProviderOptions(part.providerData);
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text, ...providerOptions }];
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...providerOptions }];
    case "tool-call":
      return [{ type: "tool-call", toolCallId: part.id, toolName: part.name, input: toInput(part), ...providerOptions }];
    case "server-call": {
      const named = { toolCallId: part.id, toolName: part.name };
      return [{ type: "tool-call", ...named, input: part.args, providerExecuted: true, ...providerOptions }];
    }
    case "server-result": {
      const value = toMutable(giveImageBack(part, message));
      const output = { type: part.ok ? ("json" as const) : ("error-json" as const), value };
      return [{ type: "tool-result", toolCallId: part.id, toolName: part.name, output, ...providerOptions }];
    }
  }
}

function toProviderOptions(data: JsonObject | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return data ? { providerOptions: data as SharedV4ProviderOptions } : {};
}

/** Providers take back nothing but an object: what else a model wrote is shown to it under a name that says so. */
function toInput(part: ToolCallPart): unknown {
  if (part.invalidArgs !== undefined) return { invalid_arguments: part.invalidArgs };
  return isRecord(part.args) ? part.args : { invalid_arguments: part.args };
}

function toToolResult(part: ToolMessage["parts"][number]): Content<"tool">[number] {
  const named = { type: "tool-result", toolCallId: part.id, toolName: part.name } as const;
  if (!part.result.ok) return { ...named, output: { type: "error-json", value: toMutable({ ...part.result.error }) } };
  const { value } = part.result;
  return { ...named, output: typeof value === "string" ? { type: "text", value } : { type: "json", value: toMutable(value) } };
}

/** The library's JSON types are not read-only; it does not write to them. */
// biome-ignore lint/suspicious/noExplicitAny: its JSON type is recursive, and differs from ours in nothing else
function toMutable(value: JsonValue): any {
  return value;
}
