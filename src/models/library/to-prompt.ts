import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { AssistantMessage, FilePart, Message, ToolCallPart, ToolMessage, UserMessage } from "../../protocol/message.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import { giveReasoningBack } from "../providers/chat-reasoning.ts";
import { giveImageBack } from "./made-file.ts";
import { isTextType } from "./text-type.ts";

type Content<Role> = Extract<LanguageModelV4Message, { role: Role }>["content"];
type UserContent = Content<"user">[number];
type AssistantContent = Content<"assistant">[number];

/** How the models of a provider take the files of tool results. */
export interface ResultFiles {
  /** Media types. */
  readonly types: readonly string[];
  /** `result`: with the result. `message`: in a message of the user after the results, where the wire has texts alone as results. */
  readonly place: "result" | "message";
}

export const noResultFiles: ResultFiles = { types: [], place: "result" };

/** Messages never change, so each is converted once, however often it is sent. */
const converted = new WeakMap<ResultFiles, WeakMap<Message, readonly LanguageModelV4Message[]>>();

/** The same for the system parts of a call, whose list is the same for each of its requests. */
const systemParts = new WeakMap<readonly string[], readonly LanguageModelV4Message[]>();

const toSystemMessage = (content: string): LanguageModelV4Message => ({ role: "system", content });

/**
 * System parts stay messages of their own, in their order, before the conversation. Empty parts are left out: providers refuse
 * them.
 */
export function toPrompt(
  system: readonly string[],
  messages: readonly Message[],
  taken: ResultFiles = noResultFiles,
): LanguageModelV4Prompt {
  const parts = systemParts.get(system) ?? system.filter((part) => part !== "").map(toSystemMessage);
  systemParts.set(system, parts);
  const prompt: LanguageModelV4Prompt = [...parts];
  const known = getOrMake(converted, taken, () => new WeakMap());
  for (const message of messages) prompt.push(...getOrMake(known, message, () => convert(message, taken)));
  return prompt;
}

/** Returns none for a message of which nothing can be sent. */
function convert(message: Message, taken: ResultFiles): readonly LanguageModelV4Message[] {
  const found = convertByRole(message, taken);
  const after = message.role === "tool" && taken.place === "message" ? toFilesMessage(message, taken) : [];
  return found.content.length > 0 ? [found, ...after] : [];
}

function convertByRole(message: Message, taken: ResultFiles): LanguageModelV4Message {
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
      return { role: "tool", content: message.parts.map((part) => toToolResult(part, taken)) };
  }
}

function toUserContent(part: UserMessage["parts"][number]): UserContent[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (isTextType(part.mediaType)) return [{ type: "text", text: describeTextFile(part) }];
  return [toFileContent(part)];
}

function toFileContent({ name: filename, mediaType, data }: FilePart) {
  return { type: "file" as const, filename, mediaType, data: { type: "data" as const, data } };
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

function toToolResult(part: ToolMessage["parts"][number], taken: ResultFiles): Content<"tool">[number] {
  const named = { type: "tool-result", toolCallId: part.id, toolName: part.name } as const;
  if (!part.result.ok) return { ...named, output: { type: "error-json", value: toMutable({ ...part.result.error }) } };
  const { value, files = [] } = part.result;
  if (files.length > 0) return { ...named, output: withResultFiles(value, files, taken) };
  return { ...named, output: typeof value === "string" ? { type: "text", value } : { type: "json", value: toMutable(value) } };
}

type ToolOutput = Extract<Content<"tool">[number], { type: "tool-result" }>["output"];

/** A sentence stands in the place of each file that the model does not take. */
function withResultFiles(value: JsonValue, files: readonly FilePart[], taken: ResultFiles): ToolOutput {
  const sent = files.filter(({ mediaType }) => taken.types.includes(mediaType));
  const others = files.filter((file) => !sent.includes(file)).map(describeUnsent);
  const text = [typeof value === "string" ? value : JSON.stringify(value), ...others].join("\n");
  if (sent.length === 0 || taken.place === "message") return { type: "text", value: text };
  return { type: "content", value: [{ type: "text", text }, ...sent.map(toFileContent)] };
}

function describeUnsent(file: FilePart): string {
  if (isTextType(file.mediaType)) return describeTextFile(file);
  return `[${file.name} is not shown: this model takes no ${file.mediaType} from tools]`;
}

/** Returns a message with the files of results, if any. */
function toFilesMessage({ parts }: ToolMessage, taken: ResultFiles): LanguageModelV4Message[] {
  const content = parts.flatMap(({ name, result }) => {
    const files = result.ok ? (result.files ?? []) : [];
    const sent = files.filter(({ mediaType }) => taken.types.includes(mediaType));
    const text = `From the result of the tool ${name}: ${sent.map((file) => file.name).join(", ")}`;
    return sent.length === 0 ? [] : [{ type: "text" as const, text }, ...sent.map(toFileContent)];
  });
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** The library's JSON types are not read-only; it does not write to them. */
// biome-ignore lint/suspicious/noExplicitAny: its JSON type is recursive, and differs from ours in nothing else
function toMutable(value: JsonValue): any {
  return value;
}
