import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { JsonObject } from "../protocol/json.ts";
import type { Provider, ProviderEnvironment } from "./provider.ts";
import { type EndpointFacts, resolveEndpoint } from "./provider-endpoint.ts";

/** A provider whose wire protocol a library speaks. Plain data but for `load`, which imports that library. */
export interface LibraryProviderFacts extends EndpointFacts {
  readonly name: string;
  readonly description: string;
  /** The name of the library's own options; a worker's `provider_options` go there. */
  readonly optionsKey: string;
  /** Provider options that hold unless the worker says otherwise. */
  readonly defaults?: JsonObject;
  /** False where a server cannot constrain its answer while tools are offered; the schema is then told in words. */
  readonly outputBesideTools: boolean;
  load(settings: LibrarySettings): Promise<LanguageModelV4>;
}

export interface LibrarySettings {
  /** The model's name, without the provider. */
  readonly name: string;
  readonly baseURL: string;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

export function createLibraryProvider(facts: LibraryProviderFacts): Provider {
  return {
    name: facts.name,
    description: facts.description,
    keyVariables: facts.keyVariables,
    async create(name, environment) {
      const id = `${facts.name}:${name}`;
      const { baseUrl: baseURL, key } = resolveEndpoint(facts, id, environment);
      const model = await facts.load({ name, baseURL, apiKey: key?.value, fetch: fetchWithoutRedirects(environment) });
      const { createLanguageModelAdapter } = await import("./language-model-adapter.ts");
      return createLanguageModelAdapter({ ...facts, id, model, ...(key ? { key } : {}) });
    },
  };
}

/** A redirect would carry the key to another address: its answer is an error like any other. */
function fetchWithoutRedirects({ fetch }: ProviderEnvironment): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, redirect: "manual" });
}
