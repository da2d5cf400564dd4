import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider";
import type { JsonSchema } from "../../protocol/tool.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { ModelError } from "../model.ts";
import type { OptionRules } from "../options/option-rules.ts";
import type { Provider } from "../provider.ts";
import { findKey, missingKey } from "../provider-endpoint.ts";
import { openOnce } from "./loaded-model.ts";

/** A language model of the AI SDK: interface version 2 (AI SDK 5), 3 (AI SDK 6) or 4 (AI SDK 7). */
export type LanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/** How a model of the AI SDK reaches its provider. */
export interface LanguageModelAccess {
  /** The value of the first of `keyVariables` that is set; undefined if there are none. */
  readonly apiKey: string | undefined;
  /** The host's `fetch`: it follows no redirects, bounds the size of answers and keeps to the time-outs of `model_settings`. */
  readonly fetch: typeof globalThis.fetch;
}

/** Language models of the AI SDK as a provider of llm-do. */
export interface LanguageModelSource {
  /** The part before the colon of its model ids. One of a built-in provider takes its place. */
  readonly name: string;
  /**
   * A model, which is used for its own `modelId` alone; or a function that returns the model of a name. Only a function gets a key
   * and a `fetch`; a model has its own.
   */
  readonly model: LanguageModel | ((name: string, access: LanguageModelAccess) => LanguageModel | Promise<LanguageModel>);
  /** Default: `name` alone. */
  readonly description?: string;
  /** Environment variables that can hold the key, one of which must be set. Default: none. */
  readonly keyVariables?: readonly string[];
  /** The provider's id in genai-prices. Default: none; the models then have no price unless the run's `prices` has one. */
  readonly priceTable?: string;
  /** The key of `providerOptions` that the provider package reads. Default: `name`. */
  readonly optionsKey?: string;
  /** The `provider_options` that worker files may set, with the schema of each value. Default: none. */
  readonly options?: Readonly<Record<string, JsonSchema>>;
  /** True if the models can fit an answer to a schema while tools are offered. Default false: the answer is then the call of a tool. */
  readonly outputBesideTools?: boolean;
  /** True if the models cannot fit an answer to a schema at all: it is always the call of a tool. Default false. */
  readonly outputByTool?: boolean;
}

/** Returns a provider for `providers` of `run` and `compile`. Its models are gated, metered and recorded as all others are. */
export function fromLanguageModel(source: LanguageModelSource): Provider {
  return createSourceProvider(source, async () => source.options ?? {});
}

/** `loadOptionRules` takes the place of the source's `options`. */
export function createSourceProvider(source: LanguageModelSource, loadOptionRules: () => Promise<OptionRules>): Provider {
  const { name, description = name, keyVariables = [], optionsKey = name, priceTable } = source;
  const { outputBesideTools = false, outputByTool = false } = source;
  return {
    name,
    description,
    keyVariables,
    loadOptionRules,
    ...(priceTable === undefined ? {} : { priceTable }),
    async create(modelName, environment) {
      const id = `${name}:${modelName}`;
      const [variable] = keyVariables;
      const key = findKey(keyVariables, environment);
      if (variable !== undefined && !key) throw missingKey(id, variable);
      const { createWireFetch } = await import("../wire/create-wire-fetch.ts");
      const open = await openOnce(async (patience) => {
        const access = { apiKey: key?.value, fetch: createWireFetch(environment.fetch, { patience }) };
        return { model: await makeModel(source, { id, name: modelName, access }) };
      });
      const { createLanguageModelAdapter } = await import("./language-model-adapter.ts");
      const optionRules = await loadOptionRules();
      const how = { optionsKey, optionRules, outputBesideTools, outputByTool };
      return createLanguageModelAdapter({ id, open, ...how, ...(key ? { key } : {}) });
    },
  };
}

async function makeModel(
  { model }: LanguageModelSource,
  { id, name, access }: { readonly id: string; readonly name: string; readonly access: LanguageModelAccess },
): Promise<LanguageModel> {
  if (typeof model === "object") {
    if (model.modelId === name) return model;
    throw new ModelError({ code: "not_found", model: id, message: `${id} is unknown: the only model here is ${model.modelId}` });
  }
  try {
    return await model(name, access);
  } catch (cause) {
    throw new ModelError({ code: "not_found", model: id, message: `${id} cannot be created: ${errorMessage(cause)}`, cause });
  }
}
