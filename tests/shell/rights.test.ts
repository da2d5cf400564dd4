import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { ScopeDeclaration, Scopes } from "../../src/host/scopes/scopes.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { createShellToolset } from "../../src/toolsets/shell/shell.ts";
import type { PreparedToolsetCall, WorkerRuntime } from "../../src/toolsets/toolset.ts";
import { noWall, testPath } from "../host/command-bench.ts";
import { Machine } from "./machine.ts";

const machines: { readonly machine: Machine; readonly scopes: Scopes }[] = [];
afterEach(async () => {
  for (const { machine, scopes } of machines.splice(0)) {
    await scopes.close();
    machine.remove();
  }
});

type Declared = Partial<ScopeDeclaration> & { readonly name: string };

/** Runs a line through the toolset's own door, every question approved, on the real disk. */
async function open(declared: readonly Declared[] = [], networkEnabled = false) {
  const machine = new Machine();
  machine.put("package.json", "{}");
  machine.put("out/old", "old");
  machine.put("secret/key", "canary");
  machine.put("docs/a.md", "text");
  const { commands, openScopes } = createNodeHost({ environment: { PATH: testPath } });
  const full = [{ name: "." }, ...declared].map(
    (one): ScopeDeclaration => ({ root: join(machine.root, one.name), mode: "rw", ...one }),
  );
  const scopes = await openScopes(full);
  machines.push({ machine, scopes });
  const toolset = createShellToolset({ commands });
  const config = { rules: [], default: { approval_required: true } };
  const seen = { worker: "w", readable: scopes.readable(), writable: scopes.writable(), networkEnabled };
  const [tool] = toolset.tools(config, seen);
  if (tool === undefined) throw new Error("no tool");
  const { signal } = new AbortController();
  const prepare = async (args: JsonObject): Promise<PreparedToolsetCall<typeof config>> => {
    const call = { tool: "shell", args, config };
    const access = { scopes, signal, caller: { name: "w", depth: 0, maxDepth: 1 }, networkEnabled };
    const preparation = await toolset.prepare?.(call, access);
    if (preparation === undefined) throw new Error("no preparation");
    return { ...call, preparation };
  };
  const run = async (command: string, effects: JsonObject = {}) => {
    const { preparation } = await prepare({ command, ...effects });
    const runtime = { scopes, signal } as unknown as WorkerRuntime;
    return (await tool.execute(preparation.canonicalArgs, runtime, preparation.payload)) as JsonObject;
  };
  const at = (path: string) => join(machine.root, path);
  return { toolset, prepare, run, at, read: (path: string) => readFileSync(at(path), "utf8") };
}

describe.skipIf(noWall !== "")("a call of the shell", () => {
  test("looks, where it asks for no effect", async () => {
    const { run, prepare, at } = await open();
    expect(await run("cat out/old; touch out/new")).toMatchObject({ writes: [], stdout: "old", exit_code: 1 });
    expect(existsSync(at("out/new"))).toBe(false);
    expect((await prepare({ command: "ls" })).preparation.sideEffect).toBe(false);
    expect((await prepare({ command: "ls", writes: ["out"] })).preparation.sideEffect).toBeUndefined();
  });

  test("says how to ask for the right that it missed", async () => {
    const { run } = await open();
    const hint = String((await run("touch out/new")).hint);
    expect(hint).toContain("This call could write nowhere but in /tmp; ask for");
    expect(String((await run("echo x > package.json", { writes: ["."] })).hint)).toContain("without their protected names");
  });

  test("writes where it asked to, and opens what it named", async () => {
    const { run, read } = await open();
    expect(await run("echo x > out/new; echo y > package.json", { writes: ["out"] })).toMatchObject({ writes: ["."] });
    expect(read("out/new")).toBe("x\n");
    expect(read("package.json")).toBe("{}");
    const opened = { writes: ["."], opens: ["package.json"] };
    expect(await run("echo y > package.json", opened)).toMatchObject(opened);
    expect(read("package.json")).toBe("y\n");
  });

  test("asks for the folder that a redirection writes in", async () => {
    const { run, read, prepare } = await open();
    expect(await run("echo x > out/log")).toMatchObject({ writes: ["out"], exit_code: 0 });
    expect(read("out/log")).toBe("x\n");
    const effects = async (command: string) => (await prepare({ command })).preparation.canonicalArgs["writes"];
    expect(await effects("cd out && echo x >> log")).toEqual(["out"]);
    expect(await effects("echo x > /tmp/a; echo x 2>/dev/null; echo x > .git/config")).toBeUndefined();
  });

  test("sees a scope that asks only where it names it", async () => {
    const secret = { name: "secret", readApproval: true };
    const { run, prepare } = await open([secret, { name: "docs", suffixes: [".md"] }]);
    expect(await run("grep -r canary . ; ls d*")).toMatchObject({ stdout: "" });
    expect(await run("cat secret/key")).toMatchObject({ stdout: "canary", reads: ["secret"] });
    expect(await run("grep -rho canary .", { reads: ["secret"] })).toMatchObject({ stdout: "canary\n" });
    const named = await prepare({ command: "cat", cwd: "docs" });
    expect(named.preparation.canonicalArgs["reads"]).toEqual(["docs"]);
  });

  test("shows the effects in the first line of its question, and in canonical form", async () => {
    const { prepare, toolset } = await open([{ name: "secret", readApproval: true }], true);
    const effects = {
      writes: ["./out/", "docs//new", "out/sub"],
      opens: ["package.json", ".git"],
      reads: ["secret"],
      network: true,
    };
    const call = await prepare({ command: "make", ...effects });
    expect(call.preparation.canonicalArgs).toEqual({
      command: "make",
      timeout: 30,
      cwd: ".",
      writes: ["docs/new", "out"],
      opens: [".git", "package.json"],
      reads: ["secret"],
      network: true,
    });
    const shown = "may write in docs/new, out, and .git, package.json; may read secret; with network";
    expect(toolset.describeCall?.(call)).toBe(`Run (${shown}): make`);
    expect((await prepare(call.preparation.canonicalArgs)).preparation.canonicalArgs).toEqual(call.preparation.canonicalArgs);
  });

  test.each<[string, JsonObject, string]>([
    ["no scope", { writes: ["../x"] }, "cannot hold"],
    ["a scope that is read-only", { writes: ["ro"] }, "`ro` is read-only"],
    ["a folder in one", { writes: ["ro/x"] }, "`ro/x` is read-only"],
    ["a file", { writes: ["out/old"] }, "is a file"],
    ["a protected name", { writes: [".git"] }, "`.git` is a protected name"],
    ["a name that is not protected", { writes: ["."], opens: ["src"] }, "`src` is not a protected name"],
    ["a name that hides", { writes: ["."], opens: [".env"] }, "`.env` is never opened"],
    ["a name without a folder", { opens: [".git"] }, "`opens` needs `writes`"],
    ["a scope that is none", { reads: ["nowhere"] }, "names no scope"],
    ["a network that the worker has not", { network: true }, "has no network"],
  ])("refuses %s, and says what could be asked for", async (_, effects, why) => {
    const { prepare } = await open([{ name: "ro", mode: "ro", root: "/usr/share" }]);
    await expect(prepare({ command: "ls", ...effects })).rejects.toMatchObject({
      toolError: { error: expect.stringContaining(why) },
    });
  });

  test("gets the network where it asks for it, and it alone", async () => {
    const { run } = await open([], true);
    const interfaces = "cat /proc/net/dev | grep -c :";
    expect((await run(interfaces)).stdout).toBe("1\n");
    const own = execFileSync("bash", ["-c", interfaces], { encoding: "utf8" });
    expect((await run(interfaces, { network: true })).stdout).toBe(own);
  });
});
