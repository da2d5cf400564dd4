import { expect, test } from "vitest";
import { renderExplanation } from "../../src/ui/explain/render-explanation.ts";
import { calling, compileUntrusted, createMcpWorld, own } from "./play-mcp.ts";

test("a server that dies in the middle is a failure of the call, and is started again by the next one", async () => {
  const { output, results } = await createMcpWorld().play({
    servers: { own },
    model: calling(["own__die"], ["own__add", { a: 1, b: 2 }]),
  });
  expect(output?.output).toBe("done");
  expect(results).toMatchObject([
    { ok: false, error: { type: "unavailable", error: expect.stringMatching(/exit code 9: out of memory/) } },
    { ok: true, value: { sum: 3 } },
  ]);
});

test("a server whose folders are not there is named with the folder", async () => {
  const { error } = await createMcpWorld().play({ servers: { own: { ...own, reads: ["../gone"] } }, model: calling() });
  expect(error).toMatchObject({
    message: expect.stringContaining(
      "the MCP server `own` cannot be used: The folder of the scope reads: ../gone/ does not exist.",
    ),
  });
});

test("a server that dies in each call is started three times more", async () => {
  const { results } = await createMcpWorld().play({
    servers: { own },
    model: calling(...Array.from({ length: 5 }, () => ["own__die"] as const)),
  });
  expect(results).toHaveLength(5);
  expect(results[3]).toMatchObject({ error: { error: expect.stringContaining("exit code 9") } });
  expect(results[4]).toMatchObject({ error: { type: "unavailable", error: "the MCP server `own` has ended 4 times in a row" } });
});

test("a server that comes back with other tools is not used", async () => {
  const world = createMcpWorld();
  let turns = 0;
  const { results } = await world.play({
    servers: { own },
    model: (request) => {
      if (++turns === 2) world.put("tools.json", '[{ "name": "wipe" }]');
      return calling(["own__die"], ["own__add", { a: 1, b: 2 }])(request);
    },
  });
  expect(results[1]).toMatchObject({
    error: { type: "unavailable", error: "the MCP server `own` has other tools than before it ended" },
  });
});

test("a call that hangs ends after the seconds of its server", async () => {
  const { output, results } = await createMcpWorld().play({
    servers: { own: { ...own, seconds: 1 } },
    model: calling(["own__hang"], ["own__add", { a: 1, b: 2 }]),
  });
  expect(output?.output).toBe("done");
  expect(results).toMatchObject([{ ok: false, error: { type: "timeout" } }, { ok: true }]);
});

test("an abort ends a call that hangs, and the server", async () => {
  const controller = new AbortController();
  const { error } = await createMcpWorld().play({
    servers: { own },
    model: calling(["own__hang"]),
    request: {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === "tool-call") controller.abort(new Error("enough"));
      },
    },
  });
  expect(error).toMatchObject({ name: "RunError", code: "aborted" });
});

test("a result that floods is cut, and a message without end ends the server", async () => {
  const { results } = await createMcpWorld().play({ servers: { own }, model: calling(["own__flood"], ["own__line"]) });
  expect(results).toMatchObject([
    { ok: true, value: { truncated: true, characters: 500_000 } },
    { ok: false, error: { type: "unavailable", error: expect.stringContaining("more than 10000000 bytes") } },
  ]);
});

test("400 tools can be used, and are searched for by default; more than 1000 are refused with what to write", async () => {
  const many = { ...own, args: ["server.mjs", "400"] };
  const { results, model } = await createMcpWorld().play({
    servers: { many: { ...many, defer: false } },
    model: calling(["many__tool_399"]),
  });
  expect(model.requests[0]?.tools).toHaveLength(412);
  expect(results).toMatchObject([{ ok: true, value: "called tool_399" }]);
  const world = createMcpWorld();
  const deferred = await world.play({
    servers: { many },
    model: calling(["search_tools", { query: "many__tool_7" }], ["many__tool_7"]),
  });
  expect(deferred.results).toMatchObject([
    { ok: true, value: { loaded: expect.arrayContaining(["many__tool_7"]) } },
    { ok: true, value: "called tool_7" },
  ]);
  expect(deferred.model.requests.map(({ tools }) => tools.length)).toEqual([1, 11, 11]);
  const { outline } = await compileUntrusted(world);
  expect(outline && renderExplanation(outline, { columns: 100 })).toMatch(
    /412 tools, 412 of them searched for, about 1,\d\d\d tokens in each request/,
  );
  const tooMany = await createMcpWorld().play({ servers: { own: { ...own, args: ["server.mjs", "1500"] } }, model: calling() });
  expect(tooMany.error).toMatchObject({ message: expect.stringContaining("name those that are needed under `tools`") });
});

test.each<[string, object, RegExp]>([
  ["is not there", { command: "no-such-mcp-server" }, /exit code 127: .*no-such-mcp-server/],
  ["ends at once", { command: process.execPath, args: ["-e", "process.exit(3)"] }, /exit code 3/],
])("a server that %s fails the run with what the system says", async (_, server, why) => {
  const { error, model } = await createMcpWorld().play({ servers: { own: server }, model: calling() });
  expect(error).toMatchObject({ code: "failed", message: expect.stringMatching(why) });
  expect(model.requests).toEqual([]);
});
