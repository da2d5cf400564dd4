import type { AuthorizationServer, Client, TokenEndpointResponse } from "oauth4webapi";
import type { StoredLogin } from "../host/login-file.ts";

/** An OAuth server at which the user logs in, as a public client. Plain data. */
export interface LoginTerms {
  /** Its metadata is looked up there. Or both URLs are given. */
  readonly issuer?: string;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Further parameters of the authorization request, such as `audience`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The origin that the token goes to. */
  readonly origin: string;
  /** The address that the token is asked for (RFC 8707). Default: none is named. */
  readonly resource?: string;
}

export interface OAuthAccess {
  readonly fetch: typeof globalThis.fetch;
  /** In milliseconds since the epoch. */
  readonly now: () => number;
}

/** A login that the user has begun. */
export interface BegunLogin {
  /** The page at which the user goes on. */
  readonly url: string;
  /** Takes the parameters of the redirect. Rejects if they are not those of this login, or hold an error. */
  finish(callback: URLSearchParams): Promise<StoredLogin>;
}

/** How long the server may be silent, in milliseconds. A refresh holds the lock of the user's logins meanwhile. */
const patience = 8000;

/** Begins a login by authorization code with PKCE. Rejects if the server cannot be reached, or lacks what is needed. */
export async function beginLogin(terms: LoginTerms, redirectUri: string, access: OAuthAccess): Promise<BegunLogin> {
  const oauth = await import("oauth4webapi");
  const server = await findServer(terms, access);
  const endpoint = server.authorization_endpoint;
  if (endpoint === undefined || server.token_endpoint === undefined)
    throw new Error(`${server.issuer} names no address for logins; write authorization_url and token_url`);
  const client: Client = { client_id: terms.clientId };
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(endpoint);
  const parameters = {
    ...terms.parameters,
    response_type: "code",
    client_id: terms.clientId,
    redirect_uri: redirectUri,
    ...(terms.scopes.length > 0 ? { scope: terms.scopes.join(" ") } : {}),
    ...resourceOf(terms),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return {
    url: url.href,
    async finish(callback) {
      const code = oauth.validateAuthResponse(server, client, callback, state);
      const options = await requestOptions(server.token_endpoint ?? "", access);
      const answer = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), code, redirectUri, verifier, {
        ...options,
        additionalParameters: resourceOf(terms),
      });
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer);
      const { issuer, token_endpoint: tokenUrl = "" } = server;
      const place = { issuer, tokenUrl, clientId: terms.clientId, origin: terms.origin, ...resourceOf(terms) };
      return toLogin(tokens, { ...place, loggedInAt: new Date(access.now()).toISOString() }, access);
    },
  };
}

/** Returns the login with a new token. The server may have made the old refresh token void: keep the new one. */
export async function refreshLogin(login: StoredLogin, access: OAuthAccess): Promise<StoredLogin> {
  const oauth = await import("oauth4webapi");
  const { issuer, tokenUrl, clientId, refreshToken = "" } = login;
  const server: AuthorizationServer = { issuer, token_endpoint: tokenUrl };
  const client: Client = { client_id: clientId };
  const options = await requestOptions(tokenUrl, access);
  const more = { ...options, additionalParameters: resourceOf(login) };
  const answer = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, more);
  const tokens = await oauth.processRefreshTokenResponse(server, client, answer);
  const { accessToken: _, expiresAt: __, ...kept } = login;
  return toLogin(tokens, kept, access);
}

function resourceOf({ resource }: Pick<LoginTerms, "resource">): { readonly resource?: string } {
  return resource === undefined ? {} : { resource };
}

/** True if the server said that the login is over: the user has to log in again. */
export function isOver(thrown: unknown): boolean {
  return thrown instanceof Error && "error" in thrown && thrown.error === "invalid_grant";
}

type Kept = Omit<StoredLogin, "accessToken" | "expiresAt">;

function toLogin(tokens: TokenEndpointResponse, kept: Kept, { now }: OAuthAccess): StoredLogin {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = tokens;
  return {
    ...kept,
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(seconds === undefined ? {} : { expiresAt: now() + seconds * 1000 }),
  };
}

/** Returns what an OAuth server says of itself. Rejects if it says nothing. */
export async function findServer(
  { issuer, authorizationUrl, tokenUrl }: Pick<LoginTerms, "issuer" | "authorizationUrl" | "tokenUrl">,
  access: OAuthAccess,
): Promise<AuthorizationServer> {
  if (authorizationUrl !== undefined && tokenUrl !== undefined)
    return { issuer: issuer ?? new URL(tokenUrl).origin, authorization_endpoint: authorizationUrl, token_endpoint: tokenUrl };
  const oauth = await import("oauth4webapi");
  const url = new URL(issuer ?? "");
  const options = await requestOptions(url.href, access);
  for (const algorithm of ["oidc", "oauth2"] as const) {
    const answer = await oauth.discoveryRequest(url, { ...options, algorithm });
    if (answer.status !== 404) return oauth.processDiscoveryResponse(url, answer);
  }
  throw new Error(`${issuer} says nothing about itself; write authorization_url and token_url`);
}

/** Requests follow no redirect. Only this machine is spoken to without encryption. */
export async function requestOptions(url: string, { fetch }: OAuthAccess) {
  const { allowInsecureRequests, customFetch } = await import("oauth4webapi");
  const send = (input: string, init: object) => fetch(input, { ...init, redirect: "manual", patience } as RequestInit);
  return { [customFetch]: send, [allowInsecureRequests]: isLoopback(url) };
}

export function isLoopback(url: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
}
