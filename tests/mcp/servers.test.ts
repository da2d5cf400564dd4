import { expect, test } from "vitest";
import { calling, createMcpWorld, everything, filesystem, own } from "./play-mcp.ts";

test("the reference server is started, asked for its tools and called", async () => {
  const world = createMcpWorld();
  const { output, results, model } = await world.play({
    servers: { all: { ...everything, tools: ["echo", "get-*"] } },
    model: calling(["all__echo", { message: "hello" }], ["all__get-sum", { a: 2, b: 3 }]),
  });
  expect(output?.output).toBe("done");
  expect(results).toMatchObject([
    { ok: true, value: expect.stringContaining("hello") },
    { ok: true, value: expect.stringContaining("5") },
  ]);
  const names = model.requests[0]?.tools.map(({ name }) => name) ?? [];
  expect(names).toContain("all__echo");
  expect(names.every((name) => /^all__(echo|get-)/.test(name))).toBe(true);
});

test("the reference server for files reads the program's folder", async () => {
  const world = createMcpWorld();
  world.put("note.txt", "buy milk");
  const { results } = await world.play({
    servers: { files: filesystem(world.folder) },
    model: calling(
      ["files__read_text_file", { path: `${world.folder}/note.txt` }],
      ["files__write_file", { path: `${world.folder}/note.txt`, content: "sell milk" }],
    ),
  });
  expect(JSON.stringify(results[0])).toContain("buy milk");
  expect(results[1]).toMatchObject({ ok: false, error: { type: "tool_failed" } });
});

test("structured content is the result, an error of a tool its failure; questions and samples are declined", async () => {
  const { results } = await createMcpWorld().play({
    servers: { own },
    model: calling(["own__add", { a: 1, b: 2 }], ["own__fail"], ["own__elicit"], ["own__sample"]),
  });
  expect(results).toMatchObject([
    { ok: true, value: { sum: 3 } },
    { ok: false, error: { type: "tool_failed", error: "no such row" } },
    { ok: true, value: '{"action":"decline"}' },
    { ok: true, value: "Method not found" },
  ]);
});
