import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { ToolResult } from "../../src/protocol/message.ts";
import { calling, compileUntrusted, createMcpWorld, own } from "./play-mcp.ts";

const hasWall = (await createNodeHost().commands.isolation()).type !== "none";

/** A port that somebody listens on. */
async function listen(): Promise<number> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const valuesOf = (results: readonly ToolResult[]) => results.map((result) => (result.ok ? result.value : result.error.error));

test.runIf(hasWall)("a server writes nothing outside its temporary home, and has no network and no secrets", async () => {
  const world = createMcpWorld();
  world.environment["CANARY_TOKEN"] = "canary-of-the-user";
  world.environment["GIVEN_TOKEN"] = "given-to-the-server";
  const outside = join(tmpdir(), `llm-do-mcp-canary-${process.pid}`);
  const port = await listen();
  const { results } = await world.play({
    servers: { own: { ...own, env: { TOKEN: "${GIVEN_TOKEN}" } } },
    model: calling(
      ["own__write", { path: "server.mjs" }],
      ["own__write", { path: "new.txt" }],
      ["own__write", { path: outside }],
      ["own__connect", { port }],
      ["own__env"],
    ),
  });
  const [program, added, temporary, connected, environment] = valuesOf(results);
  expect([program, added]).toEqual(["EROFS", "EROFS"]);
  expect(temporary).toBe("done");
  expect(existsSync(outside)).toBe(false);
  expect(readFileSync(join(world.folder, "server.mjs"), "utf8")).not.toBe("written");
  expect(connected).not.toBe("connected");
  const variables = JSON.parse(String(environment));
  expect(variables).not.toHaveProperty("CANARY_TOKEN");
  expect(variables.HOME).not.toBe(process.env["HOME"]);
  // The value is a secret of the run: what reaches listeners has a token in its place.
  expect(variables.TOKEN).toContain("GIVEN_TOKEN");
});

test.runIf(hasWall)(
  "a server reads its program, and no repository, key or token in it or in folders that it reads beside",
  async () => {
    const world = createMcpWorld();
    const secrets = [
      ".git/config",
      "sub/.git/modules/a/config",
      ".env",
      ".npmrc",
      "sub/.npmrc",
      ".config/gh/hosts.yml",
      ".ssh/id_rsa",
    ];
    world.put("tools.json", '[{ "name": "read" }]');
    const files = [...secrets, "notes.txt", ".gitignore"];
    for (const path of files) for (const base of ["", "../beside/"]) world.put(`${base}${path}`, `content of ${path}`);
    const read = (base: string) => files.map((path) => ["own__read", { path: `${base}${path}` }] as const);
    const servers = { own: { ...own, reads: ["../beside"] } };
    const { results } = await world.play({ servers, model: calling(...read(""), ...read("../beside/")) });
    const shown = valuesOf(results).map((value) => /^content of (.*)$/.exec(String(value))?.[1]);
    const seen = [...secrets.map(() => undefined), "notes.txt", ".gitignore"];
    expect(shown).toEqual([...seen, ...seen]);
  },
);

test.runIf(hasWall)("a server reads a repository that its entry names", async () => {
  const world = createMcpWorld();
  world.put("tools.json", '[{ "name": "read" }]');
  world.put(".git/config", "[remote]");
  const { results } = await world.play({
    servers: { own: { ...own, reads: [".git"] } },
    model: calling(["own__read", { path: ".git/config" }]),
  });
  expect(valuesOf(results)).toEqual(["[remote]"]);
});

test.runIf(hasWall)("a server has the network if its entry says so", async () => {
  const port = await listen();
  const { results } = await createMcpWorld().play({
    servers: { own: { ...own, network: true } },
    model: calling(["own__connect", { port }]),
  });
  expect(valuesOf(results)).toEqual(["connected"]);
});

test("a server that is not isolated has the user's rights", async () => {
  const world = createMcpWorld();
  const { results } = await world.play({
    servers: { own: { ...own, isolated: false } },
    model: calling(["own__write", { path: "new.txt" }]),
  });
  expect(valuesOf(results)).toEqual(["done"]);
  expect(existsSync(join(world.folder, "new.txt"))).toBe(true);
});

test.each<[string, object, string[]]>([
  ["a server that is not isolated", { ...own, isolated: false }, ["toolset-config"]],
  ["an isolated server", own, []],
  ["a server at an address", { url: "https://example.org/mcp" }, []],
])("a worker with `sandbox.required` and %s", async (_, server, codes) => {
  const world = createMcpWorld();
  world.put("llm-do.yaml", JSON.stringify({ mcp_servers: { one: server } }));
  world.put("main.worker", "---\nsandbox: { required: true }\ntoolsets: { mcp: { servers: [one] } }\n---\nDo it.\n");
  const { diagnostics } = await compileUntrusted(world);
  expect(diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code)).toEqual(codes);
});

test("without a wall, a server is not started unless its entry says that it is not isolated", async () => {
  const world = createMcpWorld();
  const host = createNodeHost({ environment: world.environment, wall: false });
  const model = calling(["own__add", { a: 1, b: 1 }]);
  const refused = await world.play({ servers: { own }, model, request: { host } });
  expect(refused.error).toMatchObject({ code: "failed", message: expect.stringContaining("isolation is turned off") });
  const bare = await world.play({ servers: { own: { ...own, isolated: false } }, model, request: { host } });
  expect(valuesOf(bare.results)).toEqual([{ sum: 2 }]);
});

test.runIf(hasWall).each<[string, string, object]>([
  ["folder of packages", "node_modules", { command: "node", args: ["node_modules/srv/main.mjs"] }],
  ["package", "node_modules/srv", { command: "node", args: ["node_modules/srv/main.mjs"] }],
])("a %s that is a link out of the folder is named with what to write", async (_, link, server) => {
  const world = createMcpWorld();
  const target = join(world.folder, "../elsewhere", link);
  world.put(
    join("../elsewhere", link, link === "node_modules" ? "srv/main.mjs" : "main.mjs"),
    readFileSync(join(world.folder, "server.mjs"), "utf8"),
  );
  mkdirSync(join(world.folder, link, ".."), { recursive: true });
  symlinkSync(target, join(world.folder, link));
  const { error } = await world.play({ servers: { own: server }, model: calling() });
  const [, folder = ""] = /which the server cannot see: write `reads: \[(.*)\]` into its entry/.exec(String(error)) ?? [];
  expect(folder).not.toBe("");
  const { output } = await world.play({ servers: { own: { ...server, reads: [folder] } }, model: calling() });
  expect(output?.output).toBe("done");
});

test.runIf(hasWall)("a folder that a server is given and cannot see is named with what to write", async () => {
  const world = createMcpWorld();
  world.put("../elsewhere/data/list.txt", "a");
  world.put(
    "picky.mjs",
    `import { existsSync } from "node:fs";
if (!existsSync(process.argv[2])) { console.error(\`there is no \${process.argv[2]}\`); process.exit(2); }
await import("./server.mjs");
`,
  );
  const server = { command: "node", args: ["picky.mjs", "../elsewhere/data"] };
  const { error } = await world.play({ servers: { own: server }, model: calling() });
  expect(String(error)).toContain("there is no ../elsewhere/data");
  expect(String(error)).toContain(
    "`../elsewhere/data` is outside of what the server can see: write `reads: [../elsewhere/data]` into its entry",
  );
  const { output } = await world.play({ servers: { own: { ...server, reads: ["../elsewhere/data"] } }, model: calling() });
  expect(output?.output).toBe("done");
});
