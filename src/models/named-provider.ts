import { createCompatibleProvider } from "./openai-compatible.ts";
import type { Provider } from "./provider.ts";

/** A server that a program declares: all that is needed to reach it, and nothing that the environment could change. */
export interface NamedServer {
  readonly name: string;
  readonly baseUrl: string;
  /** `variable`: what the key is called where it is refused. */
  readonly key?: { readonly variable: string; readonly value: string };
}

/** A provider for it that speaks OpenAI's chat completions. Its key goes to its address alone. */
export function createNamedProvider({ name, baseUrl, key }: NamedServer): Provider {
  const provider = createCompatibleProvider({
    name,
    description: `${name}, at ${baseUrl}`,
    priceTable: null,
    prefix: "",
    defaultBaseUrl: baseUrl,
    keyVariables: key ? [key.variable] : [],
    keyRequired: false,
    outputBesideTools: false,
  });
  const variable = (asked: string) => (asked === key?.variable ? key.value : undefined);
  return { ...provider, create: (model, environment) => provider.create(model, { ...environment, variable }) };
}
