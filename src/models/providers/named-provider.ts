import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import { createSourceProvider, type LanguageModel, type LanguageModelSource } from "../library/from-language-model.ts";
import type { Provider } from "../provider.ts";
import { loadOptionRules } from "./create-packaged-provider.ts";
import { createCompatibleProvider } from "./openai-compatible.ts";
import { findPackageFacts } from "./packaged-providers.ts";

/** A server that a program declares: all that is needed to reach it, and nothing that the environment could change. */
export interface NamedServer {
  readonly name: string;
  readonly baseUrl: string;
  /** `variable`: what the key is called where it is refused. */
  readonly key?: { readonly variable: string; readonly value: string };
}

/** A package of the program that has models of the AI SDK. Its code is trusted. */
export interface NamedPackage extends Pick<NamedServer, "name" | "key"> {
  readonly baseUrl?: string;
  /** The npm package. */
  readonly package: string;
  /** Its export that creates the provider. */
  readonly create: (settings: Readonly<Record<string, unknown>>) => unknown;
  /** Settings of `create`, with variables filled in. */
  readonly options: JsonObject;
}

export type DeclaredProvider = NamedServer | NamedPackage;

const providers = new WeakMap<DeclaredProvider, Provider>();

/** Returns the provider that a program declares, the same for all of its runs. */
export function createDeclaredProvider(declared: DeclaredProvider): Provider {
  return getOrMake(providers, declared, () =>
    "package" in declared ? createFromPackage(declared) : createNamedProvider(declared),
  );
}

/**
 * The package gets no key but the declared one: it would look for another in the environment, and send it to the declared address.
 * Facts of a package that llm-do has a provider for hold here, too.
 */
function createFromPackage({ name, package: specifier, create, baseUrl, key, options }: NamedPackage): Provider {
  const facts = findPackageFacts(specifier);
  const settings = { ...options, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }), apiKey: key?.value ?? "" };
  const { priceTable = facts?.name } = facts ?? {};
  const source: LanguageModelSource = {
    name,
    description: `${name}, by ${specifier}`,
    model: (model, { fetch }) => modelOf(create({ ...settings, fetch }), model),
    keyVariables: key ? [key.variable] : [],
    optionsKey: facts?.optionsKey ?? facts?.name ?? name,
    outputBesideTools: facts?.outputBesideTools ?? false,
    outputByTool: facts?.outputByTool ?? false,
    ...(priceTable ? { priceTable } : {}),
  };
  const provider = createSourceProvider(source, async () => (facts ? loadOptionRules(facts) : {}));
  return withDeclaredKey({ ...provider, ...(facts?.attachments ? { attachments: facts.attachments } : {}) }, key);
}

/** Packages give a function of the model's name, an object with that function, or both in one. */
function modelOf(provider: unknown, name: string): LanguageModel {
  const make = typeof provider === "function" ? provider : isRecord(provider) ? provider["languageModel"] : undefined;
  const model: unknown = typeof make === "function" ? make.call(provider, name) : undefined;
  if (isRecord(model) && typeof model["doGenerate"] === "function") return model as unknown as LanguageModel;
  throw new TypeError("the export of its package creates no provider of language models");
}

/** Gives a provider the declared key in the place of the environment. */
function withDeclaredKey(provider: Provider, key: NamedServer["key"]): Provider {
  const variable = (asked: string) => (asked === key?.variable ? key.value : undefined);
  return {
    ...provider,
    create: (model, { sourceOf: _, ...environment }) => provider.create(model, { ...environment, variable }),
  };
}

/** A provider for it that speaks OpenAI's chat completions. Its key goes to its address alone. */
function createNamedProvider({ name, baseUrl, key }: NamedServer): Provider {
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
  return withDeclaredKey(provider, key);
}
