import { ModelError } from "./model.ts";
import type { ProviderEnvironment } from "./provider.ts";

/** The address and the key of a provider. Plain data. */
export interface EndpointFacts {
  /** `ANTHROPIC`: the variables are `<prefix>_BASE_URL` and `<prefix>_BASE_URL_KEY`. */
  readonly prefix: string;
  /** Without one the base URL must be set. */
  readonly defaultBaseUrl?: string;
  /** Keys for the default origin, the first that is set is used. */
  readonly keyVariables: readonly string[];
  readonly keyRequired: boolean;
  /** The provider's own variable for the base URL, and its conversion to a URL. */
  readonly otherBaseUrl?: { readonly variable: string; readonly toUrl: (value: string) => string };
}

export interface Endpoint {
  readonly baseUrl: string;
  readonly key?: ProviderKey;
}

export interface ProviderKey {
  readonly variable: string;
  readonly value: string;
}

/**
 * The base URL and the key of a provider. A key goes to its provider's default origin only: another address, loopback ones
 * included, needs `<prefix>_BASE_URL_KEY`. Throws a `ModelError` of code `auth` that names the variable to set.
 */
export function resolveEndpoint(facts: EndpointFacts, model: string, environment: ProviderEnvironment): Endpoint {
  const given = readBaseUrl(facts, environment);
  const baseUrl = given?.url ?? facts.defaultBaseUrl;
  if (!baseUrl) throw refuse(model, `needs an address. Set ${facts.prefix}_BASE_URL, for example to http://localhost:8000/v1.`);
  const origin = originOf(baseUrl, model, given?.variable ?? "");
  const key = findKey(keyVariablesFor(facts, origin), environment);
  if (!key && facts.keyRequired) throw missingKeyFor(facts, model, origin);
  if (key && !/^[\x21-\x7e]+$/.test(key.value)) throw refuse(model, `needs another key: ${key.variable} holds what no key can.`);
  return { baseUrl, ...(key ? { key } : {}) };
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

function keyVariablesFor(facts: EndpointFacts, origin: string): readonly string[] {
  const named = `${facts.prefix}_BASE_URL_KEY`;
  if (!facts.defaultBaseUrl) return [named, ...facts.keyVariables];
  return isDefaultOrigin(facts, origin) ? facts.keyVariables : [named];
}

function isDefaultOrigin(facts: EndpointFacts, origin: string): boolean {
  return facts.defaultBaseUrl !== undefined && new URL(facts.defaultBaseUrl).origin === origin;
}

/** The first of some variables that is set, with its value. */
export function findKey(variables: readonly string[], environment: ProviderEnvironment): ProviderKey | undefined {
  for (const variable of variables) {
    const value = read(environment, variable);
    if (value) return { variable, value };
  }
  return undefined;
}

function read(environment: ProviderEnvironment, name: string): string | undefined {
  return environment.variable(name)?.trim() || undefined;
}

function originOf(baseUrl: string, model: string, variable: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw refuse(model, `cannot be reached: ${variable} is no http or https URL.`);
  if (url.username || url.password) {
    throw refuse(model, `cannot be reached: ${variable} holds a user name or password; put the key in a variable of its own.`);
  }
  return url.origin;
}

export function missingKey(model: string, variable: string): ModelError {
  return refuse(model, `needs a key. Set ${variable}, for example: export ${variable}=…`);
}

function missingKeyFor(facts: EndpointFacts, model: string, origin: string): ModelError {
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
