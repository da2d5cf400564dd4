import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { AssistantMessage, ToolCallPart } from "../protocol/message.ts";
import type { Usage } from "../protocol/usage.ts";
import type { ModelResponse } from "./model.ts";

/** A whole answer of the library: what a request gives, and what a stream has given at its end. */
export interface LibraryAnswer {
  readonly content: readonly LanguageModelV4Content[];
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly warnings: readonly SharedV4Warning[];
}

type Part = AssistantMessage["parts"][number];

export function toModelResponse(answer: LibraryAnswer): ModelResponse {
  const warnings = answer.warnings.map(renderWarning);
  return {
    message: { role: "assistant", parts: withUniqueIds(answer.content.flatMap(toPart)) },
    usage: toUsage(answer.usage),
    finish: toFinish(answer.finishReason),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

/** What a provider did itself (its searches, their sources) is told in its text, and is no call of ours. */
function toPart(content: LanguageModelV4Content): Part[] {
  switch (content.type) {
    case "text":
      return content.text === "" ? [] : [{ type: "text", text: content.text, ...toProviderData(content.providerMetadata) }];
    case "reasoning": {
      const data = toProviderData(content.providerMetadata);
      return content.text === "" && !data.providerData ? [] : [{ type: "reasoning", text: content.text, ...data }];
    }
    case "tool-call": {
      if (content.providerExecuted) return [];
      const named = { type: "tool-call", id: content.toolCallId, name: content.toolName } as const;
      return [{ ...named, ...readArguments(content.input), ...toProviderData(content.providerMetadata) }];
    }
    default:
      return [];
  }
}

function readArguments(input: string | undefined): Pick<ToolCallPart, "args" | "invalidArgs"> {
  const text = input ?? "";
  if (text.trim() === "") return { args: {} };
  try {
    return { args: JSON.parse(text) as JsonValue };
  } catch {
    return { args: null, invalidArgs: text };
  }
}

/** Copied as JSON, so that the message can be journalled and holds nothing of the library's. */
function toProviderData(metadata: SharedV4ProviderMetadata | undefined): { providerData?: JsonObject } {
  if (!metadata) return {};
  const providerData = JSON.parse(JSON.stringify(metadata)) as JsonObject;
  return Object.values(providerData).some((data) => Object.keys(data as object).length > 0) ? { providerData } : {};
}

/** Some servers number the calls of each answer with one id. */
function withUniqueIds(parts: readonly Part[]): Part[] {
  const seen = new Set<string>();
  return parts.map((part) => {
    if (part.type !== "tool-call") return part;
    let id = part.id;
    for (let n = 2; seen.has(id); n++) id = `${part.id}_${n}`;
    seen.add(id);
    return id === part.id ? part : { ...part, id };
  });
}

function toUsage(usage: LanguageModelV4Usage): Usage {
  return {
    requests: 1,
    inputTokens: usage.inputTokens.total ?? 0,
    outputTokens: usage.outputTokens.total ?? 0,
    cachedInputTokens: usage.inputTokens.cacheRead ?? 0,
    reasoningTokens: usage.outputTokens.reasoning ?? 0,
  };
}

function toFinish(reason: LanguageModelV4FinishReason): ModelResponse["finish"] {
  switch (reason.unified) {
    case "stop":
    case "length":
    case "content-filter":
    case "tool-calls":
      return reason.unified;
    default:
      return "other";
  }
}

function renderWarning(warning: SharedV4Warning): string {
  if (warning.type === "other") return warning.message;
  if (warning.type === "deprecated") return `${warning.setting} is deprecated: ${warning.message}`;
  return `${warning.feature} is not supported${warning.details ? `: ${warning.details}` : ""}`;
}
