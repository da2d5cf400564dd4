import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommandRequest, CommandResult } from "../../src/host/commands.ts";
import type { Host } from "../../src/host/host.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { Scopes } from "../../src/host/scopes/scopes.ts";
import type { ScriptedCommand } from "../../src/testing/memory-commands.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { noWall } from "./command-bench.ts";

/** A host that has the programs `say`, `fail`, `plant` (makes `.env`) and `wait` (makes `begun`, and ends never), and a folder of its own. */
interface CommandFixture {
  readonly host: Host;
  readonly root: string;
  readonly isIsolated: boolean;
  /** Lets time go by, where it does not by itself. */
  pass(milliseconds: number): Promise<void>;
  cleanup(): Promise<void>;
}

const scripts = {
  say: 'printf "%s" "$*"',
  fail: "echo out; echo err >&2; exit 3",
  plant: "echo x > .env; echo x > plain",
  wait: "touch begun; sleep 1000",
};

const scripted: Readonly<Record<string, ScriptedCommand>> = {
  say: (argv) => argv.slice(1).join(" "),
  fail: () => ({ stdout: "out\n", stderr: "err\n", exitCode: 3 }),
  plant: async (_, { scopes, cwd }) => {
    for (const name of [".env", "plain"]) await scopes.write(`${cwd}/${name}`, Buffer.from("x\n"), { expect: undefined });
    return "";
  },
  wait: async (_, { scopes, cwd, signal }) => {
    await scopes.write(`${cwd}/begun`, new Uint8Array(), { expect: undefined });
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve("")));
  },
};

async function createNodeFixture(wall: boolean): Promise<CommandFixture> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "llm-do-conformance-")));
  for (const name of ["in", "tools"]) await mkdir(join(folder, name));
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(folder, "tools", name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, "tools", name), 0o755);
  }
  return {
    host: createNodeHost({ wall, environment: { PATH: `${join(folder, "tools")}:/usr/bin:/bin` } }),
    root: join(folder, "in"),
    isIsolated: wall,
    pass: async () => {},
    cleanup: () => rm(folder, { recursive: true, force: true }),
  };
}

async function createMemoryFixture(isIsolated: boolean): Promise<CommandFixture> {
  const why = { type: "none", why: "a test" } as const;
  const host = memoryHost({
    files: { "/in": { folder: true } },
    commands: scripted,
    ...(isIsolated ? {} : { isolation: why }),
  });
  return { host, root: "/in", isIsolated, pass: (milliseconds) => host.clock.advance(milliseconds), cleanup: async () => {} };
}

const isUnix = process.platform !== "win32";
describe.skipIf(noWall !== "")("commands: node, with a wall", () => describeCommands(() => createNodeFixture(true)));
describe.runIf(isUnix)("commands: node, without", () => describeCommands(() => createNodeFixture(false)));
describe("commands: memory, with a wall", () => describeCommands(() => createMemoryFixture(true)));
describe("commands: memory, without", () => describeCommands(() => createMemoryFixture(false)));

function describeCommands(createFixture: () => Promise<CommandFixture>): void {
  let fixture: CommandFixture;
  let scopes: Scopes;
  beforeEach(async () => {
    fixture = await createFixture();
    scopes = await fixture.host.openScopes([{ name: "s", root: fixture.root, mode: "rw" }]);
  });
  afterEach(async () => {
    await scopes.close();
    await fixture.cleanup();
  });

  function run(argv: readonly string[], more: Partial<CommandRequest> = {}): Promise<CommandResult> {
    return fixture.host.commands.run({
      command: { type: "argv", argv },
      scopes,
      cwd: scopes.resolve("s"),
      network: false,
      timeoutMilliseconds: 20_000,
      maxOutputBytes: 1000,
      isolationRequired: false,
      signal: new AbortController().signal,
      ...more,
    });
  }

  test("results", async () => {
    const usual = {
      dropped: { stdout: 0, stderr: 0 },
      timedOut: false,
      isolated: fixture.isIsolated,
      movedAside: [],
      tooDeep: [],
      tooLarge: [],
    };
    expect(await run(["say", "a b", "*"])).toEqual({ exitCode: 0, stdout: "a b *", stderr: "", ...usual });
    expect(await run(["fail"])).toEqual({ exitCode: 3, stdout: "out\n", stderr: "err\n", ...usual });
    expect(await run(["nothing"])).toMatchObject({ exitCode: 127, stdout: "", stderr: "llm-do: nothing: command not found\n" });
  });

  test("keeps the tail of a short output", async () => {
    expect(await run(["say", "é".repeat(5)], { maxOutputBytes: 5 })).toMatchObject({
      stdout: "éé",
      dropped: { stdout: 6, stderr: 0 },
    });
  });

  test("rejects where isolation is required and missing", async () => {
    expect(await fixture.host.commands.isolation()).toMatchObject({ type: fixture.isIsolated ? "bubblewrap" : "none" });
    const required = run(["say"], { isolationRequired: true });
    if (fixture.isIsolated) await required;
    else await expect(required).rejects.toMatchObject({ name: "NotIsolated" });
  });

  test("which", async () => {
    expect(await fixture.host.commands.which("say")).toMatch(/^\/.*\/say$/);
    expect(await fixture.host.commands.which("nothing")).toBeUndefined();
    expect(await fixture.host.commands.which("toString", scopes)).toBeUndefined();
  });

  test("ends a command at its time limit", async () => {
    const late = run(["wait"], { timeoutMilliseconds: 500 });
    await fixture.pass(500);
    expect(await late).toMatchObject({ exitCode: -1, timedOut: true });
  });

  test("ends a running command when its signal aborts", async () => {
    const controller = new AbortController();
    const aborted = expect(run(["wait"], { signal: controller.signal })).rejects.toThrow("enough");
    while (!(await scopes.canRead("s/begun"))) await setImmediate();
    controller.abort(new Error("enough"));
    await aborted;
    await expect(run(["say"], { signal: controller.signal })).rejects.toThrow("enough");
  });

  test("rejects malformed requests", async () => {
    for (const argv of [[], [""], ["say", "\0"]]) await expect(run(argv)).rejects.toThrow(TypeError);
    await expect(run(["say"], { environment: { PATH: "/" } })).rejects.toThrow(TypeError);
    await expect(run(["say"], { cwd: scopes.resolve("s/nowhere") })).rejects.toMatchObject({ type: "not_found" });
  });

  test("protected names", async () => {
    expect((await run(["plant"])).movedAside).toEqual(["s/.env"]);
    expect((await scopes.list("s", { pattern: "**", maxEntries: 9 })).paths).toEqual([
      expect.stringMatching(/^s\/env\.moved-aside-[0-9a-f]+$/),
      "s/plain",
    ]);
  });

  test("keeps approved protected names", async () => {
    expect((await run(["plant"], { unprotected: [".ENV"] })).movedAside).toEqual([]);
  });
}
