import { createLibraryProvider } from "./create-library-provider.ts";

/** Claude models over the Messages API. */
export const anthropicProvider = createLibraryProvider({
  name: "anthropic",
  description: "Claude models (Anthropic)",
  prefix: "ANTHROPIC",
  defaultBaseUrl: "https://api.anthropic.com/v1",
  keyVariables: ["ANTHROPIC_API_KEY"],
  keyRequired: true,
  optionsKey: "anthropic",
  outputBesideTools: true,
  async load({ name, ...settings }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ ...settings, apiKey: settings.apiKey ?? "" })(name);
  },
});
