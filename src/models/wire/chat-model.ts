import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { LibrarySettings } from "../create-library-provider.ts";
import { keptAnswers, readyMessages, type Wire, writeBody } from "./create-wire-fetch.ts";

type LibraryModel = typeof import("@ai-sdk/openai-compatible").OpenAICompatibleChatLanguageModel;
export type ChatOptions = Omit<ConstructorParameters<LibraryModel>[1], "provider" | "url" | "headers" | "fetch">;

/** The address and the headers of a model's requests, which are the same for all of them. */
interface RequestLine {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export async function openChatModel(
  { name, baseURL, apiKey, fetch, ask }: Omit<LibrarySettings, "variable">,
  { provider, ...options }: ChatOptions & { readonly provider: string },
): Promise<LanguageModelV4> {
  const { OpenAICompatibleChatLanguageModel, VERSION } = await import("@ai-sdk/openai-compatible");
  const { VERSION: utilities, getRuntimeEnvironmentUserAgent } = await import("@ai-sdk/provider-utils");
  const url = new URL(`${baseURL.replace(/\/$/, "")}/chat/completions`).href;
  const agent = `ai-sdk-openai-compatible/${VERSION}`;
  const key = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  const own = { url: () => url, headers: { ...key, "user-agent": agent }, fetch, provider: `${provider}.chat` };
  const model = new OpenAICompatibleChatLanguageModel(name, { ...own, ...options });
  // As the library's client writes them.
  const agents = `${agent} ai-sdk-provider-utils/${utilities} ${getRuntimeEnvironmentUserAgent()}`;
  return createChatModel(model, { url, headers: { ...key, "content-type": "application/json", "user-agent": agents } }, ask);
}

/**
 * A model of the library for chat completions, which maps each message by itself: the JSON of a message is made once, however often
 * the message is sent. A whole answer is not read by the library's client, but converted by the library. For anything else that came,
 * the client gets what came, and reports it.
 */
function createChatModel(model: InstanceType<LibraryModel>, line: RequestLine, ask: Wire["ask"]): LanguageModelV4 {
  const texts = new WeakMap<LanguageModelV4Message, string>();

  /** The JSON of messages without the brackets of their list. */
  async function toText(prompt: readonly LanguageModelV4Message[]): Promise<string> {
    const all: string[] = [];
    for (const message of prompt) {
      const text = texts.get(message) ?? (await convert(message));
      if (text !== "") all.push(text);
    }
    return all.join();
  }

  async function convert(message: LanguageModelV4Message): Promise<string> {
    const { body } = await model.prepareRequest({ prompt: [message] });
    const text = JSON.stringify(body["messages"]).slice(1, -1);
    texts.set(message, text);
    return text;
  }

  async function generate({ prompt, ...options }: LanguageModelV4CallOptions, signal: AbortSignal) {
    const messages = await toText(prompt);
    const rest = { ...options, prompt: [] };
    readyMessages.set(signal, messages);
    if (keptAnswers.has(signal)) return model.doGenerate(rest);
    const { body, warnings } = await model.prepareRequest(rest);
    const answer = ask(line.url, { method: "POST", headers: line.headers, body: writeBody(body, messages), signal });
    try {
      const { body: answered } = await answer;
      if (answered) return { ...(await model.convertResponse({ body: answered })), warnings };
    } catch {
      // Reported by the client, which gets the same.
    }
    keptAnswers.set(
      signal,
      answer.then(({ toResponse }) => toResponse()),
    );
    return model.doGenerate(rest);
  }

  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(options) {
      return options.abortSignal ? generate(options, options.abortSignal) : model.doGenerate(options);
    },
    async doStream({ prompt, ...options }) {
      const { abortSignal: signal } = options;
      if (!signal) return model.doStream({ ...options, prompt });
      readyMessages.set(signal, await toText(prompt));
      return model.doStream({ ...options, prompt: [] });
    },
  };
}
