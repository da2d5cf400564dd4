import type { AuthorizationServer, Client, TokenEndpointResponse } from "oauth4webapi";
import type { StoredLogin } from "../../host/own-files/login-file.ts";
import type { PatientInit } from "../../host/patience.ts";

/** An OAuth server at which the user logs in, as a public client. Plain data. */
export interface LoginTerms extends Pick<StoredLogin, "clientId" | "origin" | "address" | "resource"> {
  /** Its metadata is looked up there. Or both URLs are given. */
  readonly issuer?: string;
  /** The address of the server that named the issuer. Absent: the user did. */
  readonly namedBy?: string;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  /** The address at which a login by device code begins, if the issuer does not say it. */
  readonly deviceUrl?: string;
  readonly scopes: readonly string[];
  /** Further parameters of the authorization request, such as `audience`. */
  readonly parameters: Readonly<Record<string, string>>;
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

/** A login that the user goes on with on another machine. */
export interface DeviceLogin {
  /** The page at which the user types the code. */
  readonly url: string;
  readonly code: string;
  /** The page with the code in its address, if the server has one. */
  readonly wholeUrl?: string;
  /** Waits for the user. Rejects if the user refuses, takes too long, or `signal` aborts. */
  finish(signal: AbortSignal): Promise<StoredLogin>;
}

/** A refresh holds the lock of the user's logins meanwhile. */
const patience = { connect: 8000, firstByte: 8000, idle: 8000 };

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
      const place = { issuer, tokenUrl, ...placeOf(terms), ...resourceOf(terms) };
      return toLogin(tokens, { ...place, loggedInAt: new Date(access.now()).toISOString() }, access);
    },
  };
}

/** Seconds between two questions whether the user is done, if the server does not say it; and by how much it can ask for more. */
const deviceInterval = 5;

/** Begins a login by device code (RFC 8628). Rejects if the server cannot be reached, or has none. `sleep` takes milliseconds. */
export async function beginDeviceLogin(
  terms: LoginTerms,
  { sleep, ...access }: OAuthAccess & { readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void> },
): Promise<DeviceLogin> {
  const oauth = await import("oauth4webapi");
  const server = await findServer(terms, access);
  const { device_authorization_endpoint: endpoint, token_endpoint: tokenUrl } = server;
  if (endpoint === undefined || tokenUrl === undefined)
    throw new Error(`${server.issuer} has no logins by device code; write device_authorization_url, or log in without --device`);
  const client: Client = { client_id: terms.clientId };
  const parameters = { ...terms.parameters, ...(terms.scopes.length > 0 ? { scope: terms.scopes.join(" ") } : {}) };
  const options = await requestOptions(endpoint, access);
  const begun = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), parameters, options);
  const given = await oauth.processDeviceAuthorizationResponse(server, client, begun);
  const over = access.now() + given.expires_in * 1000;
  const poll = async () => {
    const asked = await oauth.deviceCodeGrantRequest(
      server,
      client,
      oauth.None(),
      given.device_code,
      await requestOptions(tokenUrl, access),
    );
    return oauth.processDeviceCodeResponse(server, client, asked);
  };
  return {
    url: given.verification_uri,
    code: given.user_code,
    ...(given.verification_uri_complete === undefined ? {} : { wholeUrl: given.verification_uri_complete }),
    async finish(signal) {
      for (let seconds = given.interval ?? deviceInterval; access.now() < over; ) {
        await sleep(seconds * 1000, signal);
        const tokens = await poll().catch((thrown: unknown) => {
          const said = thrown instanceof oauth.ResponseBodyError ? thrown.error : undefined;
          if (said === "slow_down") seconds += deviceInterval;
          else if (said !== "authorization_pending") throw thrown;
        });
        if (!tokens) continue;
        const place = { issuer: server.issuer, tokenUrl, ...placeOf(terms) };
        return toLogin(tokens, { ...place, loggedInAt: new Date(access.now()).toISOString() }, access);
      }
      throw new Error("the code is over; begin again");
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

function placeOf({ clientId, origin, address }: LoginTerms): Pick<StoredLogin, "clientId" | "origin" | "address"> {
  return { clientId, origin, ...(address === undefined ? {} : { address }) };
}

/** Returns what an OAuth server says of itself. Rejects if it says nothing. */
export async function findServer(
  terms: Pick<LoginTerms, "issuer" | "namedBy" | "authorizationUrl" | "tokenUrl" | "deviceUrl">,
  access: OAuthAccess,
): Promise<AuthorizationServer> {
  const { issuer, namedBy, authorizationUrl, tokenUrl, deviceUrl } = terms;
  if (tokenUrl !== undefined && (authorizationUrl ?? deviceUrl) !== undefined)
    return {
      issuer: issuer ?? new URL(tokenUrl).origin,
      token_endpoint: tokenUrl,
      ...(authorizationUrl === undefined ? {} : { authorization_endpoint: authorizationUrl }),
      ...(deviceUrl === undefined ? {} : { device_authorization_endpoint: deviceUrl }),
    };
  const oauth = await import("oauth4webapi");
  const url = new URL(issuer ?? "");
  requireReachable(url.href, namedBy);
  const options = await requestOptions(url.href, access);
  for (const algorithm of ["oidc", "oauth2"] as const) {
    const answer = await oauth.discoveryRequest(url, { ...options, algorithm });
    if (answer.status === 404) continue;
    const server = await oauth.processDiscoveryResponse(url, answer);
    for (const key of endpoints) if (server[key] !== undefined) requireReachable(server[key], namedBy);
    return server;
  }
  throw new Error(`${issuer} says nothing about itself; write authorization_url and token_url`);
}

const endpoints = ["authorization_endpoint", "token_endpoint", "registration_endpoint", "device_authorization_endpoint"] as const;

/**
 * Throws for an address that a server may not name: one without encryption, and, for a server that is reached over the network, one of
 * this machine or of a private network, which the server itself could not reach. Names are not resolved.
 */
function requireReachable(url: string, namedBy: string | undefined): void {
  const { protocol, hostname } = new URL(url);
  const isFree = namedBy === undefined || isPrivate(new URL(namedBy).hostname);
  if (isFree ? protocol === "https:" || (protocol === "http:" && isLoopback(url)) : protocol === "https:" && !isPrivate(hostname))
    return;
  throw new Error(`${namedBy ?? "the OAuth server"} names the address ${url}, which is not used`);
}

/** Addresses of IPv6 that hold one of IPv4 count as private: nobody names a public server so. */
function isPrivate(hostname: string): boolean {
  if (!/^\d+\.\d+\.\d+\.\d+$/.test(hostname))
    return /^(?:(?:.*\.)?localhost\.?$|\[(?:::|f[cdf]|fe[89a-f]|64:ff9b:|2002:|2001:(?::|0:)))/i.test(hostname);
  return /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(hostname);
}

/** Requests follow no redirect. Only this machine is spoken to without encryption. */
export async function requestOptions(url: string, access: OAuthAccess) {
  const { allowInsecureRequests, customFetch } = await import("oauth4webapi");
  return { [customFetch]: sendWith(access), [allowInsecureRequests]: isLoopback(url) };
}

export function sendWith({ fetch }: OAuthAccess) {
  const patient: PatientInit = { redirect: "manual", patience };
  return (url: string, init: object) => fetch(url, { ...init, ...patient });
}

export function isLoopback(url: string): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);
}
