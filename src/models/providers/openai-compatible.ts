import { recordsIn } from "../../protocol/json.ts";
import { chatMedia } from "../library/result-files.ts";
import type { Provider } from "../provider.ts";
import { createLibraryProvider, type LibraryProviderFacts } from "./create-library-provider.ts";

type Filled = "load" | "loadRepair" | "loadOptionRules" | "optionsKey";
type CompatibleFacts = Omit<LibraryProviderFacts, Filled> & Partial<Pick<LibraryProviderFacts, "loadOptionRules">>;

/** The name that the library itself is known by: it takes options, and members of messages, under this one from every server. */
const optionsKey = "openaiCompatible";

/** Any service that speaks OpenAI's chat completions: one adapter, and a row of data each. */
export function createCompatibleProvider(facts: CompatibleFacts): Provider {
  const provider = createLibraryProvider({
    loadOptionRules: async () => (await import("../options/provider-options.ts")).chatOptions,
    resultFiles: chatMedia,
    ...facts,
    optionsKey,
    loadRepair: async () => (await import("../wire/chat-repair.ts")).chatRepair,
    async load({ name, baseURL, apiKey, fetch }) {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const { reasoningExtractor } = await import("./chat-reasoning.ts");
      const create = createOpenAICompatible({
        ...{ name: optionsKey, baseURL, fetch, ...(apiKey ? { apiKey } : {}) },
        includeUsage: true,
        metadataExtractor: reasoningExtractor,
        supportsStructuredOutputs: true,
        ...(facts.cacheMark ? { transformRequestBody: moveMarks } : {}),
      });
      return { model: create(name) };
    },
  });
  if (facts.priceTable !== null) return provider;
  return { ...provider, listModels: async (from) => (await import("../served-models.ts")).listServedModels(facts, from) };
}

/** The library writes a mark into the message. Servers take it in a part of the content. */
function moveMarks({ messages, ...body }: Record<string, unknown>): Record<string, unknown> {
  return { ...body, messages: recordsIn(messages).map(moveMark) };
}

function moveMark(message: Readonly<Record<string, unknown>>): object {
  const { cache_control: mark, content, ...rest } = message;
  if (mark === undefined) return message;
  if (typeof content === "string") return { ...rest, content: [{ type: "text", text: content, cache_control: mark }] };
  return { ...rest, content };
}

/** A row for each server: all that is known of it. */
export const compatibleProviders: readonly Provider[] = [
  createCompatibleProvider({
    name: "openrouter",
    description: "Models of many providers through OpenRouter",
    priceTable: "openrouter",
    prefix: "OPENROUTER",
    defaultBaseUrl: "https://openrouter.ai/api/v1",
    keyVariables: ["OPENROUTER_API_KEY"],
    keyRequired: true,
    loadOptionRules: async () => (await import("../options/provider-options.ts")).openrouterOptions,
    reportsCost: true,
    outputBesideTools: true,
    // Models of other providers find by themselves what is in their cache.
    cacheMark: { option: "cache_control", value: { type: "ephemeral" }, models: /^anthropic\//, onParts: true },
  }),
  createCompatibleProvider({
    name: "ollama",
    description: "Models on this machine, or another, through Ollama",
    priceTable: null,
    isFree: true,
    families: /^(llama|qwen|mistral|gemma|phi|deepseek)/i,
    prefix: "OLLAMA",
    defaultBaseUrl: "http://localhost:11434/v1",
    otherBaseUrl: { variable: "OLLAMA_HOST", toUrl: readOllamaHost },
    keyVariables: [],
    keyRequired: false,
    outputBesideTools: false,
    whenUnreachable: "start Ollama (`ollama serve`), or set OLLAMA_HOST to where it runs",
  }),
  createCompatibleProvider({
    name: "openai-compatible",
    description: "Any server with OpenAI's chat completions (vLLM, LM Studio, …) at OPENAI_COMPATIBLE_BASE_URL",
    priceTable: null,
    prefix: "OPENAI_COMPATIBLE",
    keyVariables: ["OPENAI_COMPATIBLE_API_KEY"],
    keyRequired: false,
    outputBesideTools: false,
  }),
];

/** Reads Ollama's own variable: `host`, `host:port` or a URL, as its server and its command do. */
function readOllamaHost(host: string): string {
  const isUrl = /^https?:\/\//i.test(host);
  const text = isUrl ? host : `http://${host}`;
  if (!URL.canParse(text)) return host;
  const url = new URL(text);
  // An address to listen on is not one to call.
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  if (!url.port && !isUrl) url.port = "11434";
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}
