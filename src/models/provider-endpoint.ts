import { ModelError } from "./model.ts";
import type { ProviderEnvironment } from "./provider.ts";

/** The address and the key of a provider. Plain data. */
export interface EndpointFacts {
  /** `ANTHROPIC`: the variables are `<prefix>_BASE_URL` and `<prefix>_BASE_URL_KEY`. */
  readonly prefix: string;
  /** A URL, or how it follows from variables. Without one the base URL must be set. */
  readonly defaultBaseUrl?: string | ((variable: ProviderEnvironment["variable"]) => string | undefined);
  /** The variables that `defaultBaseUrl` is derived from, in words. */
  readonly addressHint?: string;
  /** Keys for the default origin, the first that is set is used. */
  readonly keyVariables: readonly string[];
  /** `elsewhere`: at another address than the default one. */
  readonly keyRequired: boolean | "elsewhere";
  /** The provider's own variable for the base URL, and its conversion to a URL. */
  readonly otherBaseUrl?: { readonly variable: string; readonly toUrl: (value: string) => string };
}

export interface Endpoint {
  readonly baseUrl: string;
  readonly key?: ProviderKey;
}

export interface ProviderKey {
  /** The variable that holds it, or the command that keeps it. */
  readonly variable: string;
  readonly value: string;
}

/**
 * The base URL and the key of a provider. A login says where its provider is, unless a variable does. A key goes to its provider's default origin only: another address, loopback ones
 * included, needs `<prefix>_BASE_URL_KEY`. Throws a `ModelError` of code `auth` that names the variable to set.
 */
export function resolveEndpoint(all: EndpointFacts, model: string, environment: ProviderEnvironment): Endpoint {
  const facts = withDefaultUrl(all, environment);
  const given = readBaseUrl(facts, environment);
  const { login } = environment;
  const baseUrl = given?.url ?? login?.address ?? facts.defaultBaseUrl;
  const { addressHint } = facts;
  const example = `${facts.prefix}_BASE_URL${addressHint ? "" : ", for example to http://localhost:8000/v1"}`;
  if (!baseUrl) throw refuse(model, `needs an address. Set ${addressHint ? `${addressHint}, or ` : ""}${example}.`);
  const origin = originOf(baseUrl, model, given?.variable ?? "");
  if (login && login.origin !== origin)
    throw refuse(model, `has its address at ${origin}, and your login goes to ${login.origin} only.`);
  const key = findKey(keyVariablesFor(facts, origin), environment);
  const needsKey = facts.keyRequired === "elsewhere" ? !isDefaultOrigin(facts, origin) : facts.keyRequired;
  if (!key && needsKey) throw missingKeyFor(facts, model, origin);
  if (key && !/^[\x21-\x7e]+$/.test(key.value)) throw refuse(model, `needs another key: ${key.variable} holds what no key can.`);
  return { baseUrl, ...(key ? { key } : {}) };
}

type ResolvedFacts = Omit<EndpointFacts, "defaultBaseUrl"> & { readonly defaultBaseUrl?: string };

function withDefaultUrl({ defaultBaseUrl, ...facts }: EndpointFacts, environment: ProviderEnvironment): ResolvedFacts {
  const isDerived = typeof defaultBaseUrl === "function";
  const url = isDerived ? defaultBaseUrl((name) => read(environment, name)) : defaultBaseUrl;
  return url === undefined ? facts : { ...facts, defaultBaseUrl: url };
}

function readBaseUrl(facts: EndpointFacts, environment: ProviderEnvironment) {
  const variable = `${facts.prefix}_BASE_URL`;
  const url = read(environment, variable);
  if (url) return { variable, url };
  const other = facts.otherBaseUrl && read(environment, facts.otherBaseUrl.variable);
  return facts.otherBaseUrl && other
    ? { variable: facts.otherBaseUrl.variable, url: facts.otherBaseUrl.toUrl(other) }
    : undefined;
}

function keyVariablesFor(facts: ResolvedFacts, origin: string): readonly string[] {
  const named = `${facts.prefix}_BASE_URL_KEY`;
  if (!facts.defaultBaseUrl) return facts.addressHint ? [named] : [named, ...facts.keyVariables];
  return isDefaultOrigin(facts, origin) ? facts.keyVariables : [named];
}

function isDefaultOrigin(facts: ResolvedFacts, origin: string): boolean {
  if (facts.defaultBaseUrl === undefined) return false;
  return (facts.defaultBaseUrl === lastOrigin.baseUrl ? lastOrigin.origin : new URL(facts.defaultBaseUrl).origin) === origin;
}

/** The user's login, or the first of some variables that is set, with its value. */
export function findKey(variables: readonly string[], environment: ProviderEnvironment): ProviderKey | undefined {
  if (environment.login) return environment.login.key;
  for (const variable of variables) {
    const value = read(environment, variable);
    if (value) return { variable: environment.sourceOf?.(variable) ?? variable, value };
  }
  return undefined;
}

function read(environment: ProviderEnvironment, name: string): string | undefined {
  return environment.variable(name)?.trim() || undefined;
}

/** The address that was read last, by its text: the runs of a process mostly ask one. */
let lastOrigin = { baseUrl: "", origin: "" };

function originOf(baseUrl: string, model: string, variable: string): string {
  if (baseUrl === lastOrigin.baseUrl) return lastOrigin.origin;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw refuse(model, `cannot be reached: ${variable} is no http or https URL.`);
  if (url.username || url.password) {
    throw refuse(model, `cannot be reached: ${variable} holds a user name or password; put the key in a variable of its own.`);
  }
  lastOrigin = { baseUrl, origin: url.origin };
  return url.origin;
}

export function missingKey(model: string, variable: string): ModelError {
  const [provider = ""] = model.split(":");
  return refuse(model, `needs a key. Set ${variable}, for example: export ${variable}=…, or run \`llm-do keys set ${provider}\``);
}

function missingKeyFor(facts: ResolvedFacts, model: string, origin: string): ModelError {
  const [variable = ""] = facts.keyVariables;
  if (isDefaultOrigin(facts, origin)) return missingKey(model, variable);
  const named = `${facts.prefix}_BASE_URL_KEY`;
  const home = facts.defaultBaseUrl ? new URL(facts.defaultBaseUrl).origin : "";
  return refuse(
    model,
    `needs a key for ${origin}. The one in ${variable} is sent to ${home} only; set ${named} to the key for ` +
      `${facts.prefix}_BASE_URL (any text, if that address needs none).`,
  );
}

function refuse(model: string, message: string): ModelError {
  return new ModelError({ code: "auth", model, message: `${model} ${message}` });
}
