import { anthropicProvider } from "./anthropic.ts";
import { openaiProvider } from "./openai.ts";
import { ollamaProvider, openaiCompatibleProvider, openrouterProvider } from "./openai-compatible.ts";
import { packagedProviders } from "./packaged-providers.ts";
import type { Provider } from "./provider.ts";
import { scriptedProvider } from "./scripted/scripted-provider.ts";

/** The providers that come with the product. Plain data: no provider library is loaded by importing this. */
export const builtInProviders: readonly Provider[] = [
  anthropicProvider,
  openaiProvider,
  openrouterProvider,
  ollamaProvider,
  ...packagedProviders,
  openaiCompatibleProvider,
  scriptedProvider,
];
