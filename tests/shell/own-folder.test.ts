import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { judgeCalls } from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { noWall } from "../host/command-bench.ts";
import { attack, World, worker } from "../security/world.ts";

const allow = (...patterns: string[]) =>
  `shell: { rules: [${patterns.map((pattern) => `{ pattern: ${pattern}, approval_required: false }`).join(", ")}] }`;
const main = worker(`description: m\nsandbox: { paths: {} }\ntoolsets: { ${allow("touch", "ls", "mkdir")}, helper: {} }`);
const helper = worker(`description: h\nsandbox: { paths: {} }\ntoolsets: { ${allow("ls")} }`);

/** A program whose machine keeps temporary files in a folder of the test. */
function createWorld() {
  const world = new World({ "main.worker": main, "helper.worker": helper });
  mkdirSync(world.at("tmp"));
  vi.stubEnv("TMPDIR", world.at("tmp"));
  return world;
}

afterEach(() => {
  vi.unstubAllEnvs();
});

const shell = (command: string) => ({ tool: "shell", args: { command } });

describe.each([
  ["behind the wall", true],
  ["without a wall", false],
])("a shell of a worker without scopes, %s", (_, wall) => {
  test.skipIf(wall && noWall !== "")("runs in an empty folder for each call, which is gone after it", async () => {
    const world = createWorld();
    const folders: number[] = [];
    const { events, error } = await attack(world, {
      model: ({ worker: name, turn }) => {
        if (name === "helper") return turn === 1 ? { calls: [shell("ls -A")] } : "done";
        folders.push(readdirSync(world.at("tmp")).length);
        if (turn === 1) return { calls: [shell("ls -A"), shell("touch made"), shell("mkdir -m 000 closed")] };
        return turn === 2 ? { calls: [{ tool: "helper", args: { input: "x" } }, shell("ls -A")] } : "done";
      },
      request: { host: createNodeHost({ wall, environment: { PATH: process.env["PATH"] } }) },
    });
    expect(error).toBeUndefined();
    const results = events.flatMap((one) => (one.type === "tool-result" && one.tool === "shell" ? [one] : []));
    const printed = (path: string) =>
      results.flatMap(({ callPath, result }) =>
        callPath.includes("helper") === (path === "helper") && result.ok ? [(result.value as { stdout: string }).stdout] : [],
      );
    expect(printed("main")).toEqual(["", "", "", "closed\nmade\n"]);
    expect(printed("helper")).toEqual([""]);
    expect(folders).toEqual([0, 1, 1]);
    expect(readdirSync(world.at("tmp"))).toEqual([]);
    expect(world.files("program")).toEqual(["helper.worker", "main.worker"]);
  });
});

test("the folder is no scope for file tools", async () => {
  const host = memoryHost();
  const scopes = await host.openScopes([]);
  const own = await scopes.forCommands();
  await own.write("a.txt", new TextEncoder().encode("x"), { expect: undefined });
  expect(await scopes.forCommands()).toBe(own);
  expect([scopes.readable(), scopes.writable(), scopes.declarations]).toEqual([[], [], []]);
  await expect(scopes.read("a.txt")).rejects.toMatchObject({ type: "path_outside_scope" });
  expect(Object.keys(host.snapshot("/tmp"))).toEqual([expect.stringMatching(/^\/tmp\/llm-do-commands-\w+\/a\.txt$/)]);
  await scopes.close();
  expect(host.snapshot("/tmp")).toEqual({});
});

test("scopes that are declared are those of commands", async () => {
  const scopes = await memoryHost().openScopes([{ name: ".", root: "/work", mode: "ro" }]);
  expect(await scopes.forCommands()).toBe(scopes);
});

test("a verdict makes no folder", async () => {
  const world = createWorld();
  const host = createNodeHost({ environment: {}, wall: false });
  const calls = await judgeCalls({ target: world.at("program"), host, trust: true, model: "anthropic:m", unisolated: true });
  expect(await calls.judge(shell("touch made"))).toMatchObject({ type: "ask" });
  expect(await calls.judge(shell("cat made"))).toMatchObject({ type: "blocked" });
  await calls.close();
  expect(readdirSync(world.at("tmp"))).toEqual([]);
});

test("the folder of a killed process is removed by the next one that makes one", async () => {
  const world = createWorld();
  const code = `import { createNodeHost } from ${JSON.stringify(join(import.meta.dirname, "../../src/host/node-host.ts"))};
const scopes = await createNodeHost().openScopes([]);
console.log((await scopes.forCommands()).declarations[0].root);
setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const open = async () => {
    const scopes = await createNodeHost().openScopes([]);
    await scopes.forCommands();
    return scopes;
  };
  const whileAlive = await open();
  expect(existsSync(line)).toBe(true);
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  const afterwards = await open();
  expect(existsSync(line)).toBe(false);
  expect(readdirSync(world.at("tmp"))).toHaveLength(2);
  await Promise.all([whileAlive.close(), afterwards.close()]);
  expect(readdirSync(world.at("tmp"))).toEqual([]);
});
