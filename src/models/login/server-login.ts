import type { ResourceServer } from "oauth4webapi";
import { isRecord } from "../../protocol/json.ts";
import { findServer, type LoginTerms, type OAuthAccess, requestOptions, sendWith } from "./oauth.ts";

/** The name of llm-do at servers that it registers at. */
const clientName = "llm-do";

/**
 * Finds out how the user logs in at a server that says so itself, as MCP servers do: which OAuth server it takes tokens of (RFC 9728), and
 * an id for this client, which is registered there (RFC 7591). Rejects if the server says nothing, or takes no new clients.
 */
export async function findServerTerms(address: string, redirectUri: string, access: OAuthAccess): Promise<LoginTerms> {
  const challenge = await readChallenge(new URL(address), access);
  const described = await describeResource(new URL(address), challenge, access);
  const issuer = described?.authorization_servers?.[0] ?? new URL(address).origin;
  const scopes = challenge.scope?.split(" ") ?? described?.scopes_supported ?? [];
  const clientId = await register({ issuer, namedBy: address }, redirectUri, access);
  const resource = described?.resource ?? address;
  return { issuer, namedBy: address, clientId, scopes, parameters: {}, origin: new URL(address).origin, resource };
}

interface Challenge {
  /** The address of the server's description. */
  readonly metadata?: string;
  /** The scopes that a token needs, with blanks between them. */
  readonly scope?: string;
}

/** Reads what the server says to a request without a token. A description of another origin is ignored: anybody could name one. */
async function readChallenge(address: URL, access: OAuthAccess): Promise<Challenge> {
  const clientInfo = { name: clientName, version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const answer = await sendWith(access)(address.href, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  await answer.body?.cancel();
  const header = answer.status === 401 ? (answer.headers.get("www-authenticate") ?? "") : "";
  const [metadata, scope] = [parameterOf(header, "resource_metadata"), parameterOf(header, "scope")];
  const isOwn = metadata !== undefined && URL.canParse(metadata) && new URL(metadata).origin === address.origin;
  return { ...(isOwn ? { metadata } : {}), ...(scope ? { scope } : {}) };
}

/** A parameter of `WWW-Authenticate` (RFC 9110), in quotes or as a token. */
function parameterOf(header: string, name: string): string | undefined {
  const [, quoted, token] = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"([^"\\\\]*)"|([^\\s",]+))`, "i").exec(header) ?? [];
  return quoted ?? token;
}

/** Undefined if the server has no such description. The one that it names goes before that of its address and that of its origin. */
async function describeResource(address: URL, { metadata }: Challenge, access: OAuthAccess): Promise<ResourceServer | undefined> {
  const oauth = await import("oauth4webapi");
  const options = await requestOptions(address.href, access);
  const wellKnown = [address.href, `${address.origin}/`].map(
    (resource) => () => oauth.resourceDiscoveryRequest(new URL(resource), options),
  );
  const named = metadata === undefined ? [] : [() => sendWith(access)(metadata, { method: "GET" })];
  for (const request of [...named, ...wellKnown]) {
    const answer = await request();
    const described: unknown = answer.ok ? await answer.json().catch(() => undefined) : await answer.body?.cancel();
    if (!isRecord(described)) continue;
    if (isPartOf(address, String(described["resource"]))) return described as ResourceServer;
    throw new Error(`${address.href} describes ${described["resource"]}, and not itself`);
  }
  return undefined;
}

/** True for an address of a resource, or below it. A token for a resource elsewhere would be good there, too. */
function isPartOf(address: URL, resource: string): boolean {
  const { origin, pathname } = URL.canParse(resource) ? new URL(resource) : {};
  return origin === address.origin && `${address.pathname}/`.startsWith(`${pathname?.replace(/\/$/, "")}/`);
}

async function register(
  terms: Required<Pick<LoginTerms, "issuer" | "namedBy">>,
  redirectUri: string,
  access: OAuthAccess,
): Promise<string> {
  const oauth = await import("oauth4webapi");
  const { issuer } = terms;
  const server = await findServer(terms, access);
  const { registration_endpoint: endpoint } = server;
  if (endpoint === undefined)
    throw new Error(`${issuer} registers no clients; write its login under \`logins\`, with a client_id`);
  const client = {
    client_name: clientName,
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  const answer = await oauth.dynamicClientRegistrationRequest(server, client, await requestOptions(endpoint, access));
  return (await oauth.processDynamicClientRegistrationResponse(answer)).client_id;
}
