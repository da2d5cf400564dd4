import type {
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { AnswerFinish, AssistantMessage, ServerResultPart, ToolCallPart } from "../../protocol/message.ts";
import type { ModelResponse, ReportedUsage } from "../model.ts";
import { madeFile, takeImage } from "./made-file.ts";
import { readBilled } from "./read-billed.ts";
import { readUsage, type UsageFacts } from "./reported-usage.ts";

/** A whole answer of the library: the result of a request, or of a stream at its end. */
export interface LibraryAnswer {
  readonly content: readonly LanguageModelV4Content[];
  readonly finishReason: LanguageModelV4FinishReason;
  readonly usage: LanguageModelV4Usage;
  readonly warnings: readonly SharedV4Warning[];
  /** Metadata of the whole answer. */
  readonly providerMetadata?: SharedV4ProviderMetadata;
}

type Part = AssistantMessage["parts"][number];

/** `carried`: options that the requests after this answer must have. `tier`: the service tier that it was asked for. */
export function toModelResponse(
  answer: LibraryAnswer,
  {
    carried,
    tier,
    ...facts
  }: UsageFacts & { readonly carried?: JsonObject | undefined; readonly tier?: string | undefined } = {},
): ModelResponse {
  const warnings = answer.warnings.map(renderWarning);
  const parts = answer.content.flatMap(toPart);
  return {
    message: { parts, ...(carried ? { providerData: carried } : undefined), role: "assistant" },
    usage: { ...readBilled(answer, tier), ...withoutZero(readUsage(answer.usage, facts), parts) },
    ...toFinish(answer),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

function toPart(content: LanguageModelV4Content): Part[] {
  switch (content.type) {
    case "text":
      return content.text === "" ? [] : [{ ...toProviderData(content.providerMetadata), text: content.text, type: "text" }];
    case "reasoning": {
      const data = toProviderData(content.providerMetadata);
      return content.text === "" && !data ? [] : [{ type: "reasoning", text: content.text, ...data }];
    }
    case "tool-call": {
      const { toolCallId: id, toolName: name } = content;
      const { args, ...invalid } = readArguments(content.input);
      const data = toProviderData(content.providerMetadata);
      // In the order of the form that is digested, which needs no copy then.
      if (content.providerExecuted) return [{ args: args ?? {}, id, name, ...data, type: "server-call" }];
      return [{ args, id, ...invalid, name, ...data, type: "tool-call" }];
    }
    case "tool-result":
      return content.preliminary ? [] : toServerResult(content);
    case "source":
      return content.sourceType === "url" ? [toSource(content.url, content.title)] : [toSource(undefined, content.title)];
    case "file":
      return toFiles(content);
    default:
      return [];
  }
}

function toServerResult(content: Extract<LanguageModelV4Content, { type: "tool-result" }>): Part[] {
  const part: ServerResultPart = {
    type: "server-result",
    id: content.toolCallId,
    name: content.toolName,
    ok: content.isError !== true,
    value: JSON.parse(JSON.stringify(content.result)) as JsonValue,
    ...toProviderData(content.providerMetadata),
  };
  return [...(takeImage(part) ?? [part])];
}

function toSource(url: string | undefined, title: string | undefined): Part {
  return { type: "source", ...(url ? { url } : {}), ...(title ? { title } : {}) };
}

/** A file that is only an address is a place to look. */
function toFiles({ data, mediaType }: LanguageModelV4File): Part[] {
  if (data.type === "url") return [toSource(String(data.url), undefined)];
  const bytes = typeof data.data === "string" ? Buffer.from(data.data, "base64") : Buffer.from(data.data);
  const file = madeFile("", mediaType, bytes);
  const kind = mediaType.slice(mediaType.indexOf("/") + 1).replace(/[^\w]/g, "");
  return [{ ...file, name: `${file.sha256.slice(0, 12)}.${kind}` }];
}

function readArguments(input: string | undefined): Pick<ToolCallPart, "args" | "invalidArgs"> {
  const text = input ?? "";
  if (text.trim() === "") return { args: {} };
  try {
    const args = JSON.parse(text) as JsonValue;
    // A parser keeps the last value of a repeated key: what was checked could be another one than what was meant.
    const written = JSON.stringify(args);
    return written === text || countKeys(text) === countKeys(written) ? { args } : { args: null, invalidArgs: text };
  } catch {
    return { args: null, invalidArgs: text };
  }
}

/** Counts the keys that are written in valid JSON, repeated ones included. */
function countKeys(json: string): number {
  let count = 0;
  for (let start = json.indexOf('"'); start !== -1; ) {
    let end = start + 1;
    while (json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
    do end++;
    while (/\s/.test(json[end] ?? ""));
    if (json[end] === ":") count++;
    start = json.indexOf('"', end);
  }
  return count;
}

/** Copied as JSON, so that the message can be journalled and holds nothing of the library's. */
function toProviderData(metadata: SharedV4ProviderMetadata | undefined): { providerData: JsonObject } | undefined {
  if (!metadata) return undefined;
  const providerData = JSON.parse(JSON.stringify(metadata)) as JsonObject;
  return Object.values(providerData).some((data) => Object.keys(data as object).length > 0) ? { providerData } : undefined;
}

/** Omits 0 output tokens of an answer with content: servers that do not count report 0. */
function withoutZero({ outputTokens, ...usage }: ReportedUsage, parts: readonly Part[]): ReportedUsage {
  return outputTokens === undefined || (outputTokens === 0 && parts.length > 0) ? usage : { ...usage, outputTokens };
}

function toFinish({ finishReason, providerMetadata }: LibraryAnswer): Pick<ModelResponse, "finish" | "finishReason" | "refusal"> {
  const finish = finishOf(finishReason);
  const words = finish === "content-filter" || finish === "other" ? wordsOf(providerMetadata) : undefined;
  return {
    finish,
    ...(finishReason.raw === undefined || finishReason.raw === finish ? {} : { finishReason: finishReason.raw }),
    ...(typeof words === "string" && words !== "" ? { refusal: words } : {}),
  };
}

/** The words about the end of an answer, where a provider has some. */
function wordsOf({ anthropic, google, googleVertex }: SharedV4ProviderMetadata = {}): unknown {
  const details = anthropic?.["stopDetails"];
  return isRecord(details) ? details["explanation"] : (google ?? googleVertex)?.["finishMessage"];
}

/** Finish reasons of any wire format, in lower case. Servers of one format use those of another. */
const words: Readonly<Record<AnswerFinish, readonly string[]>> = {
  stop: ["stop", "stop_sequence", "end_turn", "eos", "eos_token", "complete", "completed", "end", "unknown"],
  "tool-calls": ["tool_calls", "tool-calls", "tool_call", "tool_use", "function_call", "function_calls"],
  length: ["length", "max_tokens", "max_output_tokens"],
  "context-window": ["model_context_window_exceeded", "model_length"],
  "content-filter": ["content_filter", "content-filter", "refusal", "sensitive", "safety", "recitation", "prohibited_content"],
  paused: ["pause_turn"],
  other: [],
};

const finishOfWords: ReadonlyMap<string, AnswerFinish> = new Map(
  Object.entries(words).flatMap(([finish, own]) => own.map((word) => [word, finish as AnswerFinish])),
);

/** Returns `other` for an unknown word, whatever the answer holds. */
function finishOf({ unified, raw }: LanguageModelV4FinishReason): AnswerFinish {
  if (!raw) return unified === "error" || unified === "interrupted" || unified === "other" ? "stop" : unified;
  const known = finishOfWords.get(raw.toLowerCase());
  if (known === "paused" || known === "context-window") return known;
  if (unified === "stop" || unified === "length" || unified === "content-filter") return unified;
  return known ?? "other";
}

function renderWarning(warning: SharedV4Warning): string {
  if (warning.type === "other") return warning.message;
  if (warning.type === "deprecated") return `${warning.setting} is deprecated: ${warning.message}`;
  return `${warning.feature} is not supported${warning.details ? `: ${warning.details}` : ""}`;
}
