import { type ChildProcess, execFileSync, fork } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { ScopeError, type Scopes } from "../../src/host/scopes/scopes.ts";
import { until } from "./command-bench.ts";
import { createRandom, seed, withSeed } from "./seeded.ts";

const isLinux = process.platform === "linux";
const bytes = (text: string) => new TextEncoder().encode(text);
const canary = "canary: this lies outside";
let root: string;
let scopes: Scopes;
const children: ChildProcess[] = [];

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-attack-")));
  mkdirSync(join(root, "in/folder"), { recursive: true });
  mkdirSync(join(root, "outside"));
  writeFileSync(join(root, "in/folder/file"), "inside");
  writeFileSync(join(root, "outside/file"), canary);
  scopes = await createNodeHost().openScopes([{ name: "s", root: join(root, "in"), mode: "rw" }]);
});

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await scopes.close();
  rmSync(root, { recursive: true, force: true });
});

async function start(script: string, ...args: string[]): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "fixtures", script), [...args, seed], { execArgv: [], silent: true });
  children.push(child);
  await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error(`${script} did not start`)));
  });
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

function temporariesIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.endsWith(".tmp"));
}

async function attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error;
    expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain(root);
    return undefined;
  }
}

describe.runIf(isLinux)("scopes under an attacker that swaps a folder for a link", () => {
  test("keep reads, lists and looks inside", { timeout: 60_000 }, async () => {
    await start("swap.js", join(root, "in/folder"), join(root, "outside"));
    let read = 0;
    for (let n = 0; n < 2000; n++) {
      const file = await attempt(() => scopes.read("s/folder/file"));
      if (file !== undefined) {
        expect(new TextDecoder().decode(file.bytes), withSeed).toBe("inside");
        read++;
      }
      if (n % 20 === 0) {
        const listed = await attempt(() => scopes.list("s", { pattern: "**/*", maxEntries: 9 }));
        for (const path of listed?.paths ?? []) expect(path, withSeed).toMatch(/^s\/folder(\.spare)?\/file$/);
      }
    }
    expect(read, withSeed).toBeGreaterThan(0);
  });

  test("keep writes inside", { timeout: 120_000 }, async () => {
    await start("swap.js", join(root, "in/folder"), join(root, "outside"));
    let written = 0;
    for (let n = 0; n < 2000; n++) {
      const path = n % 2 === 0 ? `s/folder/new-${n}` : `s/folder/deep-${n}/new`;
      if ((await attempt(() => scopes.write(path, bytes("written"), { expect: undefined }))) !== undefined) written++;
    }
    expect(written, withSeed).toBeGreaterThan(0);
    expect(readdirSync(join(root, "outside")), withSeed).toEqual(["file"]);
    expect(readFileSync(join(root, "outside/file"), "utf8")).toBe(canary);
  });

  test("keep access inside where the file itself becomes a link", { timeout: 60_000 }, async () => {
    await start("swap-file.js", join(root, "in/folder/file"), join(root, "outside/file"));
    for (let n = 0; n < 1000; n++) {
      const file = await attempt(() => scopes.read("s/folder/file"));
      if (file !== undefined) expect(new TextDecoder().decode(file.bytes)).not.toContain("canary");
      const found = await attempt(() => scopes.facts("s/folder/file"));
      await attempt(() => scopes.write("s/folder/file", bytes("written"), { expect: found?.identity }));
    }
    expect(readFileSync(join(root, "outside/file"), "utf8")).toBe(canary);
  });
});

describe.runIf(isLinux)("a folder that is moved away", () => {
  test("rejects access, also to the folder that took its place", async () => {
    execFileSync("mv", [join(root, "in"), join(root, "moved")]);
    const nothing = { type: "changed" };
    for (const replace of [() => undefined, () => symlinkSync(join(root, "outside"), join(root, "in"))]) {
      replace();
      await expect(scopes.read("s/file")).rejects.toMatchObject(nothing);
      await expect(scopes.list("s", { pattern: "**", maxEntries: 9 })).rejects.toMatchObject(nothing);
      await expect(scopes.inspect("s/new", "write")).rejects.toMatchObject(nothing);
      await expect(scopes.write("s/new", bytes("x"), { expect: undefined })).rejects.toMatchObject(nothing);
      await expect(scopes.append("s/new", bytes("x"))).rejects.toMatchObject(nothing);
    }
    expect(readdirSync(join(root, "moved"))).toEqual(["folder"]);
    expect(readdirSync(join(root, "outside"))).toEqual(["file"]);
  });
});

describe.skipIf(process.platform === "win32")("entries that are not files", () => {
  test("rejects a pipe without a writer, a socket and devices at once", async () => {
    execFileSync("mkfifo", [join(root, "in/pipe")]);
    const server = createServer().listen(join(root, "in/socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    try {
      for (const name of ["pipe", "socket"]) await expectNoFile(scopes, `s/${name}`);
      const devices = await createNodeHost().openScopes([{ name: "dev", root: "/dev", mode: "rw" }]);
      for (const name of ["zero", "null", "tty", "full"]) await expectNoFile(devices, `dev/${name}`);
      await devices.close();
    } finally {
      server.close();
    }
  });

  async function expectNoFile(where: Scopes, path: string): Promise<void> {
    const started = performance.now();
    await expect(where.read(path)).rejects.toMatchObject({ type: "not_a_file" });
    await expect(where.write(path, bytes("x"), { expect: undefined })).rejects.toMatchObject({ type: "not_a_file" });
    expect(performance.now() - started).toBeLessThan(20_000);
  }
});

describe("hard links", () => {
  test("replaces the written name and keeps the other one", async () => {
    linkSync(join(root, "outside/file"), join(root, "in/hard"));
    const { identity } = await scopes.facts("s/hard");
    await scopes.write("s/hard", bytes("mine"), { expect: identity });
    expect(readFileSync(join(root, "outside/file"), "utf8")).toBe(canary);
    expect(readFileSync(join(root, "in/hard"), "utf8")).toBe("mine");
  });
});

describe.runIf(isLinux)("descriptors", () => {
  test("closes all descriptors after failures", async () => {
    symlinkSync(join(root, "outside"), join(root, "in/link"));
    const before = readdirSync("/proc/self/fd").length;
    const own = await createNodeHost().openScopes([{ name: "s", root: join(root, "in"), mode: "rw", maxFileBytes: 5 }]);
    for (const path of ["s/folder/file", "s/folder", "s/link/file", "s/folder/file/x", "s/no/where", "s/new/deep/file"]) {
      await attempt(() => own.read(path));
      await attempt(() => own.facts(path));
      await attempt(() => own.inspect(path, "write"));
      await attempt(() => own.write(path, bytes("x"), { expect: "wrong" }));
      await attempt(() => own.write(path, bytes("x"), { expect: undefined }));
      await attempt(() => own.write(path, bytes("too long"), { expect: undefined }));
      await attempt(() => own.list(path, { pattern: "**/*", maxEntries: 1 }));
    }
    await own.list("s", { pattern: "**/*", maxEntries: 9, signal: AbortSignal.abort() }).catch(() => undefined);
    await own.close();
    await own.close();
    await expect(own.read("s/folder/file")).rejects.toMatchObject({ type: "io_error" });
    expect(readdirSync("/proc/self/fd").length).toBe(before);
  });

  test("waits for running operations before it closes", async () => {
    const own = await createNodeHost().openScopes([{ name: "s", root: join(root, "in"), mode: "rw" }]);
    const working = Array.from({ length: 50 }, (_, n) =>
      attempt(() => own.write(`s/many/${n}/x`, bytes("x"), { expect: undefined })),
    );
    const closing = own.close();
    await Promise.all([...working, closing]);
    expect(readdirSync(join(root, "outside"))).toEqual(["file"]);
  });
});

describe("killed while writing", () => {
  const runs = Number(process.env["LLM_DO_KILL_RUNS"] ?? 20);

  test(`${runs} times: never a torn file, and nothing left once the scope was opened again`, {
    timeout: 5000 + runs * 2000,
  }, async () => {
    const target = join(root, "in/file");
    const whole = (letter: string) => letter.repeat(300_000);
    writeFileSync(target, whole("a"));
    const random = createRandom("kills");
    let torn = 0;
    for (let run = 0; run < runs; run++) {
      const child = await start("write-forever.js", join(root, "in"));
      await until(() => temporariesIn(join(root, "in")).some((name) => name.includes(`-${child.pid}-`)));
      await new Promise((resolve) => setTimeout(resolve, random() * 25));
      await kill(child);
      const content = readFileSync(target, "utf8");
      expect(content === whole("a") || content === whole("b"), `kill ${run} ${withSeed}`).toBe(true);
      if (temporariesIn(join(root, "in")).length > 0) torn++;
    }
    // Otherwise nothing was tried.
    expect(torn, withSeed).toBeGreaterThan(0);
    const next = await createNodeHost().openScopes([{ name: "s", root: join(root, "in"), mode: "rw" }]);
    await next.close();
    expect(readdirSync(join(root, "in")).sort()).toEqual(["file", "folder"]);
    expect(readdirSync(join(root, "in/folder"))).toEqual(["file"]);
  });
});

describe("temporaries of killed processes", () => {
  test("removes them at any depth when a scope is opened, but keeps those of living processes, in read-only scopes and behind links", {
    timeout: 60_000,
  }, async () => {
    const folders = ["in/a/b", "out/b", "ro/b", "outside"].map((name) => join(root, name));
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "file"), "x");
    }
    symlinkSync(join(root, "outside"), join(root, "in/link"));
    for (const folder of folders) await leaveTemporary(folder);
    const living = await leaveTemporary(folders[1] as string, { lives: true });
    const roots = { in: "rw", out: "rw", ro: "ro" } as const;
    const declared = Object.entries(roots).map(([name, mode]) => ({ name, mode, root: join(root, name) }));
    await (await createNodeHost().openScopes(declared)).close();
    expect(folders.map((folder) => temporariesIn(folder).length)).toEqual([0, 1, 1, 1]);
    expect(temporariesIn(folders[1] as string)[0]).toContain(`-${living.pid}-`);
  });

  /** Stops a process in the middle of a write, and kills it there unless it is to live. */
  async function leaveTemporary(folder: string, { lives = false } = {}): Promise<ChildProcess> {
    const child = await start("write-forever.js", folder);
    const random = createRandom(folder.slice(root.length));
    const isWriting = () => temporariesIn(folder).some((name) => name.includes(`-${child.pid}-`));
    for (;;) {
      child.kill("SIGSTOP");
      await until(() => /^T/.test(execFileSync("ps", ["-o", "stat=", "-p", String(child.pid)], { encoding: "utf8" })));
      if (isWriting()) break;
      child.kill("SIGCONT");
      await new Promise((resolve) => setTimeout(resolve, random() * 15));
    }
    if (!lives) await kill(child);
    return child;
  }
});

describe.runIf(isLinux)("a disk that refuses", () => {
  const isRoot = process.getuid?.() === 0;

  test.skipIf(isRoot)("a folder without permission", async () => {
    execFileSync("chmod", ["555", join(root, "in/folder")]);
    await expect(scopes.write("s/folder/x", bytes("x"), { expect: undefined })).rejects.toMatchObject({ type: "io_error" });
    execFileSync("chmod", ["755", join(root, "in/folder")]);
  });

  test("does not replace a read-only file", async () => {
    execFileSync("chmod", ["444", join(root, "in/folder/file")]);
    const { identity } = await scopes.facts("s/folder/file");
    await expect(scopes.write("s/folder/file", bytes("x"), { expect: identity })).rejects.toMatchObject({ type: "io_error" });
    expect(readFileSync(join(root, "in/folder/file"), "utf8")).toBe("inside");
  });

  test("keeps the old file and no temporary on a full disk", async (context) => {
    const disk = join(root, "disk");
    mkdirSync(disk);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], { stdio: "ignore" });
    } catch {
      return context.skip("no small disk can be mounted here");
    }
    const small = await createNodeHost().openScopes([{ name: "disk", root: disk, mode: "rw" }]);
    try {
      const { identity } = await small.write("disk/file", bytes("old"), { expect: undefined });
      const error = await small
        .write("disk/file", new Uint8Array(200_000), { expect: identity })
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ type: "io_error", details: { code: "ENOSPC" } });
      expect(readdirSync(disk)).toEqual(["file"]);
      expect(readFileSync(join(disk, "file"), "utf8")).toBe("old");
    } finally {
      await small.close();
      execFileSync("umount", [disk]);
    }
  });
});
