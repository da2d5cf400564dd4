import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4Warning } from "@ai-sdk/provider";
import { recordsIn } from "../../protocol/json.ts";
import { createGrowingFold } from "../../util/growing-fold.ts";
import type { LibrarySettings } from "../create-library-provider.ts";
import { bodyWriter, keptAnswers, readyMessages, type Wire } from "./create-wire-fetch.ts";

type LibraryModel = typeof import("@ai-sdk/openai-compatible").OpenAICompatibleChatLanguageModel;
export type ChatOptions = Omit<ConstructorParameters<LibraryModel>[1], "provider" | "url" | "headers" | "fetch">;

/** The address and the headers of a model's requests, which are the same for all of them. */
interface RequestLine {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

type RequestOptions = Omit<LanguageModelV4CallOptions, "prompt" | "abortSignal">;

/** A request but for its messages. */
interface Prepared {
  readonly options: RequestOptions;
  readonly write: (messages: string) => string;
  readonly warnings: readonly SharedV4Warning[];
}

export async function openChatModel(
  { name, baseURL, apiKey, fetch, ask }: Omit<LibrarySettings, "variable">,
  { provider, ...options }: ChatOptions & { readonly provider: string },
): Promise<LanguageModelV4> {
  const { OpenAICompatibleChatLanguageModel, VERSION } = await import("@ai-sdk/openai-compatible");
  const { VERSION: utilities, getRuntimeEnvironmentUserAgent } = await import("@ai-sdk/provider-utils");
  const url = new URL(`${baseURL.replace(/\/$/, "")}/chat/completions`);
  const agent = `ai-sdk-openai-compatible/${VERSION}`;
  const key = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
  const own = { url: () => url.href, headers: { ...key, "user-agent": agent }, fetch, provider: `${provider}.chat` };
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
  const fold = createGrowingFold<LanguageModelV4Message, { text: string }>(
    () => ({ text: "" }),
    (all, message) => {
      all.text = join(all.text, texts.get(message) ?? "");
    },
  );
  let last: Prepared | undefined;

  /** The JSON of messages without the brackets of their list. */
  async function toText(prompt: readonly LanguageModelV4Message[]): Promise<string> {
    await convert(prompt.filter((message) => !texts.has(message)));
    // Calls of one worker have their system messages in common.
    const start = prompt.findIndex(({ role }) => role !== "system");
    const system = start === -1 ? prompt : prompt.slice(0, start);
    return join(...system.map((message) => texts.get(message) ?? ""), start === -1 ? "" : fold(prompt.slice(start)).text);
  }

  /** Converts messages at once: each becomes one message, but for the results of tools, which become one each. */
  async function convert(prompt: LanguageModelV4Message[]): Promise<void> {
    if (prompt.length === 0) return;
    const { body } = await model.prepareRequest({ prompt });
    const made = recordsIn(body["messages"]);
    for (const message of prompt) {
      const { length } = message.role === "tool" ? message.content.filter(({ type }) => type === "tool-result") : [message];
      texts.set(message, toMembers(made.splice(0, length)));
    }
  }

  /** The same for requests of the same options: those of a call differ in their messages alone. */
  async function prepare(options: RequestOptions): Promise<Prepared> {
    if (last && isSame(last.options, options)) return last;
    const { body, warnings } = await model.prepareRequest({ ...options, prompt: [] });
    last = { options, write: bodyWriter(body), warnings };
    return last;
  }

  async function generate({ prompt, abortSignal: _, ...options }: LanguageModelV4CallOptions, signal: AbortSignal) {
    const messages = await toText(prompt);
    const askClient = () => {
      readyMessages.set(signal, messages);
      return model.doGenerate({ ...options, prompt: [], abortSignal: signal });
    };
    if (keptAnswers.has(signal)) return askClient();
    const { write, warnings } = await prepare(options);
    const answer = ask(line.url, { method: "POST", headers: line.headers, body: write(messages), signal });
    try {
      const { body: answered } = await answer;
      if (answered) return { ...(await model.convertResponse({ body: answered })), warnings: [...warnings] };
    } catch {
      // Reported by the client, which gets the same.
    }
    keptAnswers.set(
      signal,
      answer.then(({ toResponse }) => toResponse()),
    );
    return askClient();
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

/** The JSON of a list without its brackets. */
function toMembers(list: unknown): string {
  return JSON.stringify(list).slice(1, -1);
}

/** The JSON of the members of lists, as one list. Concatenated, so that it is written out once, where it is sent. */
function join(...texts: readonly string[]): string {
  return texts.reduce((all, text) => (all === "" || text === "" ? all + text : `${all},${text}`), "");
}

/** Compares the members of two values, in their order, down to tools, schemas and settings, which are the same objects in each request of a call. */
function isSame(one: unknown, other: unknown, levels = 3): boolean {
  if (one === other) return true;
  if (levels === 0 || typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  const [members, others] = [Object.entries(one), Object.entries(other)];
  if (members.length !== others.length) return false;
  return members.every(([name, value], index) => name === others[index]?.[0] && isSame(value, others[index]?.[1], levels - 1));
}
