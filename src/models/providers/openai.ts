import type { LanguageModelV4ProviderTool } from "@ai-sdk/provider";
import type { ServerTool } from "../../protocol/tool.ts";
import { picturesAndPdf } from "../library/result-files.ts";
import { createLibraryProvider } from "./create-library-provider.ts";

/**
 * OpenAI's models over the Responses API, the only one in which reasoning survives a tool call. Nothing is stored at the
 * provider: the whole conversation goes with every request, so that a run can be resumed and forked anywhere.
 */
export const openaiProvider = createLibraryProvider({
  name: "openai",
  description: "GPT and o models (OpenAI)",
  priceTable: "openai",
  families: /^(gpt|chatgpt|o\d)/i,
  prefix: "OPENAI",
  defaultBaseUrl: "https://api.openai.com/v1",
  keyVariables: ["OPENAI_API_KEY"],
  keyRequired: true,
  optionsKey: "openai",
  defaults: { store: false },
  outputBesideTools: true,
  resultFiles: picturesAndPdf,
  serverTools: { web_search: ["allowed_domains", "blocked_domains"], code_execution: [], image_generation: [] },
  toServerTool,
  loadOptionRules: async () => (await import("../options/provider-options.ts")).openaiOptions,
  loadRepair: async () => (await import("../wire/responses-repair.ts")).responsesRepair,
  async load(settings) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { createReplay } = await import("./openai-replay.ts");
    const { name, apiKey = "", baseURL } = settings;
    const replay = createReplay(settings.fetch, apiKey);
    return {
      model: replay.wrap(createOpenAI({ baseURL, apiKey, fetch: replay.fetch }).responses(name)),
      download: async (message, signal) => {
        const { downloadFromOpenai } = await import("./openai-files.ts");
        return downloadFromOpenai(settings, message, signal);
      },
    };
  },
});

function toServerTool({
  type,
  allowed_domains: allowedDomains,
  blocked_domains: blockedDomains,
}: ServerTool): LanguageModelV4ProviderTool {
  if (type === "code_execution") return { type: "provider", id: "openai.code_interpreter", name: type, args: {} };
  if (type === "image_generation") return { type: "provider", id: "openai.image_generation", name: type, args: {} };
  const isBounded = allowedDomains !== undefined || blockedDomains !== undefined;
  const args = isBounded ? { filters: { allowedDomains, blockedDomains } } : {};
  return { type: "provider", id: "openai.web_search", name: type, args };
}
