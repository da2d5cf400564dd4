import { createVerify, generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ownDialects } from "../models/own-dialects.ts";
import { runCli, writeProgram } from "./run-cli.ts";

const tls = (name: string) => join(import.meta.dirname, "fixtures/tls", name);
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

interface Seen {
  readonly host: string | undefined;
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

/** Google's token server and models behind one port, at their own names: a proxy leads there. */
async function startGoogle(token: (form: URLSearchParams) => object) {
  const seen: Seen[] = [];
  const [key, cert] = await Promise.all([readFile(tls("google.key")), readFile(tls("google.pem"))]);
  const google = createTlsServer({ key, cert }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const { host, authorization } = request.headers;
    seen.push({ host, path: request.url, authorization, body });
    const isToken = host === "oauth2.googleapis.com";
    const answer = isToken
      ? token(new URLSearchParams(body))
      : ownDialects.find(({ name }) => name === "vertex")?.body({ text: "hello" });
    response.writeHead("error" in (answer as object) ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => google.listen(0, "127.0.0.1", resolve));
  const proxy = createServer().on("connect", (_, socket) => {
    const target = connect((google.address() as AddressInfo).port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    for (const one of [target, socket]) one.on("error", () => one.destroy());
    target.pipe(socket).pipe(target);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const server of [google, proxy]) {
      server.closeAllConnections();
      server.close();
    }
  });
  return { seen, address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

/** A run with a model of Vertex and the credentials of a service account, and with no key. */
async function ask(address: string) {
  const cwd = await writeProgram({ "main.worker": "---\nmodel_settings: { max_retries: 0 }\n---\nAnswer.\n" });
  const credentials = join(cwd, "../service-account.json");
  const account = {
    ...{ type: "service_account", project_id: "acme", private_key_id: "k1", client_email: "runner@acme.example", client_id: "1" },
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
  };
  await writeFile(credentials, JSON.stringify(account));
  return runCli([".", "x", "--model", "vertex:gemini-2.5-pro", "--no-journal"], {
    cwd,
    env: {
      ...{ GOOGLE_APPLICATION_CREDENTIALS: credentials, NODE_EXTRA_CA_CERTS: tls("google.pem"), HTTPS_PROXY: address },
      ...{ GOOGLE_VERTEX_PROJECT: "acme", GOOGLE_VERTEX_LOCATION: "europe-west4" },
    },
  });
}

it("logs in at Vertex as a service account, and sends the token to Google's address", async () => {
  let signed = "";
  const { seen, address } = await startGoogle((form) => {
    signed = form.get("assertion") ?? "";
    return { access_token: "token-of-the-test", expires_in: 3600, token_type: "Bearer" };
  });
  expect(await ask(address)).toEqual({ exitCode: 0, stdout: "hello\n", stderr: "" });
  const [head = "", claims = "", signature = ""] = signed.split(".");
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
    iss: "runner@acme.example",
    scope: expect.stringContaining("https://www.googleapis.com/auth/cloud-platform"),
  });
  const verifier = createVerify("RSA-SHA256").update(`${head}.${claims}`);
  expect(verifier.verify(publicKey, Buffer.from(signature, "base64url"))).toBe(true);
  expect(seen.map(({ host, authorization }) => [host, authorization])).toEqual([
    ["oauth2.googleapis.com", undefined],
    ["europe-west4-aiplatform.googleapis.com", "Bearer token-of-the-test"],
  ]);
  expect(seen[1]?.path).toContain("/projects/acme/locations/europe-west4/publishers/google/models/gemini-2.5-pro");
});

it("a refused service account ends the run with what Google said, and no model is asked", async () => {
  const { seen, address } = await startGoogle(() => ({ error: "invalid_grant", error_description: "Invalid JWT Signature." }));
  const { exitCode, stdout, stderr } = await ask(address);
  expect([exitCode, stdout]).toEqual([7, ""]);
  expect(stderr).toContain("Invalid JWT Signature.");
  expect(seen.map(({ host }) => host)).toEqual(["oauth2.googleapis.com"]);
});
