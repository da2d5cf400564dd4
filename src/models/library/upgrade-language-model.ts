import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from "@ai-sdk/provider";

/** Models of older versions of the interface (a user's own provider package) as ones of the current. */
export function upgradeLanguageModel(model: LanguageModelV4 | LanguageModelV3 | LanguageModelV2): LanguageModelV4 {
  if (model.specificationVersion === "v4") return model;
  // The members of versions 2 and 3 that are used here differ from version 4 only where they are converted below.
  const older = model as unknown as OlderModel;
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(options) {
      const result = await older.doGenerate(toOlderOptions(options));
      return {
        content: result.content.map(tagFile),
        finishReason: toFinishReason(result.finishReason),
        usage: toUsage(result.usage),
        warnings: result.warnings.map(toWarning),
      };
    },
    async doStream(options) {
      const { stream } = await older.doStream(toOlderOptions(options));
      return { stream: stream.pipeThrough(new TransformStream({ transform: (part, to) => to.enqueue(toStreamPart(part)) })) };
    },
  };
}

interface OlderModel {
  doGenerate(options: unknown): PromiseLike<{
    readonly content: LanguageModelV4Content[];
    readonly finishReason: OlderFinishReason;
    readonly usage: OlderUsage;
    readonly warnings: readonly OlderWarning[];
  }>;
  doStream(options: unknown): PromiseLike<{ readonly stream: ReadableStream<OlderStreamPart> }>;
}

type OlderFinishReason = string | LanguageModelV4FinishReason;
type OlderUsage = LanguageModelV4Usage | FlatUsage;
type OlderWarning = { readonly type: string; readonly message?: string; readonly setting?: string; readonly details?: string };
type OlderStreamPart =
  | { readonly type: "finish"; readonly finishReason: OlderFinishReason; readonly usage: OlderUsage }
  | { readonly type: "stream-start"; readonly warnings: readonly OlderWarning[] }
  | Exclude<LanguageModelV4StreamPart, { type: "finish" | "stream-start" }>;

interface FlatUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/** File data had no tag, and reasoning was a matter of provider options. */
function toOlderOptions({ reasoning: _, ...options }: LanguageModelV4CallOptions): unknown {
  const prompt = options.prompt.map((message) =>
    message.role === "user"
      ? {
          ...message,
          content: message.content.map((part) => (part.type === "file" ? { ...part, data: untag(part.data) } : part)),
        }
      : message,
  );
  return { ...options, prompt };
}

function untag(data: { readonly type: string; readonly data?: unknown }): unknown {
  return data.type === "data" ? data.data : data;
}

function toStreamPart(part: OlderStreamPart): LanguageModelV4StreamPart {
  if (part.type === "finish") return { ...part, finishReason: toFinishReason(part.finishReason), usage: toUsage(part.usage) };
  if (part.type === "stream-start") return { ...part, warnings: part.warnings.map(toWarning) };
  return tagFile(part);
}

/** Tags a generated file, whose data is bare bytes or base64. */
function tagFile<Part extends { readonly type: string }>(part: Part): Part {
  const { data } = part as { readonly data?: unknown };
  const isBare = part.type === "file" && (typeof data === "string" || data instanceof Uint8Array);
  return isBare ? { ...part, data: { type: "data", data } } : part;
}

function toFinishReason(reason: OlderFinishReason): LanguageModelV4FinishReason {
  if (typeof reason !== "string") return reason;
  if (reason === "unknown") return { unified: "other", raw: undefined };
  return { unified: reason as LanguageModelV4FinishReason["unified"], raw: reason };
}

function toUsage(usage: OlderUsage): LanguageModelV4Usage {
  if (typeof usage.inputTokens === "object") return usage as LanguageModelV4Usage;
  const flat = usage as FlatUsage;
  return {
    inputTokens: { total: flat.inputTokens, noCache: undefined, cacheRead: flat.cachedInputTokens, cacheWrite: undefined },
    outputTokens: { total: flat.outputTokens, text: undefined, reasoning: flat.reasoningTokens },
  };
}

function toWarning(warning: OlderWarning): SharedV4Warning {
  if (warning.type === "unsupported-setting" || warning.type === "unsupported-tool") {
    const feature = warning.setting ?? "a tool";
    return { type: "unsupported", feature, ...(warning.details ? { details: warning.details } : {}) };
  }
  return warning.type === "other" ? { type: "other", message: warning.message ?? "" } : (warning as SharedV4Warning);
}
