import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { isRecord, type JsonObject, recordsIn } from "../../protocol/json.ts";
import { abortable, follow } from "../../util/async/abortable.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { askedTier } from "../asked-tier.ts";
import { type GenerateOptions, type Model, ModelError, type ModelRequest, type ModelResponse } from "../model.ts";
import { toPatience } from "../patience.ts";
import type { ProviderKey } from "../provider-endpoint.ts";
import { keepReasoning } from "../providers/chat-reasoning.ts";
import { AnswerRefusal, checkCalls } from "../wire/bounds.ts";
import { type OutputForm, outputFormOf, readAnswerTool } from "./answer-tool.ts";
import { type LibraryAnswer, toModelResponse } from "./library-answer.ts";
import type { LoadedModel, OpenModel } from "./loaded-model.ts";
import { readStream, StreamFailure } from "./read-stream.ts";
import { findUsage, readUsage, type UsageFacts } from "./reported-usage.ts";
import { withSafeCalls } from "./safe-calls.ts";
import { type CallOptionsFacts, toCallOptions } from "./to-call-options.ts";
import { toModelError } from "./to-model-error.ts";
import { noResultFiles } from "./to-prompt.ts";
import { upgradeLanguageModel } from "./upgrade-language-model.ts";

export interface LanguageModelAdapterFacts extends CallOptionsFacts, UsageFacts {
  readonly open: OpenModel;
  /** Returns the provider options that later requests must carry because of this answer. */
  carry?(metadata: SharedV4ProviderMetadata): JsonObject | undefined;
  /** Named where it is refused; its value is kept out of every message. */
  readonly key?: ProviderKey;
  /** Advice for the user if the connection is refused. */
  readonly whenUnreachable?: string;
}

/** Our `Model` over a model of a provider library. Converts each message once; does not retry. */
export function createLanguageModelAdapter(facts: LanguageModelAdapterFacts): Model {
  const whole = createAdapter(facts);
  if (!facts.resultFiles) return whole;
  const without = createAdapter({ ...facts, resultFiles: noResultFiles });
  let takesFiles = true;
  return {
    id: facts.id,
    async generate(request, options) {
      if (!takesFiles) return without.generate(request, options);
      try {
        return await whole.generate(request, options);
      } catch (error) {
        if (!(error instanceof ModelError) || error.code !== "bad_request" || !hasResultFiles(request)) throw error;
        const response = await without.generate(request, options);
        takesFiles = false;
        const warning = `${facts.id} refused the files of tool results, and gets a sentence in their place: ${error.message}`;
        return { ...response, warnings: [...(response.warnings ?? []), warning] };
      }
    },
  };
}

function hasResultFiles({ messages }: ModelRequest): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.type === "tool-result" && part.result.ok && part.result.files));
}

function createAdapter(facts: LanguageModelAdapterFacts): Model {
  return {
    id: facts.id,
    async generate(request, options) {
      options.signal.throwIfAborted();
      // Aborted with the caller's, and when a request fails: libraries leave the connection of a broken stream open.
      const controller = new AbortController();
      const stopFollowing = follow(options.signal, controller);
      const onUsage = (usage: LanguageModelV4Usage) => options.onUsage?.(readUsage(usage, facts));
      try {
        const loaded = await facts.open(options.timeouts);
        const model = upgradeLanguageModel(loaded.model);
        const output = outputFormOf(request, facts);
        const call = { ...toCallOptions(request, facts, output), abortSignal: controller.signal };
        const given = options.onDelta
          ? await stream(model, call, { ...options, onUsage, output })
          : await abortable(model.doGenerate(call), options.signal);
        const answer = readAnswerTool(given, output);
        onUsage(answer.usage);
        checkCalls(answer.content.filter(({ type }) => type === "tool-call").length);
        const { unified, raw } = answer.finishReason;
        if (unified === "error" || raw === "error") throw new StreamFailure({ message: "the provider broke off its answer" });
        const carried = answer.providerMetadata && facts.carry?.(answer.providerMetadata);
        const response = withSafeCalls(
          toModelResponse(answer, { ...facts, carried, tier: askedTier(facts.id, request.settings) }),
          request.messages,
        );
        const message = keepReasoning(response.message, answer.providerMetadata);
        const whole = { ...response, message };
        return loaded.download ? await withFiles(whole, loaded.download, options.signal) : whole;
      } catch (error) {
        controller.abort(error);
        const failed = findUsage(bodyOf(error));
        if (failed) onUsage(failed);
        throw options.signal.aborted
          ? options.signal.reason
          : toModelError(error, { ...facts, patience: toPatience(options.timeouts ?? {}) });
      } finally {
        stopFollowing();
      }
    },
  };
}

/** Adds the files that the provider made. A failed download is a warning. */
async function withFiles(
  response: ModelResponse,
  download: NonNullable<LoadedModel["download"]>,
  signal: AbortSignal,
): Promise<ModelResponse> {
  const { message, warnings = [] } = response;
  if (!message.parts.some((part) => part.type === "server-call" || part.type === "server-result")) return response;
  try {
    const files = await abortable(download(message, signal), signal);
    return files.length > 0 ? { ...response, message: { ...message, parts: [...message.parts, ...files] } } : response;
  } catch (error) {
    signal.throwIfAborted();
    return { ...response, warnings: [...warnings, `a file that the provider made could not be fetched: ${errorMessage(error)}`] };
  }
}

/**
 * Counts the characters of arguments in an event of chat completions. The library drops pieces that it cannot assign to a call,
 * and the call would run with what is left.
 */
function countArguments(event: unknown): number {
  const [choice] = recordsIn(isRecord(event) ? event["choices"] : undefined);
  const delta = choice?.["delta"];
  const calls = recordsIn(isRecord(delta) ? delta["tool_calls"] : undefined);
  const pieces = calls.map((call) => (isRecord(call["function"]) ? call["function"]["arguments"] : undefined));
  return pieces.reduce<number>((sum, piece) => sum + (typeof piece === "string" ? piece.length : 0), 0);
}

interface StreamOptions extends Omit<GenerateOptions, "onUsage"> {
  readonly output: OutputForm;
  readonly onUsage: (usage: LanguageModelV4Usage) => void;
}

async function stream(
  model: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  { onUsage, output, ...options }: StreamOptions,
): Promise<LibraryAnswer> {
  const result = await abortable(model.doStream({ ...call, includeRawChunks: true }), options.signal);
  let streamed = 0;
  const onRaw = (event: unknown) => {
    const usage = findUsage(event);
    if (usage) onUsage(usage);
    streamed += countArguments(event);
  };
  const answerTool = output.type === "tool" ? output.tool.name : undefined;
  const answer = await readStream(result.stream, { ...options, onRaw, answerTool });
  const kept = answer.content.reduce((sum, part) => sum + (part.type === "tool-call" ? part.input.length : 0), 0);
  if (kept < streamed) throw new AnswerRefusal("bad_response", "a piece of the arguments belongs to none of the calls");
  return answer;
}

/** Returns the body of an answer that the library rejected. */
function bodyOf(error: unknown): unknown {
  const body = isRecord(error) ? error["responseBody"] : undefined;
  return typeof body === "string" && body.includes('"usage"') ? parseJson(body) : undefined;
}
