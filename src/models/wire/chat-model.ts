import type { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { keptAnswers, readyMessages, type Wire, writeBody } from "./create-wire-fetch.ts";

/** The library's model: its types do not say that its provider makes this one. */
export type ChatLanguageModel = LanguageModelV4 & Pick<OpenAICompatibleChatLanguageModel, "prepareRequest" | "convertResponse">;

/** The address and the headers of a model's requests, which are the same for all of them. */
interface RequestLine {
  readonly url: string;
  readonly headers: NonNullable<RequestInit["headers"]>;
}

/**
 * A model of the library for chat completions, which maps each message by itself: the JSON of a message is made once, however often
 * the message is sent. A whole answer is not read by the library's client, but converted by the library. For anything else that came,
 * the client gets what came, and reports it.
 */
export function createChatModel(create: (fetch: Wire["fetch"]) => ChatLanguageModel, { fetch, ask }: Wire): LanguageModelV4 {
  let line: RequestLine | undefined;
  const model = create(async (input, init) => {
    if (line) return fetch(input, init);
    line = { url: String(input), headers: init?.headers ?? {} };
    throw new Error("only the request line was asked for");
  });
  let finding: Promise<unknown> | undefined;
  /** Lets the library make a request that is not sent, once. */
  const findLine = () => {
    finding ??= Promise.resolve(model.doGenerate({ prompt: [] })).catch(() => undefined);
    return finding;
  };
  const texts = new WeakMap<LanguageModelV4Message, string>();

  /** The JSON of messages without the brackets of their list. */
  async function toText(prompt: readonly LanguageModelV4Message[]): Promise<string> {
    const all: string[] = [];
    for (const message of prompt) {
      const text = texts.get(message) ?? (await convert(message));
      texts.set(message, text);
      if (text !== "") all.push(text);
    }
    return all.join();
  }

  async function convert(message: LanguageModelV4Message): Promise<string> {
    const { body } = await model.prepareRequest({ prompt: [message] });
    return JSON.stringify(body["messages"]).slice(1, -1);
  }

  async function generate({ prompt, ...options }: LanguageModelV4CallOptions, signal: AbortSignal) {
    const messages = await toText(prompt);
    const rest = { ...options, prompt: [] };
    readyMessages.set(signal, messages);
    if (!line || keptAnswers.has(signal)) return model.doGenerate(rest);
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
      await findLine();
      return options.abortSignal ? generate(options, options.abortSignal) : model.doGenerate(options);
    },
    async doStream({ prompt, ...options }) {
      const { abortSignal: signal } = options;
      await findLine();
      if (!signal) return model.doStream({ ...options, prompt });
      readyMessages.set(signal, await toText(prompt));
      return model.doStream({ ...options, prompt: [] });
    },
  };
}
