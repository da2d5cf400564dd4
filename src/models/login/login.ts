import type { CredentialFile } from "../../host/own-files/credential-file.ts";
import type { StoredLogin } from "../../host/own-files/login-file.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { ModelError } from "../model.ts";
import type { ProviderKey } from "../provider-endpoint.ts";
import { isOver, type OAuthAccess, refreshLogin } from "./oauth.ts";

/** A login that requests to a provider use in place of a key. */
export interface Login {
  /** The origin that the token goes to, and no other. */
  readonly origin: string;
  /** The provider's base address. Default: as without a login. */
  readonly address?: string | undefined;
  /** Its value is the token as it is when it is asked for. */
  readonly key: ProviderKey;
  /** Returns a token that is good for some minutes, and refreshes it for that. Rejects with a `ModelError` of code `auth`. */
  token(): Promise<string>;
}

/** Tokens are refreshed so long before they end, in milliseconds. */
const early = 5 * 60_000;

export interface LoginOptions extends OAuthAccess {
  readonly provider: string;
  readonly file: CredentialFile<StoredLogin>;
}

/** The user's login at a provider; undefined if there is none. */
export async function openLogin(options: LoginOptions): Promise<Login | undefined> {
  const { provider, file, now } = options;
  const stored = await file.read();
  let login = Object.hasOwn(stored, provider) ? stored[provider] : undefined;
  if (!login) return undefined;
  const { origin, address } = login;
  let refreshing: Promise<StoredLogin> | undefined;
  const refresh = () => {
    refreshing ??= refreshAlone(options).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  };
  const current = () => login?.accessToken ?? "";
  return {
    origin,
    address,
    key: {
      variable: `llm-do oauth (${provider})`,
      get value() {
        return current();
      },
    },
    async token() {
      if (login && !isFresh(login, now())) login = await refresh();
      return current();
    },
  };
}

function isFresh({ expiresAt = Number.POSITIVE_INFINITY }: StoredLogin, now: number): boolean {
  return expiresAt - now > early;
}

/**
 * Refreshes while no other process does, and takes what another one has got meanwhile: a server can take a refresh token that is used
 * twice for stolen, and end the login.
 */
async function refreshAlone({ provider, file, ...access }: LoginOptions): Promise<StoredLogin> {
  const fail = (message: string, cause?: unknown) =>
    new ModelError({ code: "auth", model: provider, message: `the login at ${provider} ${message}`, cause });
  const again = `; run \`llm-do oauth login ${provider}\``;
  const login = await file.update(provider, async (stored) => {
    if (!stored || isFresh(stored, access.now())) return stored;
    if (stored.refreshToken === undefined) {
      if ((stored.expiresAt ?? 0) > access.now()) return stored;
      throw fail(`is over${again}`);
    }
    try {
      return await refreshLogin(stored, access);
    } catch (thrown) {
      if (isOver(thrown)) throw fail(`is over${again}`, thrown);
      if ((stored.expiresAt ?? 0) > access.now()) return stored;
      throw fail(`cannot be refreshed: ${errorMessage(thrown)}`, thrown);
    }
  });
  if (!login) throw fail(`has ended${again}`);
  return login;
}

const keyHeaders = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/** Sends the login's token in place of any key. Rejects a request to another origin. */
export function createLoginFetch(fetch: typeof globalThis.fetch, login: Login): typeof globalThis.fetch {
  return async (input, init) => {
    const { origin } = new URL(input instanceof Request ? input.url : input);
    if (origin !== login.origin) throw new Error(`the login goes to ${login.origin} only, not to ${origin}`);
    const headers = new Headers(init?.headers);
    for (const name of keyHeaders) headers.delete(name);
    headers.set("authorization", `Bearer ${await login.token()}`);
    return fetch(input, { ...init, headers });
  };
}
