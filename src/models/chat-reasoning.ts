import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { AssistantMessage, ReasoningPart } from "../protocol/message.ts";

/** Where a server of chat completions puts its reasoning, of which the library tells the text alone. */
type Found = {
  /** The member of the message that it came in. */
  name?: "reasoning_content" | "reasoning" | "content";
  /** OpenRouter's form of it, with signatures. */
  details?: JsonValue[];
};

const key = "chatReasoning";

/** For the library: notes for an answer, streamed or not, where its reasoning was. */
export const reasoningExtractor = {
  async extractMetadata({ parsedBody }: { parsedBody: unknown }): Promise<SharedV4ProviderMetadata | undefined> {
    return toMetadata(add({}, firstChoice(parsedBody)?.["message"]));
  },
  createStreamExtractor() {
    const found: Found = {};
    return {
      processChunk: (chunk: unknown) => void add(found, firstChoice(chunk)?.["delta"]),
      buildMetadata: () => toMetadata(found),
    };
  },
};

/** Keeps with the answer's reasoning what was noted for it. Reasoning that is only there encrypted gets a part of its own. */
export function keepReasoning(message: AssistantMessage, metadata: SharedV4ProviderMetadata | undefined): AssistantMessage {
  const noted = metadata?.[key];
  if (!noted) return message;
  const providerData = { [key]: noted } as JsonObject;
  const index = message.parts.findIndex(({ type }) => type === "reasoning");
  const part = message.parts[index];
  const kept: ReasoningPart = { type: "reasoning", text: part?.type === "reasoning" ? part.text : "", providerData };
  const others = message.parts.filter((one) => one !== part);
  return { ...message, parts: index === -1 ? [kept, ...others] : message.parts.map((one) => (one === part ? kept : one)) };
}

/** Members of the message that goes back, in place of the one that the library writes. */
export function giveReasoningBack({ parts }: AssistantMessage): { providerOptions?: SharedV4ProviderOptions } {
  const reasoning = parts.filter((part) => part.type === "reasoning");
  const noted = reasoning.map(({ providerData }) => providerData?.[key]).find((one): one is JsonObject => isRecord(one));
  if (!noted) return {};
  const { name, details } = noted;
  const said = reasoning.map(({ text }) => text).join("");
  return {
    providerOptions: {
      openaiCompatible: {
        ...(name === "reasoning" ? { reasoning: said, reasoning_content: undefined } : {}),
        ...(name === "content" ? { content: toBlocks(said, parts), reasoning_content: undefined } : {}),
        ...(Array.isArray(details) ? { reasoning_details: details } : {}),
      },
    },
  };
}

/** Mistral's form. */
function toBlocks(thinking: string, parts: AssistantMessage["parts"]) {
  const texts = parts.flatMap((part) => (part.type === "text" ? [{ type: "text", text: part.text }] : []));
  return [{ type: "thinking", thinking: [{ type: "text", text: thinking }] }, ...texts];
}

function firstChoice(body: unknown): Record<string, unknown> | undefined {
  const choices = isRecord(body) ? body["choices"] : undefined;
  const [first] = Array.isArray(choices) ? choices : [];
  return isRecord(first) ? first : undefined;
}

function toMetadata(found: Found): SharedV4ProviderMetadata | undefined {
  return Object.keys(found).length > 0 ? { [key]: found } : undefined;
}

function add(found: Found, message: unknown): Found {
  if (!isRecord(message)) return found;
  const { content, reasoning_details: details } = message;
  const name = (["reasoning_content", "reasoning"] as const).find((one) => typeof message[one] === "string" && message[one]);
  const isBlock = (part: unknown) => isRecord(part) && part["type"] === "thinking";
  if (!found.name && name) found.name = name;
  if (!found.name && Array.isArray(content) && content.some(isBlock)) found.name = "content";
  if (Array.isArray(details) && details.length > 0) found.details = details.reduce(addDetail, found.details ?? []);
  return found;
}

/** In a stream the text of a detail comes in pieces, and its signature last. */
function addDetail(details: JsonValue[], detail: JsonValue): JsonValue[] {
  const last = details.at(-1);
  if (!isRecord(last) || !isRecord(detail) || !isSame(last, detail)) return [...details, detail];
  const merged: Record<string, JsonValue> = { ...(last as JsonObject) };
  for (const [name, value] of Object.entries(detail as JsonObject)) {
    const before = merged[name];
    const isPiece = (name === "text" || name === "summary") && typeof before === "string" && typeof value === "string";
    if (isPiece) merged[name] = before + value;
    else if (value !== null) merged[name] = value;
  }
  return [...details.slice(0, -1), merged];
}

function isSame(last: Record<string, unknown>, detail: Record<string, unknown>): boolean {
  const isText = detail["type"] === "reasoning.text" || detail["type"] === "reasoning.summary";
  return isText && ["type", "index", "format"].every((name) => (last[name] ?? null) === (detail[name] ?? null));
}
