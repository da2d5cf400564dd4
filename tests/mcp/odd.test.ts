import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sendEvents, sendJson, startServer } from "../models/local-server.ts";
import { calling, createMcpWorld, everything, type McpPlayed } from "./play-mcp.ts";

type Answers = Readonly<Record<string, object>>;

function playOdd(answers: Answers): Promise<McpPlayed> {
  const world = createMcpWorld();
  world.put("odd.mjs", readFileSync(join(import.meta.dirname, "odd.mjs"), "utf8"));
  world.put("answers.json", JSON.stringify(answers));
  return world.play({ servers: { odd: { command: process.execPath, args: ["odd.mjs"] } }, model: calling(["odd__say"]) });
}

const say = { name: "say", inputSchema: { type: "object", properties: { a: { type: "string", default: null } } } };
const absent = { annotations: null, title: null, outputSchema: null, _meta: null, execution: null, icons: null };

const nulls: readonly (readonly [where: string, answers: Answers])[] = [
  ["an initialisation", { initialize: { instructions: null, _meta: null } }],
  ["a list", { "tools/list": { nextCursor: null, _meta: null } }],
  ["a definition", { "tools/list": { tools: [{ ...say, ...absent, description: null }] } }],
  ["hints", { "tools/list": { tools: [{ ...say, annotations: { title: null, readOnlyHint: null } }] } }],
  ["a result", { "tools/call": { structuredContent: null, isError: null, _meta: null } }],
  ["a content", { "tools/call": { content: [{ type: "text", text: "said", annotations: null, _meta: null }] } }],
];

test.each(nulls)("`null` in %s stands for what is absent", async (_, answers) => {
  const { results, model } = await playOdd(answers);
  expect(results).toEqual([{ ok: true, value: "said" }]);
  const [tool] = model.requests[0]?.tools ?? [];
  expect(tool?.description).toBe("");
});

test.each(["events", "json"])("`null` stands for what is absent in %s over HTTP, too", async (form) => {
  const definition = { ...say, ...absent };
  const results: Readonly<Record<string, (params: { protocolVersion: string }) => object>> = {
    initialize: ({ protocolVersion }) => ({
      ...{ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } },
      ...{ instructions: null, _meta: null },
    }),
    "tools/list": () => ({ tools: [definition], nextCursor: null, _meta: null }),
    "tools/call": () => ({ content: [], structuredContent: { value: null, text: "a\u2028null" }, _meta: null }),
  };
  const server = await startServer((response, { body }) => {
    const result = results[body?.method]?.(body.params);
    if (!result) return void response.writeHead(body === undefined ? 405 : 202).end();
    const message = { jsonrpc: "2.0", id: body.id, result };
    if (form === "json") return sendJson(response, message);
    const text = `event: message\ndata: ${JSON.stringify(message)}\n\n`;
    sendEvents(response, [text.slice(0, 30), text.slice(30)]);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { results: played, model } = await createMcpWorld().play({
    servers: { odd: { url: `${server.url}/mcp` } },
    model: calling(["odd__say"]),
  });
  expect(played).toEqual([{ ok: true, value: { value: null, text: "a\u2028null" } }]);
  expect(model.requests[0]?.tools[0]?.inputSchema).toEqual(say.inputSchema);
});

test("values of tools keep their `null`", async () => {
  const structuredContent = { found: null, list: [null, 1] };
  const { results, model } = await playOdd({ "tools/list": { tools: [say] }, "tools/call": { structuredContent } });
  expect(results).toEqual([{ ok: true, value: structuredContent }]);
  expect(model.requests[0]?.tools[0]?.inputSchema).toEqual(say.inputSchema);
});

test("a tool that answers by a task alone is not offered", async () => {
  const tools = [say, { ...say, name: "research", execution: { taskSupport: "required" } }];
  const { model } = await playOdd({ "tools/list": { tools } });
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["odd__say"]);
  const { model: other } = await createMcpWorld().play({ servers: { all: everything }, model: calling() });
  const names = other.requests[0]?.tools.map(({ name }) => name);
  expect(names).toContain("all__echo");
  expect(names).not.toContain("all__simulate-research-query");
});

test.each([
  [300, /nested more than 200 levels deep/],
  [50_000, /nested more than 200 levels deep/],
])("a result that is nested %s levels deep fails its call alone", async (levels, why) => {
  const answers = { deep: { method: "tools/call", levels }, "tools/call": { structuredContent: { value: "deep" } } };
  const { results, output } = await playOdd(answers);
  expect(results).toMatchObject([{ ok: false, error: { error: expect.stringMatching(why) } }]);
  expect(output?.output).toBe("done");
});

test("a definition that is nested 50,000 levels deep makes its server unusable", async () => {
  const tools = [{ name: "say", inputSchema: { type: "object", default: "deep" } }];
  const { error } = await playOdd({ deep: { method: "tools/list", levels: 50_000 }, "tools/list": { tools } });
  expect(error).toMatchObject({ message: expect.stringMatching(/`odd` cannot be used: .*nested more than 200 levels deep/) });
});

test.each<[string, Answers, RegExp]>([
  [
    "a tool without a schema",
    { "tools/list": { tools: [{ name: "say" }] } },
    /its answer to tools\/list is not what the protocol allows: tools\.0\.inputSchema \(/,
  ],
  [
    "a list that is none",
    { "tools/list": { tools: "all" } },
    /its answer to tools\/list is not what the protocol allows: tools \(/,
  ],
])("%s makes its server unusable, in one line", async (_, answers, why) => {
  const { error } = await playOdd(answers);
  expect(error).toMatchObject({ message: expect.stringMatching(why) });
  expect((error as Error).message).not.toContain("\n");
});
