import type { ServerToolType } from "../protocol/tool.ts";
import type { Login } from "./login/login.ts";
import type { Model } from "./model.ts";
import type { OptionRules } from "./options/option-rules.ts";
import type { ServerToolSupport } from "./server-tools.ts";

/** The part of the machine that an adapter may use. The host provides it; an adapter reads nothing from `process`. */
export interface ProviderEnvironment {
  /** Environment variables; an empty value counts as unset. */
  variable(name: string): string | undefined;
  /** Returns where the value of a variable came from, for messages about it. Default: the variable itself. */
  sourceOf?(name: string): string;
  readonly fetch: typeof globalThis.fetch;
  /** In place of a key: its token is in the requests of `fetch`, which go to its origin alone. Default: none. */
  readonly login?: Login;
  /** Imports a script of the program or the user (a `scripted:` model). Refuses what is not trusted. */
  importScript(path: string): Promise<Record<string, unknown>>;
  readText(path: string): Promise<string>;
}

/** One service. Plain data and a factory; its library is imported inside `create`, when a model of it is first used. */
export interface Provider {
  /** The part before the colon of a model id. */
  readonly name: string;
  readonly description: string;
  /** The variables that can hold its key, the first that is set is used; empty: it needs none. */
  readonly keyVariables: readonly string[];
  /** False if its models can be used without a key. Default: a key is needed where `keyVariables` names one. */
  readonly needsKey?: boolean;
  /** Variables that can stand in for a key, such as those of a signature. */
  readonly insteadOfKey?: readonly string[];
  /** The npm package with its major version that has to be installed. Absent: none. */
  readonly package?: string;
  /** Its id in the table of listed prices (genai-prices). Absent: its models have no price unless the run's `prices` has one. */
  readonly priceTable?: string;
  /** True if using its models costs nothing. */
  readonly isFree?: true;
  /** Tools of `serverTools` that cost their tokens and nothing else. Absent: none. */
  readonly freeTools?: readonly ServerToolType[];
  /** Names of its models, for the hint of a model id without a provider. */
  readonly families?: RegExp;
  /** The server-side tools that its models can have. Absent: none, and a worker that wants one does not compile. */
  readonly serverTools?: ServerToolSupport;
  /** Media types that its models can take besides text, such as `image/*`. Absent: any. */
  readonly attachments?: readonly string[];
  /** The `provider_options` that it takes. Absent: anything, passed on unchanged. */
  loadOptionRules?(): Promise<OptionRules>;
  /** Asks its server for the names of its models. Absent: its models are those of the table. Rejects with a `ModelError`. */
  listModels?(environment: ProviderEnvironment): Promise<readonly string[]>;
  /** `name` is the part after the colon. Rejects with a `ModelError` (`auth` names the missing variable). */
  create(name: string, environment: ProviderEnvironment): Promise<Model>;
}
