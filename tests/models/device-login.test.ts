import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { beginDeviceLogin, type LoginTerms } from "../../src/models/login/oauth.ts";

/** Answers of the token endpoint, in their order. */
let answers: { readonly status: number; readonly body: object }[] = [];
let forms: { readonly path: string; readonly form: Record<string, string> }[] = [];
const tokens = {
  status: 200,
  body: { access_token: "an-access-token", token_type: "bearer", refresh_token: "a-refresh-token", expires_in: 60 },
};
const says = (error: string) => ({ status: 400, body: { error } });

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const path = request.url ?? "";
  const send = (status: number, body: object) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (path === "/.well-known/openid-configuration")
    return send(200, { issuer: base(), token_endpoint: `${base()}/token`, device_authorization_endpoint: `${base()}/device` });
  forms.push({ path, form: Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())) });
  if (path === "/device")
    return send(200, {
      device_code: "dev-1",
      user_code: "ABCD-EFGH",
      verification_uri: "https://login.example/device",
      expires_in: 100,
      interval: 3,
    });
  const { status, body } = answers.shift() ?? tokens;
  return send(status, body);
});

const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** A clock on which waits pass at once. */
function begin(more: Partial<LoginTerms> = {}) {
  forms = [];
  let time = 1000;
  const waits: number[] = [];
  const sleep = async (milliseconds: number, signal: AbortSignal) => {
    signal.throwIfAborted();
    waits.push(milliseconds / 1000);
    time += milliseconds;
  };
  const terms: LoginTerms = {
    issuer: base(),
    clientId: "llm-do",
    scopes: ["models"],
    parameters: { audience: "a" },
    origin: "https://models.example",
    ...more,
  };
  return { waits, login: beginDeviceLogin(terms, { fetch: globalThis.fetch, now: () => time, sleep }) };
}

test("a login by device code asks as often as the server wants, until the user is done", async () => {
  answers = [says("authorization_pending"), says("slow_down"), says("authorization_pending"), tokens];
  const { waits, login } = begin();
  const begun = await login;
  expect(begun).toMatchObject({ url: "https://login.example/device", code: "ABCD-EFGH" });
  const stored = await begun.finish(new AbortController().signal);
  expect(stored).toMatchObject({
    accessToken: "an-access-token",
    refreshToken: "a-refresh-token",
    origin: "https://models.example",
  });
  expect(stored).toMatchObject({ tokenUrl: `${base()}/token`, clientId: "llm-do" });
  expect(waits).toEqual([3, 3, 8, 8]);
  expect(forms[0]).toEqual({ path: "/device", form: { client_id: "llm-do", scope: "models", audience: "a" } });
  expect(forms[1]?.form).toMatchObject({ device_code: "dev-1", grant_type: "urn:ietf:params:oauth:grant-type:device_code" });
});

test("it ends where the user refuses, where the time is over, and on an abort", async () => {
  const finish = async (signal = new AbortController().signal) => (await begin().login).finish(signal);
  answers = [says("access_denied")];
  await expect(finish()).rejects.toMatchObject({ error: "access_denied" });
  answers = Array.from({ length: 40 }, () => says("authorization_pending"));
  await expect(finish()).rejects.toThrow("the code is over");
  const reason = new Error("stopped");
  await expect(finish(AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("addresses can be given in place of an issuer, and a server without them is named", async () => {
  answers = [tokens];
  const { issuer: _, ...given } = { issuer: "", tokenUrl: `${base()}/token`, deviceUrl: `${base()}/device` };
  const login = await beginDeviceLogin(
    { ...given, clientId: "llm-do", scopes: [], parameters: {}, origin: "https://models.example" },
    { fetch: globalThis.fetch, now: () => 0, sleep: async () => undefined },
  );
  await expect(login.finish(new AbortController().signal)).resolves.toMatchObject({ accessToken: "an-access-token" });
  const { login: without } = begin({ tokenUrl: `${base()}/token`, authorizationUrl: `${base()}/authorize` });
  await expect(without).rejects.toThrow("has no logins by device code");
});
