import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { JsonObject } from "../protocol/json.ts";
import { abortable } from "../util/abortable.ts";
import { errorMessage } from "../util/error-message.ts";
import type { LoadedModel } from "./create-library-provider.ts";
import { type LibraryAnswer, toModelResponse } from "./library-answer.ts";
import type { GenerateOptions, Model, ModelResponse } from "./model.ts";
import type { ProviderKey } from "./provider-endpoint.ts";
import { readStream, StreamFailure } from "./read-stream.ts";
import { withSafeCalls } from "./safe-calls.ts";
import { type CallOptionsFacts, toCallOptions } from "./to-call-options.ts";
import { toModelError } from "./to-model-error.ts";
import { upgradeLanguageModel } from "./upgrade-language-model.ts";
import { WholeAnswer } from "./wire/create-wire-fetch.ts";

export interface LanguageModelAdapterFacts extends CallOptionsFacts, Pick<LoadedModel, "download"> {
  /** `provider:name`. */
  readonly id: string;
  /** A model of the AI SDK's provider interface, of any version from 2 to 4. */
  readonly model: LanguageModelV4 | LanguageModelV3 | LanguageModelV2;
  /** What an answer says of itself that the requests after it must carry, as options of the provider. */
  carry?(metadata: SharedV4ProviderMetadata): JsonObject | undefined;
  /** Named where it is refused; its value is kept out of every message. */
  readonly key?: ProviderKey;
  /** What to do where nobody listens at the address. */
  readonly whenUnreachable?: string;
}

/** Our `Model` over a model of a provider library. Converts each message once; does not retry. */
export function createLanguageModelAdapter(facts: LanguageModelAdapterFacts): Model {
  const model = upgradeLanguageModel(facts.model);
  return {
    id: facts.id,
    async generate(request, options) {
      options.signal.throwIfAborted();
      // Aborted with the caller's, and when a request fails: libraries leave the connection of a broken stream open.
      const controller = new AbortController();
      const abort = () => controller.abort(options.signal.reason);
      options.signal.addEventListener("abort", abort, { once: true });
      try {
        const call = { ...toCallOptions(request, facts), abortSignal: controller.signal };
        const answer = await (options.onDelta ? stream(model, call, options) : generate(model, call, options));
        const { unified, raw } = answer.finishReason;
        if (unified === "error" || raw === "error") throw new StreamFailure({ message: "the provider broke off its answer" });
        const carried = answer.providerMetadata && facts.carry?.(answer.providerMetadata);
        const response = withSafeCalls(toModelResponse(answer, carried), request.messages);
        return await withFiles(response, facts, options.signal);
      } catch (error) {
        controller.abort(error);
        throw options.signal.aborted ? options.signal.reason : toModelError(error, facts);
      } finally {
        options.signal.removeEventListener("abort", abort);
      }
    },
  };
}

/** A file that cannot be had makes the answer no worse than it is. */
async function withFiles(
  response: ModelResponse,
  { download }: LanguageModelAdapterFacts,
  signal: AbortSignal,
): Promise<ModelResponse> {
  const { message, warnings = [] } = response;
  if (!download || !message.parts.some((part) => part.type === "server-call" || part.type === "server-result")) return response;
  try {
    const files = await abortable(download(message, signal), signal);
    return files.length > 0 ? { ...response, message: { ...message, parts: [...message.parts, ...files] } } : response;
  } catch (error) {
    signal.throwIfAborted();
    return { ...response, warnings: [...warnings, `a file that the provider made could not be fetched: ${errorMessage(error)}`] };
  }
}

async function generate(
  model: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  options: GenerateOptions,
): Promise<LibraryAnswer> {
  return abortable(model.doGenerate(call), options.signal);
}

async function stream(
  model: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  options: GenerateOptions,
): Promise<LibraryAnswer> {
  try {
    const result = await abortable(model.doStream(call), options.signal);
    return await readStream(result.stream, options);
  } catch (error) {
    if (!(error instanceof WholeAnswer)) throw error;
  }
  const answer = await generate(model, call, options);
  for (const { type, ...content } of answer.content) {
    if ((type === "text" || type === "reasoning") && "text" in content && content.text !== "") {
      options.onDelta?.({ type: `${type}-delta`, text: content.text });
    }
  }
  return answer;
}
