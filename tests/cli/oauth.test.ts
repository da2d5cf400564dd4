import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Events, type MutableResponse, OAuth2Server, type TokenRequestIncomingMessage } from "oauth2-mock-server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chat } from "../models/dialects.ts";
import { type LocalServer, sendJson, startServer } from "../models/local-server.ts";
import { runCli, startCli } from "./run-cli.ts";

const oauth = new OAuth2Server();
/** The one refresh token that is good. A server of this kind ends a login whose old token is used again. */
let rotating: { good: string | undefined; refreshes: number };
let root: string;
let cwd: string;
let gateway: LocalServer;

beforeAll(async () => {
  await oauth.issuer.keys.generate("RS256");
  await oauth.start(0, "127.0.0.1");
  oauth.service.on(Events.BeforeResponse, (answer: MutableResponse, request: TokenRequestIncomingMessage) => {
    const isRefresh = request.body.grant_type === "refresh_token";
    if (isRefresh && (request.body as { refresh_token?: string }).refresh_token !== rotating.good) {
      rotating.good = undefined;
      answer.statusCode = 400;
      answer.body = { error: "invalid_grant", error_description: "used twice" };
      return;
    }
    if (isRefresh) rotating.refreshes++;
    rotating.good = `refresh-token-number-${rotating.refreshes}`;
    Object.assign(answer.body as object, {
      access_token: `access-token-number-${rotating.refreshes}`,
      refresh_token: rotating.good,
    });
  });
});
afterAll(() => oauth.stop());

beforeEach(async () => {
  rotating = { good: undefined, refreshes: 0 };
  root = await mkdtemp(join(tmpdir(), "llm-do-oauth-"));
  cwd = join(root, "work");
  gateway = await startServer((response) => sendJson(response, chat.body({ text: "yes" })));
  await mkdir(cwd);
  await mkdir(join(root, "home/.config/llm-do"), { recursive: true });
  await writeFile(join(cwd, "main.worker"), "---\nauth: required\n---\nAnswer.\n");
  await configure({ issuer: oauth.issuer.url ?? "", address: gateway.url });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

function configure({ issuer, address }: { readonly issuer: string; readonly address: string }) {
  const login = `{ issuer: "${issuer}", client_id: llm-do, scopes: [models], address: "${address}/v1" }`;
  return writeFile(join(root, "home/.config/llm-do/config.yaml"), `logins: { openai-compatible: ${login} }\n`);
}

const stored = () => join(root, "state/credentials/logins.json");

async function readLogin() {
  return JSON.parse(await readFile(stored(), "utf8")).entries["openai-compatible"];
}

/** As if the token had been given long ago. */
async function expire(more: Record<string, unknown> = {}) {
  const login = { ...(await readLogin()), expiresAt: Date.now() - 1000, ...more };
  await writeFile(stored(), JSON.stringify({ v: 1, entries: { "openai-compatible": login } }));
}

/** Logs in as a user with a browser does. `visit` gets the address that the browser is sent back to. */
async function logIn(visit: (redirect: URL) => Promise<unknown> = fetch) {
  const login = startCli(["oauth", "login", "openai-compatible"], { cwd });
  let page: string | undefined;
  login.child.stderr?.on("data", (text: string) => {
    page ??= /^ {2}(http\S+)$/m.exec(text)?.[1];
  });
  await login.stderrHolds("code_challenge_method=S256");
  await login.stderrHolds("\n\n");
  const answer = await fetch(page ?? "", { redirect: "manual" });
  await visit(new URL(answer.headers.get("location") ?? ""));
  return login.result;
}

const ask = () =>
  runCli([".", "x", "--model", chat.model], {
    cwd,
    env: { OPENAI_COMPATIBLE_BASE_URL: `${gateway.url}/v1`, OPENAI_COMPATIBLE_API_KEY: "a-key" },
  });

const sent = () => gateway.requests.map(({ headers }) => headers.authorization);

describe("a login", () => {
  it("says where its provider is, unless a variable does", async () => {
    await logIn();
    const run = await runCli([".", "x", "--model", chat.model], { cwd });
    expect(run).toEqual({ exitCode: 0, stdout: "yes\n", stderr: "" });
    expect(gateway.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
    const env = { OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9/v1" };
    const elsewhere = await runCli([".", "x", "--model", chat.model], { cwd, env });
    expect(elsewhere).toMatchObject({ exitCode: 7, stderr: expect.stringContaining(`your login goes to ${gateway.url} only`) });
    expect(sent()).toHaveLength(1);
  });

  it("is made in the browser, used in place of a key, listed and forgotten", async () => {
    const { exitCode, stdout } = await logIn();
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "" });
    expect((await stat(stored())).mode & 0o777).toBe(0o600);
    expect(await readLogin()).toMatchObject({ clientId: "llm-do", origin: gateway.url, refreshToken: rotating.good });
    const [run, status] = await Promise.all([ask(), runCli(["oauth", "status"], { cwd })]);
    expect(run).toEqual({ exitCode: 0, stdout: "yes\n", stderr: "" });
    expect(sent()).toEqual(["Bearer access-token-number-0"]);
    expect(status.stdout).toMatch(new RegExp(`^openai-compatible {2}${gateway.url} {2}good until \\d{4}`));
    expect(JSON.stringify([run, status])).not.toMatch(/-token-number/);
    expect((await runCli(["oauth", "logout", "openai-compatible"], { cwd })).exitCode).toBe(0);
    const after = await ask();
    expect(after).toMatchObject({ exitCode: 7, stderr: expect.stringContaining("run `llm-do oauth login openai-compatible`") });
    expect(sent()).toHaveLength(1);
  });

  it("takes no answer but that to its own request", async () => {
    const forged = await logIn(async (redirect) => {
      redirect.searchParams.set("state", "of-somebody-else");
      await fetch(redirect);
    });
    expect(forged).toMatchObject({ exitCode: 7, stderr: expect.stringContaining("failed: ") });
    const refused = await logIn(async (redirect) => {
      redirect.searchParams.delete("code");
      redirect.searchParams.set("error", "access_denied");
      await fetch(redirect);
    });
    expect(refused).toMatchObject({ exitCode: 7, stderr: expect.stringContaining("access_denied") });
    await expect(readFile(stored())).rejects.toThrow("ENOENT");
  });

  it("that two processes refresh at once is refreshed once, and lost to neither", async () => {
    await logIn();
    await expire();
    const runs = await Promise.all([ask(), ask()]);
    expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    expect(rotating.refreshes).toBe(1);
    expect(sent()).toEqual(["Bearer access-token-number-1", "Bearer access-token-number-1"]);
    expect(await readLogin()).toMatchObject({ accessToken: "access-token-number-1", refreshToken: rotating.good });
  });

  it("that the server has ended fails the run before its first request, and says what to do", async () => {
    await logIn();
    await expire({ refreshToken: "an-old-one" });
    const ended = await ask();
    expect(ended).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining("is over; run `llm-do oauth login openai-compatible`"),
    });
    expect(sent()).toEqual([]);
  });

  it("goes to its own address only, and `auto` takes a key where there is no login", async () => {
    await writeFile(join(cwd, "main.worker"), "---\nauth: auto\n---\nAnswer.\n");
    expect(await ask()).toMatchObject({ exitCode: 0 });
    expect(sent()).toEqual(["Bearer a-key"]);
    await configure({ issuer: oauth.issuer.url ?? "", address: "http://127.0.0.1:1" });
    await logIn();
    const elsewhere = await ask();
    expect(elsewhere).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining("your login goes to http://127.0.0.1:1 only"),
    });
    expect(sent()).toHaveLength(1);
  });

  it("needs an OAuth server that the configuration names, over TLS", async () => {
    await configure({ issuer: "http://login.example", address: "https://models.example" });
    const [insecure, unknown, missing] = await Promise.all([
      runCli(["oauth", "login", "openai-compatible"], { cwd }),
      runCli(["oauth", "login", "nobody"], { cwd }),
      runCli(["oauth", "logout", "openai"], { cwd }),
    ]);
    expect(insecure).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("http://login.example has to begin with https"),
    });
    expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("no provider of llm-do") });
    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("not logged in") });
  });

  it("is made with a code that is typed on another machine", async () => {
    const pending = ["authorization_pending"];
    await using server = await startServer((response, { path }) => {
      const code = {
        device_code: "d",
        user_code: "ABCD-EFGH",
        verification_uri: "https://login.example/device",
        expires_in: 60,
        interval: 0.05,
      };
      const tokens = { access_token: "access-token-by-code", token_type: "bearer" };
      if (path === "/device") return sendJson(response, code);
      const error = pending.shift();
      return sendJson(response, error ? { error } : tokens, error ? 400 : 200);
    }, Object);
    const login = `{ device_authorization_url: "${server.url}/device", token_url: "${server.url}/token", client_id: llm-do, address: "${gateway.url}/v1" }`;
    await writeFile(join(root, "home/.config/llm-do/config.yaml"), `logins: { openai-compatible: ${login} }\n`);
    const made = await runCli(["oauth", "login", "--device", "openai-compatible"], { cwd });
    expect(made).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: expect.stringContaining("\n  https://login.example/device\n  ABCD-EFGH\n"),
    });
    expect(await readLogin()).toMatchObject({ accessToken: "access-token-by-code", origin: gateway.url });
    expect(await ask()).toMatchObject({ exitCode: 0, stdout: "yes\n" });
  });
});
