import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createPatientFetch } from "../../src/host/patient-fetch.ts";

const fetch = createPatientFetch();

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    if ("closeAllConnections" in server) (server as ReturnType<typeof createServer>).closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (listener: RequestListener) => listen(createServer(listener));

async function readAll(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

const symbols = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"].map((name) => Symbol.for(name));

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("a request", () => {
  it("is sent as `fetch` sends it, and its answer has head and body", async () => {
    const url = await serve(async (request, response) => {
      const { method, headers } = request;
      response.writeHead(418, "Teapot", { "x-one": "1", "set-cookie": ["a=1", "b=2"] });
      response.end(JSON.stringify({ method, type: headers["content-type"], body: String(await readAll(request)) }));
    });
    const answer = await fetch(`${url}/a?b=c`, { method: "post", body: "hällo", headers: { "Content-Type": "text/x" } });
    expect([answer.status, answer.statusText, answer.ok, answer.url]).toEqual([418, "Teapot", false, `${url}/a?b=c`]);
    expect([answer.headers.get("x-one"), answer.headers.getSetCookie()]).toEqual(["1", ["a=1", "b=2"]]);
    expect(await answer.json()).toEqual({ method: "POST", type: "text/x", body: "hällo" });
  });

  it.each([
    ["form data", () => Object.assign(new FormData(), {}), /^multipart\/form-data; boundary=/],
    ["search parameters", () => new URLSearchParams({ a: "1" }), /^application\/x-www-form-urlencoded/],
    ["bytes", () => new Uint8Array([1, 2, 3]), undefined],
    ["a stream", () => new Blob(["abc"]).stream(), undefined],
  ])("can carry %s, with its length", async (_, body, type) => {
    const seen: string[][] = [];
    const url = await serve(async (request, response) => {
      const sent = await readAll(request);
      seen.push([String(request.headers["content-type"]), String(request.headers["content-length"]), String(sent.length)]);
      response.end("ok");
    });
    expect(await (await fetch(url, { method: "PUT", body: body() })).text()).toBe("ok");
    const [[contentType, length, size] = []] = seen;
    expect(length).toBe(size);
    if (type) expect(contentType).toMatch(type);
  });

  it("uses the connection of the one before", async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end("ok");
    });
    for (let index = 0; index < 3; index++) await (await fetch(url)).text();
    expect(ports.size).toBe(1);
  });

  it("goes through what somebody set for the process: a dispatcher, or another `fetch`", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (input: string) => {
      asked.push(input);
      return new Response("stub");
    });
    expect(await (await fetch("http://127.0.0.1:8/")).text()).toBe("stub");
    vi.unstubAllGlobals();
    const kept = globalThis as Record<symbol, unknown>;
    const before = symbols.map((symbol) => kept[symbol]);
    const set = {
      compose: () => ({
        dispatch: ({ path }: { path: string }) => {
          asked.push(path);
          throw new Error("mine");
        },
      }),
    };
    for (const symbol of symbols) kept[symbol] = set;
    const failure = await fetch("http://127.0.0.1:8/through").catch((error: Error) => error.cause);
    symbols.forEach((symbol, index) => {
      kept[symbol] = before[index];
    });
    expect(failure).toMatchObject({ message: "mine" });
    expect(asked).toEqual(["http://127.0.0.1:8/", "/through"]);
  });
});

describe("an answer", () => {
  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["identity", Buffer.from],
  ] as const)("in the coding %s is read", async (coding, encode) => {
    const text = "word ".repeat(50_000);
    const url = await serve((request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { "content-encoding": coding });
      response.end(encode(Buffer.from(text)));
    });
    expect(await (await fetch(`${url}/200`)).text()).toBe(text);
  });

  it("that is streamed comes piece by piece, with the informational answer before it and the trailers after it ignored", async () => {
    let goOn = () => undefined as unknown;
    const url = await serve((_, response) => {
      response.writeContinue();
      response.writeEarlyHints({ link: "</x>; rel=preload" });
      response.writeHead(200, { "content-type": "text/event-stream", trailer: "x-end" });
      response.write("data: 1\n\n");
      goOn = () => {
        response.addTrailers({ "x-end": "1" });
        response.end("data: 2\n\n");
      };
    });
    const reader = (await fetch(url)).body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader?.read()).toEqual({ done: false, value: "data: 1\n\n" });
    goOn();
    expect(await reader?.read()).toEqual({ done: false, value: "data: 2\n\n" });
    expect(await reader?.read()).toMatchObject({ done: true });
  });

  it("is not read faster than it is taken", async () => {
    const piece = Buffer.alloc(65_536, "x");
    const pieces = 500;
    let sent = 0;
    const url = await serve((_, response) => {
      const write = () => {
        while (sent < pieces) {
          sent++;
          if (!response.write(piece)) return;
        }
        response.end();
      };
      response.on("drain", write);
      write();
    });
    const answer = await fetch(url);
    for (let still = 0, last = 0; still < 100; last = sent) {
      await new Promise((resolve) => setImmediate(resolve));
      still = sent === last ? still + 1 : 0;
    }
    expect(sent).toBeLessThan(pieces);
    expect((await answer.arrayBuffer()).byteLength).toBe(pieces * piece.length);
  });

  it.each([
    ["that breaks off", (socket: { destroy(): void }) => socket.destroy()],
    ["that ends short of its length", (socket: { end(): void }) => socket.end()],
  ])("%s fails while it is read", async (_, end) => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => end(socket)));
    });
    const url = await listen(server);
    const terminated = { message: "terminated", cause: { code: "ECONNRESET" } };
    await expect((await fetch(url)).text()).rejects.toMatchObject(terminated);
  });

  it("is given up on an abort, with its reason", async () => {
    const url = await serve((_, response) => response.write("half"));
    const controller = new AbortController();
    const answer = await fetch(url, { signal: controller.signal });
    const reason = new Error("enough");
    const read = answer.text();
    controller.abort(reason);
    await expect(read).rejects.toBe(reason);
    const unasked = fetch(url, { signal: controller.signal });
    await expect(unasked).rejects.toBe(reason);
  });
});

describe("a redirect", () => {
  async function redirecting(status: number, toLocation = (target: string) => target) {
    const seen: object[] = [];
    const target = await serve(async (request, response) => {
      const { method, headers } = request;
      seen.push({ method, key: headers.authorization, body: String(await readAll(request)) });
      response.end("there");
    });
    const url = await serve((_, response) => response.writeHead(status, { location: `${toLocation(target)}/new` }).end());
    return { url, target, seen };
  }

  it.each([
    [302, { method: "GET", body: "" }],
    [307, { method: "POST", body: "x" }],
  ])("of status %i is followed, without the key where the origin is another", async (status, sent) => {
    const { url, target, seen } = await redirecting(status);
    const answer = await fetch(url, { method: "POST", body: "x", headers: { authorization: "Bearer k" } });
    expect([await answer.text(), answer.url, answer.redirected]).toEqual(["there", `${target}/new`, true]);
    expect(seen).toEqual([{ ...sent, key: undefined }]);
  });

  it("is an answer or an error where that is asked for, and an error where it goes in a circle", async () => {
    const { url, seen } = await redirecting(308);
    expect((await fetch(url, { redirect: "manual" })).status).toBe(308);
    await expect(fetch(url, { redirect: "error" })).rejects.toMatchObject({ cause: { message: "unexpected redirect" } });
    const circle = await serve((_, response) => response.writeHead(307, { location: "/" }).end());
    await expect(fetch(circle)).rejects.toMatchObject({ cause: { message: "redirect count exceeded" } });
    expect(seen).toEqual([]);
  });

  it("to an address with a password is refused before anything is sent there", async () => {
    const { url, target, seen } = await redirecting(307, (origin) => origin.replace("//", "//user:secret@"));
    await expect(fetch(url, { method: "POST", body: "x" })).rejects.toThrow(`holds a user or a password: ${target}`);
    expect(seen).toEqual([]);
  });
});

describe("a server without HTTP/1.1", () => {
  const tls = join(import.meta.dirname, "../cli/fixtures/tls");

  it("gets an error that says so", async () => {
    const [key, cert] = await Promise.all(["server.key", "server.pem"].map((name) => readFile(join(tls, name))));
    const plain = await listen(createHttp2Server());
    const secure = await listen(createTlsServer({ key, cert, ALPNProtocols: ["h2"] }));
    for (const url of [plain, secure.replace("http:", "https:")]) {
      const cause = { message: expect.stringContaining("the server does not answer in HTTP/1.1") };
      await expect(fetch(url)).rejects.toMatchObject({ message: "fetch failed", cause });
    }
  });
});
