import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startCli } from "../cli/run-cli.ts";
import { sendJson } from "../models/local-server.ts";
import { startHttpServer } from "./http-server.ts";
import { calling, compileUntrusted, createMcpWorld, type McpWorld } from "./play-mcp.ts";

/** An MCP server that takes tokens, and the OAuth server beside it. Each refresh makes the tokens before it void. */
async function startGuardedServer() {
  const inner = await startHttpServer();
  const granted: Record<string, string>[] = [];
  const registered: unknown[] = [];
  let url = "";
  let count = 0;
  const isKnown = (authorization: string | undefined) => count > 0 && authorization === `Bearer access-token-number-${count}`;
  const grant = (response: ServerResponse, form: Record<string, string>) => {
    granted.push(form);
    if (form["grant_type"] === "refresh_token" && form["refresh_token"] !== `refresh-token-number-${count}`)
      return sendJson(response, { error: "invalid_grant" }, 400);
    count++;
    const [access_token, refresh_token] = ["access", "refresh"].map((kind) => `${kind}-token-number-${count}`);
    sendJson(response, { access_token, refresh_token, token_type: "bearer", expires_in: 3600 });
  };
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { pathname, searchParams } = new URL(request.url ?? "", url);
    const pages: Record<string, () => void> = {
      "/.well-known/oauth-protected-resource/mcp": () =>
        sendJson(response, { resource: `${url}/mcp`, authorization_servers: [url], scopes_supported: ["notes"] }),
      "/.well-known/oauth-authorization-server": () =>
        sendJson(response, {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          registration_endpoint: `${url}/register`,
        }),
      "/register": () => {
        registered.push(JSON.parse(body));
        sendJson(response, { ...JSON.parse(body), client_id: "registered" }, 201);
      },
      "/authorize": () => {
        const back = new URL(searchParams.get("redirect_uri") ?? "");
        back.search = String(new URLSearchParams({ code: "code", state: searchParams.get("state") ?? "" }));
        response.writeHead(302, { location: back.href }).end();
      },
      "/token": () => grant(response, Object.fromEntries(new URLSearchParams(body))),
    };
    const page = pages[pathname];
    if (page) return page();
    if (pathname !== "/mcp") return void response.writeHead(404).end();
    if (!isKnown(request.headers.authorization)) return sendJson(response, { error: "who are you" }, 401);
    const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
    const answer = await fetch(inner.url, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body === "" ? {} : { body }),
    });
    const session = answer.headers.get("mcp-session-id");
    const type = answer.headers.get("content-type");
    response.writeHead(answer.status, {
      ...(type ? { "content-type": type } : {}),
      ...(session ? { "mcp-session-id": session } : {}),
    });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const authorizations = () => [...new Set(inner.requests.map(({ headers }) => headers.authorization))];
  const revoke = () => {
    count++;
  };
  return { url: `${url}/mcp`, granted, registered, authorizations, revoke };
}

/** Logs in as a user with a browser does. Resolves with the page, and how the command ended. */
async function logIn(world: McpWorld, address: string) {
  const env = {
    LLM_DO_STATE_DIR: world.environment["LLM_DO_STATE_DIR"] ?? "",
    LLM_DO_CONFIG_DIR: join(world.folder, "../config"),
  };
  const login = startCli(["oauth", "login", address], { cwd: world.folder, env });
  let told = "";
  login.child.stderr?.on("data", (text: string) => {
    told += text;
  });
  await login.stderrHolds("code_challenge_method=S256");
  await login.stderrHolds("\n\n");
  const page = /^ {2}(http\S+)$/m.exec(told)?.[1] ?? "";
  await fetch(page);
  return { page: new URL(page), ...(await login.result) };
}

const logins = (world: McpWorld) => join(world.environment["LLM_DO_STATE_DIR"] ?? "", "credentials/logins.json");

/** Changes what is kept of the login. */
function change(world: McpWorld, address: string, more: Record<string, unknown>) {
  const { entries } = JSON.parse(readFileSync(logins(world), "utf8"));
  writeFileSync(logins(world), JSON.stringify({ v: 1, entries: { [address]: { ...entries[address], ...more } } }));
}

const echo = calling(["wiki__echo", { message: "hello" }]);

describe("a server that takes tokens", () => {
  test("is used with the login that the user made at it, which is refreshed", async () => {
    const server = await startGuardedServer();
    const world = createMcpWorld();
    const servers = { wiki: { url: server.url, login: true } };
    const { page, exitCode, stderr } = await logIn(world, server.url);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`you are logged in at ${server.url}; MCP servers`)]);
    expect(Object.fromEntries(page.searchParams)).toMatchObject({
      client_id: "registered",
      scope: "notes",
      resource: server.url,
      code_challenge_method: "S256",
    });
    expect(server.registered).toMatchObject([{ client_name: "llm-do", token_endpoint_auth_method: "none" }]);
    const first = await world.play({ servers, model: echo });
    expect(first.results).toMatchObject([{ ok: true, value: "hello" }]);
    change(world, server.url, { expiresAt: Date.now() - 1000 });
    const second = await world.play({ servers, model: echo });
    expect(second.results).toMatchObject([{ ok: true, value: "hello" }]);
    expect(server.granted).toMatchObject([
      { grant_type: "authorization_code", resource: server.url },
      { grant_type: "refresh_token", refresh_token: "refresh-token-number-1", resource: server.url },
    ]);
    expect(server.authorizations()).toEqual(["Bearer access-token-number-1", "Bearer access-token-number-2"]);
    expect(JSON.stringify([first.events, second.events])).not.toContain("-token-number-");
    const { untrusted } = await compileUntrusted(world);
    expect(untrusted?.reasons.join("\n")).toContain(`sends to the MCP server wiki at ${server.url} (with your login there)`);
    server.revoke();
    const refused = await world.play({ servers, model: echo });
    expect(refused.error).toMatchObject({
      message: expect.stringContaining(`HTTP 401: {"error":"who are you"}; run \`llm-do oauth login ${server.url}\``),
    });
    change(world, server.url, { expiresAt: Date.now() - 1000, refreshToken: "an-old-one" });
    const over = await world.play({ servers, model: echo });
    expect(over.error).toMatchObject({
      message: expect.stringContaining(`the login at ${server.url} is over; run \`llm-do oauth login ${server.url}\``),
    });
  });

  test("is logged in at as the configuration says, if it does", async () => {
    const server = await startGuardedServer();
    const world = createMcpWorld();
    const { origin } = new URL(server.url);
    const login = {
      authorization_url: `${origin}/authorize`,
      token_url: `${origin}/token`,
      client_id: "mine",
      address: "https://x.org",
    };
    world.put("../config/config.yaml", JSON.stringify({ logins: { [server.url]: login } }));
    const { page, exitCode } = await logIn(world, server.url);
    expect([exitCode, page.searchParams.get("client_id"), server.registered]).toEqual([0, "mine", []]);
    const { results } = await world.play({ servers: { wiki: { url: server.url, login: true } }, model: echo });
    expect(results).toMatchObject([{ ok: true, value: "hello" }]);
  });

  test("says how to log in where the user has not", async () => {
    const server = await startGuardedServer();
    const world = createMcpWorld();
    const line = `run \`llm-do oauth login ${server.url}\``;
    const missing = await world.play({ servers: { wiki: { url: server.url, login: true } }, model: echo });
    expect(missing.error).toMatchObject({
      message: expect.stringContaining(`the MCP server \`wiki\` cannot be used: it needs your login: ${line}`),
    });
    const plain = await world.play({ servers: { wiki: { url: server.url } }, model: echo });
    expect(plain.error).toMatchObject({ message: expect.stringContaining(`write \`login: true\` in its entry, and ${line}`) });
    expect(server.authorizations()).toEqual([]);
  });
});

test.each([
  [
    "an address without encryption",
    { url: "http://wiki.example.org/mcp" },
    "url` has to begin with https: a login is sent to it",
  ],
  [
    "a header of its own",
    { url: "https://wiki.example.org/mcp", headers: { authorization: "Bearer x" } },
    "headers.authorization` is what `login: true` sends",
  ],
])("a login does not go with %s", async (_, server, message) => {
  const world = createMcpWorld();
  world.put("llm-do.yaml", JSON.stringify({ mcp_servers: { wiki: { ...server, login: true } } }));
  world.put("main.worker", "---\ntoolsets: { mcp: { servers: [wiki] } }\n---\nDo it.\n");
  const { diagnostics } = await compileUntrusted(world);
  expect(diagnostics.map((one) => one.message).join("\n")).toContain(message);
});
