import type { LanguageModelV4, LanguageModelV4ProviderTool, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { JsonObject } from "../protocol/json.ts";
import type { AssistantMessage, FilePart } from "../protocol/message.ts";
import type { ServerTool } from "../protocol/tool.ts";
import type { OutputFacts } from "./answer-tool.ts";
import type { CacheMark } from "./cache-marks.ts";
import type { Model } from "./model.ts";
import type { OptionRules } from "./options/option-rules.ts";
import type { Provider, ProviderEnvironment } from "./provider.ts";
import { type EndpointFacts, resolveEndpoint } from "./provider-endpoint.ts";
import type { ServerToolSupport } from "./server-tools.ts";
import type { Wire } from "./wire/create-wire-fetch.ts";
import type { AnswerRepair } from "./wire/repair.ts";

/** A provider whose wire protocol a library speaks. Plain data but for `load`, which imports that library. */
export interface LibraryProviderFacts extends EndpointFacts, OutputFacts {
  readonly name: string;
  readonly description: string;
  /** Its id in the table of listed prices; null: it has none there. */
  readonly priceTable: string | null;
  /** Names of its models, for the hint of a model id without a provider. */
  readonly families?: RegExp;
  /** Media types that its models can take besides text, such as `image/*`. Absent: any. */
  readonly attachments?: readonly string[];
  /** The name under which the library takes its own options. */
  readonly optionsKey: string;
  /** Provider options that hold unless the worker says otherwise. */
  readonly defaults?: JsonObject;
  /** Absent: the provider finds by itself what is in its cache. */
  readonly cacheMark?: CacheMark;
  readonly serverTools?: ServerToolSupport;
  /** True if its models take no tools. */
  readonly takesNoTools?: boolean;
  /** A tool of `serverTools` as the library takes it. */
  toServerTool?(tool: ServerTool): LanguageModelV4ProviderTool;
  /** Returns the provider options that later requests must carry because of this answer. */
  carry?(metadata: SharedV4ProviderMetadata): JsonObject | undefined;
  /** Imports the list of options that a worker may set. */
  loadOptionRules(): Promise<OptionRules>;
  /** Imports what puts the answers of this wire format right. Absent: answers are bounded only. */
  loadRepair?(): Promise<AnswerRepair>;
  load(settings: LibrarySettings): Promise<LoadedModel>;
  /** True if a model holds nothing but the settings that it was loaded with: it serves all runs that have the same. */
  readonly isShared?: boolean;
  /** True where `usage.cost` of its answers is what they cost, in dollars. */
  readonly reportsCost?: boolean;
  /** Advice for the user if the connection is refused. */
  readonly whenUnreachable?: string;
}

export interface LoadedModel {
  readonly model: LanguageModelV4;
  /** Fetches the files that the provider made for an answer and keeps on its side. Rejects where one cannot be had. */
  download?(message: AssistantMessage, signal: AbortSignal): Promise<readonly FilePart[]>;
}

export interface LibrarySettings extends Wire {
  /** The model's name, without the provider. */
  readonly name: string;
  readonly baseURL: string;
  readonly apiKey: string | undefined;
  /** Variables of the environment; an empty value counts as unset. */
  readonly variable: ProviderEnvironment["variable"];
}

/** A model that is kept for later runs. */
interface SharedModel {
  readonly endpoint: string;
  readonly fetch: typeof globalThis.fetch;
  readonly model: Model;
}

/** Shared models of one provider that are kept; the oldest is dropped first. */
const mostShared = 8;

export function createLibraryProvider(facts: LibraryProviderFacts): Provider {
  const shared = new Map<string, SharedModel>();
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
    async create(name, environment) {
      const id = `${facts.name}:${name}`;
      const { baseUrl: baseURL, key } = resolveEndpoint(facts, id, environment);
      const { fetch, login } = environment;
      const endpoint = JSON.stringify([baseURL, key]);
      const known = shared.get(name);
      if (!login && known?.endpoint === endpoint && known.fetch === fetch) return known.model;
      const { createWire } = await import("./wire/create-wire-fetch.ts");
      const wire = createWire(fetch, await facts.loadRepair?.());
      const loaded = await facts.load({ name, baseURL, apiKey: key?.value, ...wire, variable: environment.variable });
      const { createLanguageModelAdapter } = await import("./language-model-adapter.ts");
      const optionRules = await facts.loadOptionRules();
      const model = createLanguageModelAdapter({ ...facts, ...loaded, optionRules, id, ...(key ? { key } : {}) });
      if (!facts.isShared || login) return model;
      const [oldest = name] = shared.keys();
      if (shared.size >= mostShared) shared.delete(oldest);
      shared.set(name, { endpoint, fetch, model });
      return model;
    },
  };
}
