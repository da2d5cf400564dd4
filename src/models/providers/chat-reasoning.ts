import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { isRecord, type JsonObject, recordsIn } from "../../protocol/json.ts";
import type { AssistantMessage, ReasoningPart } from "../../protocol/message.ts";

/** The place where a server of chat completions puts its reasoning; the library passes on the text alone. */
type Found = {
  /** The member of the message that it came in. */
  name?: "reasoning_content" | "reasoning" | "content" | undefined;
  /** OpenRouter's form of it, with signatures. */
  details?: Record<string, unknown>[];
};

const key = "chatReasoning";

/** Notes the place of an answer's reasoning, streamed or not. Called by the library. */
export const reasoningExtractor = {
  async extractMetadata({ parsedBody }: { parsedBody: unknown }): Promise<SharedV4ProviderMetadata | undefined> {
    const found: Found = {};
    add(found, firstChoice(parsedBody)?.["message"]);
    return toMetadata(found);
  },
  createStreamExtractor() {
    const found: Found = {};
    return {
      processChunk: (chunk: unknown) => add(found, firstChoice(chunk)?.["delta"]),
      buildMetadata: () => toMetadata(found),
    };
  },
};

/** Stores the noted data in the answer's reasoning part. Reasoning that is encrypted only gets a part of its own. */
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

/** Returns members of the message that is sent back, which replace the one that the library writes. */
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
  return recordsIn(isRecord(body) ? body["choices"] : undefined)[0];
}

function toMetadata(found: Found): SharedV4ProviderMetadata | undefined {
  return found.name || found.details ? ({ [key]: found } as SharedV4ProviderMetadata) : undefined;
}

function add(found: Found, message: unknown): void {
  if (!isRecord(message)) return;
  const { content, reasoning_details: details } = message;
  found.name ??= (["reasoning_content", "reasoning"] as const).find((one) => typeof message[one] === "string" && message[one]);
  if (!found.name && recordsIn(content).some(({ type }) => type === "thinking")) found.name = "content";
  const pieces = recordsIn(details);
  if (pieces.length > 0) found.details ??= [];
  for (const piece of pieces) addDetail(found.details ?? [], piece);
}

/** In a stream the text of a detail comes in pieces, and its signature last. */
function addDetail(details: Record<string, unknown>[], detail: Record<string, unknown>): void {
  const last = details.at(-1);
  if (!last || !isSame(last, detail)) {
    details.push({ ...detail });
    return;
  }
  for (const [name, value] of Object.entries(detail)) {
    const before = last[name];
    const isPiece = (name === "text" || name === "summary") && typeof before === "string" && typeof value === "string";
    if (isPiece) last[name] = before + value;
    else if (value !== null) last[name] = value;
  }
}

function isSame(last: Record<string, unknown>, detail: Record<string, unknown>): boolean {
  const isText = detail["type"] === "reasoning.text" || detail["type"] === "reasoning.summary";
  return isText && ["type", "index", "format"].every((name) => (last[name] ?? null) === (detail[name] ?? null));
}
