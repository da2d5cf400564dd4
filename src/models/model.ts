import type { CallPath } from "../protocol/call.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { AnswerFinish, AssistantMessage, Message } from "../protocol/message.ts";
import type { JsonSchema, ServerTool, ToolDefinition } from "../protocol/tool.ts";
import type { Usage } from "../protocol/usage.ts";

/** The request of one turn. It is the same object for every provider; an adapter converts it to a wire format. */
export interface ModelRequest {
  /** System parts, in order; never glued together. */
  readonly system: readonly string[];
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Tools that the provider executes; `max_uses` is what is left of them. Absent: none. */
  readonly serverTools?: readonly ServerTool[];
  /** JSON Schema of the wanted final answer, where the worker declares an output. */
  readonly output?: JsonSchema;
  readonly settings: ModelSettings;
}

export interface ModelSettings {
  readonly temperature?: number;
  readonly max_output_tokens?: number;
  readonly top_p?: number;
  readonly seed?: number;
  readonly reasoning?: "none" | "minimal" | "low" | "medium" | "high";
  /** A map from a provider to options that only it has; the members of others are ignored. */
  readonly provider_options?: JsonObject;
  /** Attempts after the first, where a request fails in a way that may pass. */
  readonly max_retries?: number;
  /** The longest wait between attempts that a provider may ask for, in seconds. */
  readonly max_retry_wait?: number;
  /** How long a provider that is connected may be silent, in seconds: `first_byte_timeout` and `idle_timeout` at once. */
  readonly timeout?: number;
  /** How long connecting may take, in seconds. Default 10. */
  readonly connect_timeout?: number;
  /** How long an answer may take to begin, in seconds. Default: `timeout`, or 1800. */
  readonly first_byte_timeout?: number;
  /** How long an answer may stop before it goes on, in seconds. Default: `timeout`, or 1800. */
  readonly idle_timeout?: number;
}

export interface GenerateOptions {
  readonly signal: AbortSignal;
  /** The worker's `timeout`, in seconds. Absent: the worker sets none. */
  readonly timeout?: number;
  /** All time-outs that the worker sets, in seconds. What is absent has its default. */
  readonly timeouts?: Pick<ModelSettings, "timeout" | "connect_timeout" | "first_byte_timeout" | "idle_timeout">;
  /** Receives each piece of a streamed response. Absent: the response is not streamed. Both end in the same message. */
  readonly onDelta?: (delta: ModelDelta) => void;
  /** Called with what the provider has reported so far, as often as it says more: what counts where the request fails. */
  readonly onUsage?: (usage: ReportedUsage) => void;
  /** The worker and turn of the request, for scripted models, traces and tests. No provider gets it. */
  readonly call: ModelCall;
}

export interface ModelCall {
  readonly worker: string;
  readonly callPath: CallPath;
  /** From 1, for each call of a worker. */
  readonly turn: number;
}

export interface ModelDelta {
  readonly type: "text-delta" | "reasoning-delta";
  readonly text: string;
}

/** Usage that a provider reported. Omitted counts are unknown and get estimated. `usd` takes precedence over any price. */
export interface ReportedUsage extends Partial<Omit<Usage, "estimatedTokens">> {
  /** The part of `cacheWriteTokens` that stays in the cache for an hour, for which Anthropic asks more. */
  readonly longCacheWriteTokens?: number;
  /** Searches that the provider made. */
  readonly webSearches?: number;
  /** The tokens that are no text, and can have prices of their own. */
  readonly modalities?: Modalities;
  /** The service tier that the provider billed, or was asked for, in its own word. */
  readonly serviceTier?: string;
}

/** Tokens of sounds, pictures and films. Absent: none. */
export interface Modalities {
  readonly audioInput?: number;
  readonly audioOutput?: number;
  readonly imageOutput?: number;
  readonly videoOutput?: number;
}

export interface ModelResponse {
  readonly message: AssistantMessage;
  readonly usage: ReportedUsage;
  /** Decides what becomes of the answer. No call of one that ended with `length`, `context-window` or `content-filter` runs. */
  readonly finish: AnswerFinish;
  /** The provider's own word for `finish`, where it is another. */
  readonly finishReason?: string;
  /** Why the provider refused, or broke the answer off, in its words, if they are not the answer's text. */
  readonly refusal?: string;
  readonly warnings?: readonly string[];
}

/**
 * A model of one provider. `generate` resolves with what the provider calls an answer, and says in `finish` how it ended, or
 * rejects with a `ModelError`: an answer that a broken connection cut off is an error. It does not retry: the loop does, with `retryDelay`.
 */
export interface Model {
  /** `provider:name`. */
  readonly id: string;
  generate(request: ModelRequest, options: GenerateOptions): Promise<ModelResponse>;
}

export type ModelErrorCode = keyof typeof retryableByCode;

/** True if another attempt can help, by code. The provider's own statement about an error comes first. */
export const retryableByCode = {
  auth: false,
  rate_limit: true,
  overloaded: true,
  timeout: true,
  network: true,
  broken_stream: true,
  bad_request: false,
  context_window: false,
  not_found: false,
  bad_response: false,
  too_large: false,
  unexpected_request: false,
  configuration: false,
} as const;

/** A provider's failure. `retryable` follows the wire: 408, 409, 429, 5xx, overloaded, a broken connection or stream. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly model: string;
  readonly status: number | undefined;
  readonly retryable: boolean;
  /** The wait that `retry-after` asked for, in milliseconds. */
  readonly retryAfterMilliseconds: number | undefined;

  constructor(facts: {
    code: ModelErrorCode;
    model: string;
    message: string;
    status?: number | undefined;
    retryable?: boolean | undefined;
    retryAfterMilliseconds?: number | undefined;
    cause?: unknown;
  }) {
    super(facts.message, { cause: facts.cause });
    this.name = "ModelError";
    this.code = facts.code;
    this.model = facts.model;
    this.status = facts.status;
    this.retryable = facts.retryable ?? false;
    this.retryAfterMilliseconds = facts.retryAfterMilliseconds;
  }
}
