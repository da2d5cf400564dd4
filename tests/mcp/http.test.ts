import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createListener } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { Toolset } from "../../src/index.ts";
import { toolsetConformance } from "../../src/testing/index.ts";
import { createBuiltInToolsets } from "../../src/toolsets/built-ins.ts";
import { sendJson, startServer } from "../models/local-server.ts";
import { startHttpServer } from "./http-server.ts";
import { calling, compileUntrusted, createMcpWorld } from "./play-mcp.ts";

const program = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js");

async function findPort(): Promise<number> {
  const listener = createListener();
  await new Promise<void>((resolve) => {
    listener.listen(0, "127.0.0.1", resolve);
  });
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

/** Starts the reference server. Resolves when it listens. */
async function startEverything() {
  const port = await findPort();
  const child = spawn(process.execPath, [program, "streamableHttp"], { env: { ...process.env, PORT: String(port) } });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const chunk of child.stderr) if (String(chunk).includes("listening")) break;
  const kill = async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return { url: `http://127.0.0.1:${port}/mcp`, kill };
}

test("the reference server is reached by streamable HTTP: calls, progress, a question, resources, the end of its session, and its death", async () => {
  const { url, kill } = await startEverything();
  const sent: string[] = [];
  const world = createMcpWorld();
  const host = createNodeHost({
    environment: world.environment,
    fetch: (input, init) => {
      sent.push(init?.method ?? "GET");
      return fetch(input, init);
    },
  });
  const { results, events } = await world.play({
    servers: { all: { url, tools: ["echo", "trigger-*", "get-resource-links", "*_resource*"] } },
    model: calling(
      ["all__echo", { message: "hello" }],
      ["all__trigger-long-running-operation", { duration: 0.02, steps: 2 }],
      ["all__trigger-elicitation-request"],
      ["all__list_resources"],
      ["all__get-resource-links", { count: 2 }],
      ["all__read_resource", { uri: "demo://resource/dynamic/text/2" }],
    ),
    approval: {
      mode: "prompt",
      approver: async ({ tool, args }) => ({ type: "approve", ...(tool === "elicit" ? { args: { ...args, name: "Ada" } } : {}) }),
    },
    request: { host },
  });
  expect(results).toMatchObject([
    { ok: true, value: expect.stringContaining("hello") },
    { ok: true, value: expect.stringContaining("completed") },
    { ok: true, value: expect.stringMatching(/- Name: Ada[\s\S]*- Favorite Integer: 42/) },
    { ok: true, value: expect.stringContaining("demo://resource/dynamic/text/{resourceId}") },
    { ok: true, value: expect.stringContaining("[resource demo://resource/dynamic/text/2: Text Resource 2]") },
    { ok: true, value: expect.stringContaining("Resource 2") },
  ]);
  expect(events.flatMap((event) => (event.type === "progress" ? [event.message] : []))).toEqual(["1 of 2", "2 of 2"]);
  expect(sent.at(-1)).toBe("DELETE");

  const echo = ["all__echo", { message: "hello" }] as const;
  const killed = await world.play({
    servers: { all: { url, tools: ["echo", "trigger-*", "get-resource-links", "*_resource*"] } },
    model: async (request) => {
      if (request.turn === 2) await kill();
      return calling(echo, echo, echo)(request);
    },
  });
  const gone = { ok: false, error: { type: "unavailable", error: expect.stringContaining("ECONNREFUSED") } };
  expect([killed.output?.output, killed.results]).toMatchObject(["done", [{ ok: true }, gone, gone]]);
});

test("headers take variables, go to the address with each request, and stay secret", async () => {
  const server = await startHttpServer();
  const world = createMcpWorld();
  world.environment["TICKETS_TOKEN"] = "token-of-the-user";
  const { results, events, model } = await world.play({
    servers: { web: { url: server.url, headers: { Authorization: "Bearer ${TICKETS_TOKEN}" } } },
    model: calling(["web__echo", { message: "token-of-the-user" }], ["web__steps"]),
  });
  expect(results).toMatchObject([{ ok: true }, { ok: true, value: "done" }]);
  expect(events).toContainEqual(expect.objectContaining({ type: "progress", message: "half" }));
  expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer token-of-the-user"]));
  expect(JSON.stringify([events, model.requests[0]])).not.toContain("token-of-the-user");
});

test("the toolset of servers keeps the contract of toolsets", async () => {
  const server = await startHttpServer();
  const { environment, folder } = createMcpWorld();
  const toolset = createBuiltInToolsets(createNodeHost({ environment })).get("mcp") as Toolset;
  const calls = [{ tool: "web__echo", args: { message: "hello" } }];
  const config = { servers: { web: { url: server.url } } };
  for (const { title, check } of toolsetConformance({ toolset, config, calls, folder }))
    await expect(check(), title).resolves.toBeUndefined();
});

test("a redirect to another origin is not followed, and no header goes there", async () => {
  const elsewhere = await startHttpServer();
  const redirecting = createServer((_, response) => response.writeHead(307, { location: elsewhere.url }).end());
  await new Promise<void>((resolve) => {
    redirecting.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void redirecting.close());
  const url = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/mcp`;
  const { error } = await createMcpWorld().play({
    servers: { web: { url, headers: { Authorization: "Bearer a" } } },
    model: calling(),
  });
  expect(error).toMatchObject({ message: expect.stringContaining("redirect") });
  expect(elsewhere.requests).toEqual([]);
});

test("a session that the server forgot is a failure of the call, and the next call begins another one", async () => {
  const server = await startHttpServer();
  const { results } = await createMcpWorld().play({
    servers: { web: { url: server.url } },
    model: (request) => {
      if (request.turn === 2) server.forget();
      const echo = (message: string) => ["web__echo", { message }] as const;
      return calling(echo("a"), echo("b"), echo("c"))(request);
    },
  });
  expect(results).toMatchObject([
    { ok: true, value: "a" },
    { ok: false, error: { type: "unavailable", error: expect.stringContaining("HTTP 404") } },
    { ok: true, value: "c" },
  ]);
  expect(server.methods().filter((method) => method === "initialize")).toHaveLength(2);
});

test("a stream that broke off is resumed; a lost answer, a flood and a refusal are failures of their calls", async () => {
  const server = await startHttpServer();
  const { output, results } = await createMcpWorld().play({
    servers: { web: { url: server.url } },
    model: calling(["web__resume"], ["web__lose"], ["web__refuse"], ["web__flood"], ["web__echo", { message: "still here" }]),
  });
  expect(output?.output).toBe("done");
  expect(results).toMatchObject([
    { ok: true, value: "resumed" },
    { ok: false, error: { error: expect.stringContaining("the connection was lost before its answer") } },
    { ok: false, error: { error: expect.stringContaining("HTTP 429") } },
    { ok: false, error: { type: "unavailable", error: expect.stringContaining("more than 10000000 bytes") } },
    { ok: true, value: "still here" },
  ]);
});

test("an abort is told to the server, which is not waited for", async () => {
  const server = await startHttpServer();
  const controller = new AbortController();
  server.held.then(() => controller.abort(new Error("enough")));
  const { error } = await createMcpWorld().play({
    servers: { web: { url: server.url } },
    model: calling(["web__hold"]),
    request: { signal: controller.signal },
  });
  expect(error).toMatchObject({ name: "RunError", code: "aborted" });
  await expect.poll(() => server.methods()).toContain("notifications/cancelled");
});

test("a server that is not there, or refuses the header, fails the worker's call with what it says", async () => {
  await using refusing = await startServer((response) => sendJson(response, { error: "who are you?" }, 401));
  const refused = await createMcpWorld().play({ servers: { web: { url: refusing.url } }, model: calling() });
  expect(refused.error).toMatchObject({ code: "failed", message: expect.stringMatching(/HTTP 401: .*who are you/) });
  const url = `http://127.0.0.1:${await findPort()}/mcp`;
  const absent = await createMcpWorld().play({ servers: { web: { url } }, model: calling() });
  expect(absent.error).toMatchObject({ message: expect.stringContaining("ECONNREFUSED") });
});

test("trust is asked for the address and its headers, and covers no other address", async () => {
  const world = createMcpWorld();
  world.environment["TOKEN"] = "value-of-the-token";
  const writeProgram = (url: string) => {
    world.put("llm-do.yaml", JSON.stringify({ mcp_servers: { web: { url, headers: { Authorization: "Bearer ${TOKEN}" } } } }));
    world.put("main.worker", "---\ntoolsets: { mcp: { servers: [web] } }\n---\nDo it.\n");
  };
  writeProgram("https://example.org/mcp");
  const { untrusted, outline, reach } = await compileUntrusted(world);
  const line = "sends to the MCP server web at https://example.org/mcp (with Authorization: Bearer ${TOKEN})";
  expect(untrusted?.reasons).toContain(`${line}, in main`);
  expect(outline?.ceiling.rules).toEqual([`mcp: ${line}`]);
  expect(reach?.variables).toEqual(["TOKEN"]);
  expect(JSON.stringify([untrusted, outline, reach])).not.toContain("value-of-the-token");
  writeProgram("http://example.net/mcp");
  const other = await compileUntrusted(world);
  expect(other.reach?.workers["main"]?.rules).toEqual([
    "mcp: sends to the MCP server web at http://example.net/mcp (not encrypted; with Authorization: Bearer ${TOKEN})",
  ]);
});
