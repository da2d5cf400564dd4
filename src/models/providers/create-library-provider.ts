import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { JsonObject } from "../../protocol/json.ts";
import { type LoadedModel, openOnce } from "../library/loaded-model.ts";
import type { CallOptionsFacts } from "../library/to-call-options.ts";
import type { OptionRules } from "../options/option-rules.ts";
import type { Provider, ProviderEnvironment } from "../provider.ts";
import { type EndpointFacts, resolveEndpoint } from "../provider-endpoint.ts";
import type { AnswerRepair } from "../wire/repair.ts";

/** A provider whose wire protocol a library speaks. Plain data but for `load`, which imports that library. */
export interface LibraryProviderFacts
  extends EndpointFacts,
    Omit<CallOptionsFacts, "id" | "optionRules">,
    Pick<Provider, "name" | "description" | "isFree" | "freeTools" | "families" | "attachments"> {
  /** Its id in the table of listed prices; null: it has none there. */
  readonly priceTable: string | null;
  /** Returns the provider options that later requests must carry because of this answer. */
  carry?(metadata: SharedV4ProviderMetadata): JsonObject | undefined;
  /** Imports the list of options that a worker may set. */
  loadOptionRules(): Promise<OptionRules>;
  /** Imports what puts the answers of this wire format right. */
  loadRepair(): Promise<AnswerRepair>;
  load(settings: LibrarySettings): Promise<LoadedModel>;
  /** True if `usage.cost` of its answers is what they cost, in dollars. */
  readonly reportsCost?: boolean;
  /** Advice for the user if the connection is refused. */
  readonly whenUnreachable?: string;
}

export interface LibrarySettings {
  /** The model's name, without the provider. */
  readonly name: string;
  readonly baseURL: string;
  readonly apiKey: string | undefined;
  /** The stage before the network. */
  readonly fetch: typeof globalThis.fetch;
  /** Variables of the environment; an empty value counts as unset. */
  readonly variable: ProviderEnvironment["variable"];
}

export function createLibraryProvider(facts: LibraryProviderFacts): Provider {
  return {
    name: facts.name,
    description: facts.description,
    keyVariables: facts.keyVariables,
    needsKey: facts.keyRequired !== false,
    loadOptionRules: facts.loadOptionRules,
    ...(facts.priceTable === null ? {} : { priceTable: facts.priceTable }),
    ...(facts.families ? { families: facts.families } : {}),
    ...(facts.attachments ? { attachments: facts.attachments } : {}),
    ...(facts.serverTools ? { serverTools: facts.serverTools } : {}),
    ...(facts.freeTools ? { freeTools: facts.freeTools } : {}),
    ...(facts.isFree ? { isFree: facts.isFree } : {}),
    async create(name, environment) {
      const id = `${facts.name}:${name}`;
      const { baseUrl: baseURL, key } = resolveEndpoint(facts, id, environment);
      const { createWireFetch } = await import("../wire/create-wire-fetch.ts");
      const repair = await facts.loadRepair();
      const settings = { name, baseURL, apiKey: key?.value, variable: environment.variable };
      const open = await openOnce((patience) =>
        facts.load({ ...settings, fetch: createWireFetch(environment.fetch, { repair, patience }) }),
      );
      const { createLanguageModelAdapter } = await import("../library/language-model-adapter.ts");
      const optionRules = await facts.loadOptionRules();
      return createLanguageModelAdapter({ ...facts, open, optionRules, id, ...(key ? { key } : {}) });
    },
  };
}
