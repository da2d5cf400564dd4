import { getOrMake } from "../../util/get-or-make.ts";
import type { Provider } from "../provider.ts";
import { scriptedProvider } from "../scripted/scripted-provider.ts";
import { anthropicProvider } from "./anthropic.ts";
import { openaiProvider } from "./openai.ts";
import { compatibleProviders } from "./openai-compatible.ts";
import { packagedProviders } from "./packaged-providers.ts";

/** The providers that come with the product. Plain data: no provider library is loaded by importing this. */
export const builtInProviders: readonly Provider[] = [
  anthropicProvider,
  openaiProvider,
  ...compatibleProviders,
  ...packagedProviders,
  scriptedProvider,
];

const named = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown>>();

/** Providers by their names in lower case, made once for a list of them, which is not changed. Of two with one name, the later one counts. */
export function byName<T extends Pick<Provider, "name">>(providers: readonly T[]): ReadonlyMap<string, T> {
  const create = () => new Map(providers.map((provider) => [provider.name.toLowerCase(), provider]));
  return getOrMake(named, providers, create) as ReadonlyMap<string, T>;
}
