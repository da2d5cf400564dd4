import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startHttpServer } from "../mcp/http-server.ts";
import { chat } from "../models/dialects.ts";
import { sendJson, startServer } from "../models/local-server.ts";
import { runCli, script, writeProgram } from "./run-cli.ts";

const program = (settings = "") => writeProgram({ "main.worker": `---\n${settings}---\nAnswer.\n` });

describe("a provider", () => {
  it("that is silent for longer than the worker waits has failed, and each attempt counts", async () => {
    await using server = await startServer(() => undefined);
    const env = chat.variables(server.url);
    const cwd = await program("model_settings: { timeout: 0.2, max_retries: 0 }\n");
    const { exitCode, stderr } = await runCli([".", "x", "--model", chat.model, "--no-journal"], { cwd, env });
    expect(exitCode).toBe(7);
    expect(stderr).toContain("took too long");
    expect(stderr).toContain("1 attempt was made");
    expect(server.requests).toHaveLength(1);
  });

  it("that asks for a longer wait than is kept ends the run at once, and the wait is named", async () => {
    await using server = await startServer((response) => sendJson(response, chat.error("slow"), 429, { "retry-after": "86400" }));
    const env = chat.variables(server.url);
    const { exitCode, stderr } = await runCli([".", "x", "--model", chat.model, "--no-journal"], { cwd: await program(), env });
    expect(exitCode).toBe(7);
    expect(stderr).toContain("slow; it asks to wait for 86400 s, and the longest wait is 120 s");
    expect(server.requests).toHaveLength(1);
  });
});

describe("a provider with a certificate of an authority of its own", () => {
  const file = (name: string) => join(import.meta.dirname, "fixtures/tls", name);

  async function serve() {
    const [key, cert] = await Promise.all(["server.key", "server.pem"].map((name) => readFile(file(name))));
    const server = createTlsServer({ key, cert }, (_, response) => sendJson(response, chat.body({ text: "over TLS" })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return chat.variables(`https://localhost:${(server.address() as AddressInfo).port}`);
  }

  it("is reached where NODE_EXTRA_CA_CERTS names it, and asked once where not", async () => {
    const provider = await serve();
    const cwd = await program();
    const ask = (env: Readonly<Record<string, string>>) =>
      runCli([".", "x", "--model", chat.model, "--no-journal"], { cwd, env: { ...provider, ...env } });
    const [trusted, unknown] = await Promise.all([ask({ NODE_EXTRA_CA_CERTS: file("ca.pem") }), ask({})]);
    expect(trusted).toEqual({ exitCode: 0, stdout: "over TLS\n", stderr: "" });
    expect(unknown).toMatchObject({ exitCode: 7, stdout: "", stderr: expect.stringContaining("in NODE_EXTRA_CA_CERTS") });
    expect(unknown.stderr).not.toContain("attempts");
  });
});

/** A proxy that opens every connection to one port of this machine, or answers with a status. */
async function startProxy({ port = 0, status }: { readonly port?: number; readonly status?: number }) {
  const seen: string[] = [];
  const proxy = createServer().on("connect", (request, socket) => {
    seen.push(`${request.url} ${request.headers["proxy-authorization"] ?? "without a password"}`);
    if (status !== undefined) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const target = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    for (const one of [target, socket]) one.on("error", () => undefined);
    return target.pipe(socket).pipe(target);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { seen, address: `127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

describe("a proxy of the environment", () => {
  const ask = async (env: Readonly<Record<string, string>>) =>
    runCli([".", "x", "--model", chat.model, "--no-journal"], {
      cwd: await program("model_settings: { max_retries: 0 }\n"),
      env,
    });
  const provider = { OPENAI_COMPATIBLE_BASE_URL: "http://models.example/v1", OPENAI_COMPATIBLE_BASE_URL_KEY: "test-key-chat" };

  it.each(["HTTP_PROXY", "http_proxy"])("is used where %s names it, with its user and password", async (variable) => {
    await using server = await startServer((response) => sendJson(response, chat.body({ text: "through" })));
    const proxy = await startProxy({ port: (server.server.address() as AddressInfo).port });
    const result = await ask({ ...provider, [variable]: `http://me:secret-word@${proxy.address}` });
    expect(result).toEqual({ exitCode: 0, stdout: "through\n", stderr: "" });
    expect(proxy.seen).toEqual([`models.example:80 Basic ${Buffer.from("me:secret-word").toString("base64")}`]);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer test-key-chat"]);
  });

  it("needs no scheme", async () => {
    await using server = await startServer((response) => sendJson(response, chat.body({ text: "through" })));
    const proxy = await startProxy({ port: (server.server.address() as AddressInfo).port });
    expect(await ask({ ...provider, HTTP_PROXY: proxy.address })).toMatchObject({ exitCode: 0, stdout: "through\n" });
    expect(proxy.seen).toEqual(["models.example:80 without a password"]);
  });

  it("is used for MCP servers, too", async () => {
    const server = await startHttpServer();
    const proxy = await startProxy({ port: Number(new URL(server.url).port) });
    const cwd = await writeProgram({
      "llm-do.yaml": "mcp_servers: { web: { url: 'http://mcp.example/mcp' } }\n",
      "main.worker":
        "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { mcp: { servers: [web] } }\n---\nAsk it.\n",
      "model.yaml": script({ main: [{ calls: [{ tool: "web__echo", args: { message: "through" } }] }, "done"] }),
    });
    const env = { HTTP_PROXY: `http://${proxy.address}` };
    const { exitCode, stdout } = await runCli([".", "--trust", "--approve-all", "--no-journal"], { cwd, env });
    expect([exitCode, stdout]).toEqual([0, "done\n"]);
    expect(new Set(proxy.seen)).toEqual(new Set(["mcp.example:80 without a password"]));
    expect(server.methods()).toContain("tools/call");
  });

  it("is not used for this machine, for the hosts of NO_PROXY, or where it is turned off", async () => {
    await using server = await startServer((response) => sendJson(response, chat.body({ text: "direct" })));
    const proxy = await startProxy({ status: 502 });
    const proxied = { HTTP_PROXY: `http://${proxy.address}`, HTTPS_PROXY: `http://${proxy.address}` };
    for (const url of [server.url, server.url.replace("127.0.0.1", "localhost")]) {
      expect(await ask({ ...chat.variables(url), ...proxied })).toMatchObject({ exitCode: 0, stdout: "direct\n" });
    }
    const elsewhere = { ...provider, OPENAI_COMPATIBLE_BASE_URL: "http://models.invalid/v1", ...proxied };
    expect((await ask({ ...elsewhere, NO_PROXY: "example.org,.invalid" })).exitCode).toBe(7);
    expect((await ask({ ...elsewhere, NODE_USE_ENV_PROXY: "0" })).exitCode).toBe(7);
    expect(proxy.seen).toEqual([]);
  });

  it.each([
    [407, "wants a user and a password (HTTP 407)"],
    [403, "refuses to open the connection (HTTP 403)"],
  ])("that answers %i is told of, and asked once", async (status, words) => {
    const proxy = await startProxy({ status });
    const cwd = await program();
    const env = { ...provider, HTTP_PROXY: `http://me:secret-word@${proxy.address}` };
    const { exitCode, stderr } = await runCli([".", "x", "--model", chat.model, "--no-journal"], { cwd, env });
    expect(exitCode).toBe(7);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("secret-word");
    expect(proxy.seen).toHaveLength(1);
  });

  it("that has no address is a mistake, told without its value", async () => {
    const { exitCode, stderr } = await ask({ ...provider, HTTPS_PROXY: "socks5://me:secret-word@proxy.example" });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("HTTPS_PROXY must be");
    expect(stderr).not.toContain("secret-word");
  });
});
