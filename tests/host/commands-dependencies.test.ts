import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { noWall, useCommands } from "./command-bench.ts";

const hasLayers = noWall === "" && (await createNodeHost().commands.layers?.()) === true;

/** Folders of dependencies are layers where a command may not write in them. */
describe.skipIf(!hasLayers)("folders of dependencies", () => {
  const bench = useCommands({});
  const run = (script: string, writes: readonly string[] = [], cwd = "s") =>
    bench.bash(script, { cwd, rights: { writes: writes.map((path) => bench.scopes.resolve(path)), reads: [] } });

  test("let a look write in them, and keep nothing", async () => {
    bench.put("in/node_modules/dep/index.js", "one\n");
    bench.put("in/part/.venv/lib/x.py", "x\n");
    const script =
      "mkdir node_modules/.vite && echo two > node_modules/dep/index.js; cat node_modules/dep/index.js; echo y > part/.venv/lib/x.py; rm -r node_modules/dep; ls node_modules -A; echo x > a";
    const ran = await run(script);
    expect(ran.stdout).toBe("two\n.vite\n");
    expect(ran.thrownAway).toBeUndefined();
    expect(ran.stderr).toContain("Read-only file system");
    expect(bench.read("in/node_modules/dep/index.js")).toBe("one\n");
    expect(readdirSync(bench.at("in/node_modules"))).toEqual(["dep"]);
    expect(bench.read("in/part/.venv/lib/x.py")).toBe("x\n");
    expect((await run("cat dep/index.js; echo 3 > new; ls", [], "s/node_modules")).stdout).toBe("one\ndep\nnew\n");
  });

  test("are written where the call says so, and layers beside that", async () => {
    bench.put("in/node_modules/a", "a\n");
    bench.put("in/part/node_modules/b", "b\n");
    await run("echo x > node_modules/a; echo x > part/node_modules/b; echo x > part/c", ["s/part"]);
    expect(bench.read("in/node_modules/a")).toBe("a\n");
    expect(bench.read("in/part/node_modules/b")).toBe("x\n");
    expect(bench.read("in/part/c")).toBe("x\n");
    execFileSync("mkdir", [bench.at("in/node_modules/.cache")]);
    execFileSync("mkfifo", [bench.at("in/node_modules/.cache/pipe")]);
    const inside = "echo x > node_modules/.cache/d; echo x > node_modules/a; [ -p node_modules/.cache/pipe ] || echo hidden";
    expect((await run(inside, ["s/node_modules/.cache"])).stdout).toBe("hidden\n");
    expect(bench.read("in/node_modules/.cache/d")).toBe("x\n");
    expect(bench.read("in/node_modules/a")).toBe("a\n");
  });

  test("hold nested scopes as they are, and show nothing outside", async () => {
    bench.put("in/node_modules/own/key", "canary\n");
    bench.put("in/node_modules/shown/a", "a\n");
    execFileSync("ln", ["-s", bench.at("outside"), bench.at("in/venv")]);
    const scopes = await bench.open([
      {},
      { name: "own", root: bench.at("in/node_modules/own"), readApproval: true },
      { name: "shown", root: bench.at("in/node_modules/shown") },
    ]);
    const script =
      "cat node_modules/own/key venv/file; echo x > node_modules/shown/b; echo x > venv/b; mv node_modules/own node_modules/x; cat node_modules/x/key; echo .";
    expect((await bench.bash(script, { scopes, rights: { writes: [], reads: [] } })).stdout).toBe(".\n");
    expect(readdirSync(bench.at("in/node_modules/shown"))).toEqual(["a"]);
    expect(existsSync(bench.at("outside/b"))).toBe(false);
  });

  test("are layers in a folder with odd letters, and where they are many", async () => {
    for (let index = 0; index < 10; index++) bench.put(`in/a b\\#,:'${index}/node_modules/x`, "x\n");
    execFileSync("mkfifo", [bench.at("in/a b\\#,:'9/node_modules/pipe")]);
    const script =
      'for f in */node_modules/x; do echo y > "$f" 2>/dev/null && echo written; done; cat */node_modules/x; [ -p */node_modules/pipe ] && echo pipe';
    const { stdout } = await run(`${script} | head -c 4096`);
    expect(stdout.split("\n").filter((line) => line === "written")).toHaveLength(8);
    for (const name of readdirSync(bench.at("in"))) expect(bench.read(`in/${name}/node_modules/x`)).toBe("x\n");
  });
});
