import { describe, expect, test } from "vitest";
import { beginLogin } from "./oauth.ts";
import { findServerTerms } from "./server-login.ts";

const redirectUri = "http://127.0.0.1:7/callback";
const wiki = "https://wiki.example/mcp";

/** The pages of servers, by address: a body, or a challenge for requests without a token. Collects the addresses of all requests. */
function createAccess(pages: Readonly<Record<string, object | string>>) {
  const asked: string[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const url = String(input);
    asked.push(url);
    const page = pages[url];
    if (page === undefined) return new Response("", { status: 404 });
    if (typeof page === "string") return new Response("{}", { status: 401, headers: { "www-authenticate": page } });
    const body = url.endsWith("/register") ? { ...JSON.parse(String(init?.body)), ...page } : page;
    const headers = { "content-type": "application/json" };
    return new Response(JSON.stringify(body), { status: url.endsWith("/register") ? 201 : 200, headers });
  };
  return { asked, access: { fetch, now: () => 0 } };
}

const serverAt = (issuer: string, more: object = {}) => ({
  [`${issuer}/.well-known/oauth-authorization-server`]: {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    ...more,
  },
  [`${issuer}/register`]: { client_id: "registered" },
});

const challenge = (metadata: string) => `Bearer error="invalid_token", scope="read write", resource_metadata="${metadata}"`;

describe("the login at a server that says how", () => {
  test("follows the description and the scopes that its refusal names", async () => {
    const { access } = createAccess({
      [wiki]: challenge("https://wiki.example/about"),
      "https://wiki.example/about": { resource: "https://wiki.example/", authorization_servers: ["https://id.example"] },
      ...serverAt("https://id.example"),
    });
    expect(await findServerTerms(wiki, redirectUri, access)).toMatchObject({
      issuer: "https://id.example",
      clientId: "registered",
      scopes: ["read", "write"],
      origin: "https://wiki.example",
      resource: "https://wiki.example/",
    });
  });

  test("asks no other origin what the server is", async () => {
    const { access, asked } = createAccess({
      [wiki]: challenge("https://evil.example/about"),
      "https://evil.example/about": { resource: wiki, authorization_servers: ["https://evil.example"] },
      "https://wiki.example/.well-known/oauth-protected-resource/mcp": {
        resource: wiki,
        authorization_servers: ["https://id.example"],
        scopes_supported: ["all"],
      },
      ...serverAt("https://id.example"),
    });
    const { issuer, resource } = await findServerTerms(wiki, redirectUri, access);
    expect([issuer, resource]).toEqual(["https://id.example", wiki]);
    expect(asked.filter((url) => url.includes("evil"))).toEqual([]);
  });

  test.each(["https://bank.example/mcp", "https://wiki.example/mcp/admin", "https://wiki.example/mc"])(
    "takes no token for another resource: %s",
    async (resource) => {
      const { access } = createAccess({
        [wiki]: challenge("https://wiki.example/about"),
        "https://wiki.example/about": { resource, authorization_servers: ["https://id.example"] },
        ...serverAt("https://id.example"),
      });
      await expect(findServerTerms(wiki, redirectUri, access)).rejects.toThrow(`${wiki} describes ${resource}, and not itself`);
    },
  );

  test.each([
    "http://id.example",
    "http://127.0.0.1:9",
    "https://localhost",
    "https://10.0.0.1",
    "https://169.254.169.254",
    "https://[::1]",
    "https://0x7f.1",
    "https://[::ffff:10.0.0.1]",
    "https://[64:ff9b::127.0.0.1]",
    "https://[64:ff9b:1::a00:1]",
    "https://[2002:7f00:1::]",
    "https://[2001::1]",
    "https://[fec0::1]",
  ])("sends nothing to %s, which a server over the network names", async (issuer) => {
    const { access, asked } = createAccess({
      [wiki]: challenge("https://wiki.example/about"),
      "https://wiki.example/about": { resource: wiki, authorization_servers: [issuer] },
      ...serverAt(issuer),
    });
    await expect(findServerTerms(wiki, redirectUri, access)).rejects.toThrow("which is not used");
    expect(asked).toEqual([wiki, "https://wiki.example/about"]);
  });

  test.each([
    ["registration_endpoint", "http://127.0.0.1:9/register"],
    ["token_endpoint", "https://192.168.0.1/token"],
    ["authorization_endpoint", "javascript:alert(1)"],
    ["device_authorization_endpoint", "https://[64:ff9b::7f00:1]/device"],
  ])("does not use the %s %s", async (key, url) => {
    const { access, asked } = createAccess({
      [wiki]: challenge("https://wiki.example/about"),
      "https://wiki.example/about": { resource: wiki, authorization_servers: ["https://id.example"] },
      ...serverAt("https://id.example", { [key]: url }),
    });
    await expect(findServerTerms(wiki, redirectUri, access)).rejects.toThrow(`names the address ${url}, which is not used`);
    expect(asked).not.toContain(url);
  });

  test("shows no address that is no page, whoever named the server", async () => {
    const issuer = "https://id.example";
    const { access } = createAccess(serverAt(issuer, { authorization_endpoint: "javascript:alert(1)" }));
    const terms = { issuer, clientId: "x", scopes: [], parameters: {}, origin: issuer };
    await expect(beginLogin(terms, redirectUri, access)).rejects.toThrow(
      "names the address javascript:alert(1), which is not used",
    );
  });
});
