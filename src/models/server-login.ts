import type { ResourceServer } from "oauth4webapi";
import { findServer, type LoginTerms, type OAuthAccess, requestOptions } from "./oauth.ts";

/** The name of llm-do at servers that it registers at. */
const clientName = "llm-do";

/**
 * Finds out how the user logs in at a server that says so itself, as MCP servers do: which OAuth server it takes tokens of (RFC 9728), and
 * an id for this client, which is registered there (RFC 7591). Rejects where the server says nothing, or takes no new clients.
 */
export async function findServerTerms(address: string, redirectUri: string, access: OAuthAccess): Promise<LoginTerms> {
  const described = await describeResource(new URL(address), access);
  const issuer = described?.authorization_servers?.[0] ?? new URL(address).origin;
  const scopes = described?.scopes_supported ?? [];
  const clientId = await register(issuer, redirectUri, access);
  return { issuer, clientId, scopes, parameters: {}, origin: new URL(address).origin, resource: described?.resource ?? address };
}

/** Undefined where the server has no such description. The one of its address goes before that of its origin. */
async function describeResource(address: URL, access: OAuthAccess): Promise<ResourceServer | undefined> {
  const oauth = await import("oauth4webapi");
  const options = await requestOptions(address.href, access);
  for (const resource of new Set([address.href, `${address.origin}/`])) {
    const answer = await oauth.resourceDiscoveryRequest(new URL(resource), options);
    if (answer.ok) return oauth.processResourceDiscoveryResponse(new URL(resource), answer);
    await answer.body?.cancel();
  }
  return undefined;
}

async function register(issuer: string, redirectUri: string, access: OAuthAccess): Promise<string> {
  const oauth = await import("oauth4webapi");
  const server = await findServer({ issuer }, access);
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
