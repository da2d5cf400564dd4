import { expect, test } from "vitest";
import { memoryHost } from "../../testing/memory-host.ts";
import { startServer } from "./server.ts";

test("a server that lists its tools without end is given up", async () => {
  const host = memoryHost();
  let pages = 0;
  let passed = 0;
  const late = Promise.withResolvers<void>();
  const slowClock = { ...host.clock, monotonic: () => passed, sleep: () => late.promise };
  const fetch = async (_: unknown, init?: RequestInit) => {
    const { id, method, params } = JSON.parse(String(init?.body ?? "{}"));
    if (id === undefined) return new Response(null, { status: 202 });
    const { protocolVersion } = params ?? {};
    const started = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "slow", version: "1" } };
    if (method !== "initialize") passed += 7000;
    if (passed >= 60_000) late.resolve();
    const page = { tools: [{ name: `t${++pages}`, inputSchema: { type: "object" } }], nextCursor: `${pages}` };
    const result = method === "initialize" ? started : page;
    return new Response(JSON.stringify({ jsonrpc: "2.0", id, result }), { headers: { "content-type": "application/json" } });
  };
  const starting = startServer({
    name: "slow",
    server: { url: "https://slow.example/mcp" },
    host: { ...host, clock: slowClock, fetch },
    folder: "/work",
    signal: new AbortController().signal,
  });
  await expect(starting).rejects.toThrow("the MCP server `slow` cannot be used: it had not told all its tools after 60 seconds");
  expect(pages).toBeLessThan(12);
});
