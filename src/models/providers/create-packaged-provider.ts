import type { LanguageModelV4 } from "@ai-sdk/provider";
import { isRecord } from "../../protocol/json.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { ModelError } from "../model.ts";
import type { OptionRules } from "../options/option-rules.ts";
import type { Provider } from "../provider.ts";
import { missingKey } from "../provider-endpoint.ts";
import { createLibraryProvider, type LibraryProviderFacts } from "./create-library-provider.ts";

type Filled =
  | "load"
  | "loadRepair"
  | "loadOptionRules"
  | "optionsKey"
  | "prefix"
  | "outputBesideTools"
  | "priceTable"
  | "keyRequired";

/** A provider that a package of the AI SDK speaks to. Plain data. */
export interface PackagedFacts extends Omit<LibraryProviderFacts, Filled>, Partial<Pick<LibraryProviderFacts, "optionsKey">> {
  /** The npm package with the major version that is supported: `@ai-sdk/mistral@4`. */
  readonly package: string;
  /** The package's function that creates the provider. */
  readonly export: string;
  /** Its id in the table of listed prices, if that is not `name`; null: it has none there. */
  readonly priceTable?: string | null;
  /** Default: false. */
  readonly outputBesideTools?: boolean;
  /** The wire format, in which its answers are repaired. */
  readonly wire: keyof typeof repairs;
  /** Its list in `options/provider-options.ts`. */
  readonly options: keyof typeof import("../options/provider-options.ts");
  /** Variables for what signs requests in place of a key, by the name of the setting. The first is required. */
  readonly signing?: Readonly<Record<string, string>>;
  /** True if the package finds credentials of the user by itself if no key is set, at the default address only. */
  readonly findsCredentials?: boolean;
}

const repairs = {
  chat: async () => (await import("../wire/chat-repair.ts")).chatRepair,
  responses: async () => (await import("../wire/responses-repair.ts")).responsesRepair,
  google: async () => (await import("../wire/google-repair.ts")).googleRepair,
  bedrock: async () => (await import("../wire/bedrock-repair.ts")).bedrockRepair,
  cohere: async () => (await import("../wire/cohere-repair.ts")).cohereRepair,
};

/** The package is imported when a model is first used. */
export function createPackagedProvider(facts: PackagedFacts): Provider {
  const { name, wire, signing = {}, findsCredentials = false } = facts;
  const isSigned = findsCredentials || Object.keys(signing).length > 0;
  const provider = createLibraryProvider({
    optionsKey: name,
    priceTable: name,
    outputBesideTools: false,
    ...facts,
    prefix: name.toUpperCase(),
    keyRequired: isSigned ? "elsewhere" : true,
    loadOptionRules: () => loadOptionRules(facts),
    loadRepair: repairs[wire],
    async load({ name: model, apiKey = "", variable, ...settings }) {
      const id = `${name}:${model}`;
      const signed = Object.entries(signing).map(([setting, from]) => [setting, variable(from)] as const);
      const missing = signed[0] !== undefined && apiKey === "" && signed[0][1] === undefined;
      if (missing) throw missingKey(id, facts.keyVariables[0] ?? "");
      const create = await importProvider(id, facts);
      return { model: create({ ...settings, apiKey, ...Object.fromEntries(signed) })(model) };
    },
  });
  const [signingKey] = Object.values(signing);
  const insteadOfKey = [...(signingKey ? [signingKey] : []), ...(findsCredentials ? ["GOOGLE_VERTEX_PROJECT"] : [])];
  return { ...provider, package: facts.package, ...(insteadOfKey.length > 0 ? { insteadOfKey } : {}) };
}

/** Imports the list of options that a worker may set for the package. */
export async function loadOptionRules({ options }: Pick<PackagedFacts, "options">): Promise<OptionRules> {
  return (await import("../options/provider-options.ts"))[options];
}

type CreateProvider = (settings: Readonly<Record<string, unknown>>) => (model: string) => LanguageModelV4;

async function importProvider(model: string, { package: wanted, export: name }: PackagedFacts): Promise<CreateProvider> {
  const specifier = wanted.slice(0, wanted.lastIndexOf("@"));
  const fail = (message: string, cause?: unknown) => new ModelError({ code: "not_found", model, message, cause });
  let loaded: unknown;
  try {
    loaded = await import(/* @vite-ignore */ specifier);
  } catch (cause) {
    const isMissing =
      isRecord(cause) && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(cause["code"])) && String(cause).includes(specifier);
    if (!isMissing) throw fail(`${model} cannot be used: ${specifier} does not load: ${errorMessage(cause)}`, cause);
    throw fail(
      `${model} needs the package ${specifier}. Run \`npm install ${wanted}\` where llm-do is installed ` +
        "(`npm install --global` if it is installed globally)",
      cause,
    );
  }
  const create = isRecord(loaded) ? loaded[name] : undefined;
  if (typeof create === "function") return create as CreateProvider;
  throw fail(`${model} cannot be used: this version of ${specifier} has no ${name}. Run \`npm install ${wanted}\``);
}
