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
  async load({ name, baseURL, apiKey = "", fetch }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ baseURL: withVersion(baseURL), apiKey, fetch })(name);
  },
});

/** Anthropic's own library and tools read ANTHROPIC_BASE_URL without the version. */
function withVersion(baseUrl: string): string {
  const bare = baseUrl.replace(/\/+$/, "");
  return /\/v\d+$/.test(bare) ? bare : `${bare}/v1`;
}
