import { createLibraryProvider } from "./create-library-provider.ts";

/**
 * OpenAI's models over the Responses API, the only one in which reasoning survives a tool call. Nothing is stored at the
 * provider: the whole conversation goes with every request, so that a run can be resumed and forked anywhere.
 */
export const openaiProvider = createLibraryProvider({
  name: "openai",
  description: "GPT and o models (OpenAI)",
  prefix: "OPENAI",
  defaultBaseUrl: "https://api.openai.com/v1",
  keyVariables: ["OPENAI_API_KEY"],
  keyRequired: true,
  optionsKey: "openai",
  defaults: { store: false },
  outputBesideTools: true,
  async load({ name, ...settings }) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ ...settings, apiKey: settings.apiKey ?? "" }).responses(name);
  },
});
