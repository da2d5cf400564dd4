import type { Host } from "../host/host.ts";
import { openKeyFile } from "../host/own-files/key-file.ts";
import { openLoginFile } from "../host/own-files/login-file.ts";
import { credentialsFolder } from "../host/own-files/private-folders.ts";
import type { Login } from "../models/login/login.ts";
import { type KeyForVariable, keysForVariables } from "../models/login/stored-keys.ts";
import { builtInProviders } from "../models/providers/providers.ts";
import type { Program } from "../program/program.ts";
import { getOrMake } from "../util/get-or-make.ts";
import { environmentSecrets, type Secret } from "../util/secrets/redactor.ts";

/** Values of a run that must not be shown or recorded. */
export function secretsOf({ environment }: Host, { secrets }: Program, stored: readonly Secret[]): readonly Secret[] {
  const own = secretsIn(environment);
  if (stored.length > 0) return [...own, ...stored, ...secrets];
  if (secrets.length === 0) return own;
  if (!Object.isFrozen(own) || !Object.isFrozen(secrets)) return [...own, ...secrets];
  return getOrMake(
    getOrMake(ofPrograms, own, () => new WeakMap()),
    secrets,
    () => Object.freeze([...own, ...secrets]),
  );
}

/** The secrets of a program beside those of an environment: the same list for all its runs, so that values derived from it are kept. */
const ofPrograms = new WeakMap<readonly Secret[], WeakMap<readonly Secret[], readonly Secret[]>>();

const found = new WeakMap<Host["environment"], readonly Secret[]>();

/** Looks once at an environment that cannot change: that of this machine is read once for a host. */
function secretsIn(environment: Host["environment"]): readonly Secret[] {
  if (!Object.isFrozen(environment)) return environmentSecrets(environment);
  return getOrMake(found, environment, () => Object.freeze(environmentSecrets(environment)));
}

/** Keys and logins that the user has given to llm-do. */
export interface Credentials {
  /** Those that the user has given to `llm-do keys`. */
  readonly keys: readonly KeyForVariable[];
  /** The same, and the tokens of logins. A key has the same name in a journal whether the environment holds it or `llm-do keys`. */
  readonly secrets: readonly Secret[];
}

const noCredentials: Credentials = { keys: [], secrets: [] };

export async function readCredentials(host: Host): Promise<Credentials> {
  if (host.files.isMissing?.(credentialsFolder(host.stateDirectory))) return noCredentials;
  const keys = keysForVariables(await openKeyFile(host).read(), builtInProviders, host.environment);
  const logins = Object.entries(await openLoginFile(host).read());
  const tokens = logins.flatMap(([provider, { accessToken, refreshToken = "" }]) =>
    [accessToken, refreshToken].map((value) => ({ name: `LOGIN_${provider.replace(/[^\w-]+/g, "_")}`, value })),
  );
  return { keys, secrets: [...keys, ...tokens] };
}

/** Opens each login once a run, so that its requests share a refreshed token. */
export function loginFinder(host: Host): (provider: string) => Promise<Login | undefined> {
  const found = new Map<string, Promise<Login | undefined>>();
  return (provider) =>
    getOrMake(found, provider, async () => {
      const { openLogin } = await import("../models/login/login.ts");
      return openLogin({ provider, file: openLoginFile(host), fetch: host.fetch, now: () => host.clock.now() });
    });
}

/** Sends requests to an MCP server with the user's login there; undefined without one. */
export function serverLogins(host: Host): (address: string) => Promise<Host["fetch"] | undefined> {
  const find = loginFinder(host);
  return async (address) => {
    const login = await find(address);
    if (!login) return undefined;
    const { createLoginFetch } = await import("../models/login/login.ts");
    return createLoginFetch(host.fetch, login);
  };
}
