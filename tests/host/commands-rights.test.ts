import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { CommandRights } from "../../src/host/commands.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { noWall, testPath, useCommands } from "./command-bench.ts";

const looking: CommandRights = { writes: [], reads: [] };

/** Each test looks for the effect of a command that has these rights and no others. */
describe.skipIf(noWall !== "")("the rights of a command", () => {
  const bench = useCommands({});
  const look = (script: string, more: object = {}) => bench.bash(script, { rights: looking, ...more });

  test("let a look read, and change nothing", async () => {
    bench.put("in/sub/a", "text");
    const { stdout } = await look("cat sub/a; touch b; rm sub/a; mkdir c; chmod 600 sub/a; mv sub gone; echo x >> sub/a; echo .");
    expect(stdout).toBe("text.\n");
    expect(readdirSync(bench.at("in"))).toEqual(["sub"]);
    expect(bench.read("in/sub/a")).toBe("text");
  });

  test("give each look an empty folder for temporary files and a home", async () => {
    expect((await look("echo x > /tmp/a; echo x > ~/b; cat /tmp/a ~/b")).stdout).toBe("x\nx\n");
    expect((await look("ls -A /tmp ~ | grep -cE '^(a|b)$'")).stdout).toBe("0\n");
  });

  const lease = `perl -e 'open F, "<", "a"; print fcntl(F, 1024, 0) ? "leased" : "refused"'`;
  const leased = (folder: string) => execFileSync("bash", ["-c", lease], { cwd: folder, stdio: "pipe" }).toString();

  test("let no command take a lease, for which others would wait", async ({ skip }) => {
    bench.put("in/a", "text");
    skip(leased(bench.at("in")) !== "leased", "this file system has no leases");
    expect((await look(lease)).stdout).toBe("refused");
    expect((await bench.bash(lease, { rights: { writes: [bench.scopes.resolve("s")], reads: [] } })).stdout).toBe("refused");
  });

  test("hide what asks before it is read, and scopes of certain suffixes", async () => {
    const hidden = [
      ".env",
      "sub/.env.local",
      ".ssh/id_x",
      "keys/ID_ED25519",
      "sub/.netrc",
      ".aws/credentials",
      "a/.git-credentials",
    ];
    for (const name of ["secret/key", "docs/a.md", "docs/a.txt", ...hidden]) bench.put(`in/${name}`, "canary");
    const scopes = await bench.open([
      {},
      { name: "secret", root: bench.at("in/secret"), readApproval: true },
      { name: "docs", root: bench.at("in/docs"), suffixes: [".md"] },
    ]);
    const script = "grep -rl canary . 2>/dev/null; cat .env sub/.env.local; echo .";
    expect((await look(script, { scopes })).stdout).toBe(".\n");
    const rights = { writes: [], reads: ["docs", "secret"] };
    const { stdout } = await bench.bash("cat secret/key docs/a.md; touch docs/b.md", { scopes, rights });
    expect(stdout).toBe("canarycanary");
    expect(existsSync(bench.at("in/docs/b.md"))).toBe(false);
  });

  test("let no pipe lead out, in folders of dependencies and of git, too", async () => {
    const ends = ["in", "in/node_modules/a", "in/.git/x", "in/ro/node_modules"].map((place) => {
      mkdirSync(bench.at(place), { recursive: true });
      execFileSync("mkfifo", [bench.at(`${place}/pipe`)]);
      return openSync(bench.at(`${place}/pipe`), constants.O_RDWR | constants.O_NONBLOCK);
    });
    const scopes = await bench.open([{}, { name: "ro", root: bench.at("in/ro"), mode: "ro" }]);
    const script = "for f in $(find . -name pipe); do timeout 0.2 sh -c 'echo canary > $0' $f; done 2>/dev/null; echo .";
    for (const writes of [[], [scopes.resolve("s")]]) {
      expect((await bench.bash(script, { scopes, rights: { writes, reads: [] } })).stdout).toBe(".\n");
      for (const end of ends) expect(() => readSync(end, Buffer.alloc(10))).toThrow("EAGAIN");
    }
    for (const end of ends) closeSync(end);
  });

  test("let it write in the named folders alone, and make those that are missing", async () => {
    bench.put("in/out/old/a", "a");
    const rights = { writes: ["s/out/old", "s/made/deep"].map((path) => bench.scopes.resolve(path)), reads: [] };
    await bench.bash("echo x > out/old/b; echo x > made/deep/c; echo x > out/d; echo x > made/e; mv out/old out/gone; touch f", {
      rights,
    });
    expect(readdirSync(bench.at("in")).sort()).toEqual(["made", "out"]);
    expect(readdirSync(bench.at("in/out"))).toEqual(["old"]);
    expect(readdirSync(bench.at("in/out/old"))).toEqual(["a", "b"]);
    expect(readdirSync(bench.at("in/made"))).toEqual(["deep"]);
    expect(readdirSync(bench.at("in/made/deep"))).toEqual(["c"]);
  });

  test("rename what comes into the place of a protected name, also by way of a folder of dependencies", async () => {
    bench.put("in/a/b/package.json", "{}");
    const change = (script: string) => bench.bash(script, { rights: { writes: [bench.scopes.resolve("s")], reads: [] } });
    await change("mv a c; mkdir -p a/b; echo x > a/b/package.json; echo x > c/b/package.json; ln c/b/package.json d");
    expect(bench.read("in/c/b/package.json")).toBe("{}");
    expect(existsSync(bench.at("in/a/b/package.json"))).toBe(false);
    await change("mkdir node_modules; echo x > node_modules/package.json");
    expect((await change("mv node_modules/package.json c/package.json")).movedAside).toEqual(["s/c/package.json"]);
  });

  test("rename pipes with protected names, and leave those that were there", async () => {
    execFileSync("mkfifo", [bench.at("in/.npmrc")]);
    const script = "mkfifo .envrc p; mv p package.json; mkdir a; mkfifo a/.git";
    const { movedAside } = await bench.bash(script, { rights: { writes: [bench.scopes.resolve("s")], reads: [] } });
    expect(movedAside.toSorted()).toEqual(["s/.envrc", "s/a/.git", "s/package.json"]);
    expect(readdirSync(bench.at("in"))).toContain(".npmrc");
    for (const name of [".envrc", "a/.git", "package.json"]) expect(existsSync(bench.at(`in/${name}`))).toBe(false);
  });

  test("are refused among more pipes than can be hidden, and name one", async () => {
    execFileSync("bash", ["-c", `cd '${bench.at("in")}' && mkdir p && mkfifo p/{0..1000}`]);
    await expect(bench.bash("true")).rejects.toThrow(
      /hold 1001 pipes, sockets and devices, such as "s\/p\/\d+": no command starts/,
    );
    execFileSync("rm", ["-r", bench.at("in/p")]);
    expect((await bench.bash("true")).exitCode).toBe(0);
  });

  test("rename protected names also in a folder with such a name, however deep and locked", async () => {
    const rights = { writes: [bench.scopes.resolve("s")], reads: [] };
    const plant = "mkdir -p .vscode/a/.envrc/b; echo x | tee .vscode/a/package.json > .vscode/a/.envrc/b/.npmrc; chmod 0 .vscode";
    const { movedAside } = await bench.bash(plant, { rights });
    expect(movedAside.map((path) => path.replaceAll(/-[0-9a-f]{8}/g, ""))).toEqual([
      "s/.vscode",
      "s/vscode.moved-aside/a/.envrc",
      "s/vscode.moved-aside/a/envrc.moved-aside/b/.npmrc",
      "s/vscode.moved-aside/a/package.json",
    ]);
    await bench.bash("mv vscode.moved-aside-*/a .", { rights });
    expect(existsSync(bench.at("in/a/package.json"))).toBe(false);
  });

  test("keep nested scopes, protected names and links out of a folder that may be written", async () => {
    bench.put("in/out/package.json", "{}");
    bench.put("in/out/inner/a", "a");
    execFileSync("ln", ["-s", "../outside", bench.at("in/link")]);
    const scopes = await bench.open([{}, { name: "inner", root: bench.at("in/out/inner") }]);
    const rights = { writes: [scopes.resolve("s/out")], reads: [] };
    const script =
      "echo x > out/package.json; echo x > out/inner/b; mkdir out/.vscode; echo x > out/.vscode/tasks.json; echo x > out/c";
    const { movedAside } = await bench.bash(script, { scopes, rights });
    expect(movedAside).toEqual(["s/out/.vscode"]);
    expect(bench.read("in/out/package.json")).toBe("{}");
    expect(readdirSync(bench.at("in/out/inner"))).toEqual(["a"]);
    expect(existsSync(bench.at("in/out/c"))).toBe(true);
    for (const path of ["s/link", "s/.git/x", "s/link/x", "inner/../x"]) {
      const writing = async () => bench.bash("true", { scopes, rights: { writes: [scopes.resolve(path)], reads: [] } });
      await expect(writing()).rejects.toMatchObject({ name: "ScopeError" });
    }
    expect(existsSync(bench.at("in/.git"))).toBe(false);
  });

  test("open protected names in the folders that may be written, and nowhere else", async () => {
    for (const place of ["in/a", "in/b"]) bench.put(`${place}/package.json`, "{}");
    const rights = { writes: [bench.scopes.resolve("s/a")], reads: [] };
    await bench.bash("echo 1 > a/package.json; echo 1 > b/package.json", { rights, unprotected: ["package.json"] });
    expect(bench.read("in/a/package.json")).toBe("1\n");
    expect(bench.read("in/b/package.json")).toBe("{}");
  });

  test("report files that are larger than their scope lets file tools write", async () => {
    bench.put("in/old", "x".repeat(20));
    bench.put("in/inner/a", "a");
    const scopes = await bench.open([{ maxFileBytes: 10 }, { name: "inner", root: bench.at("in/inner") }]);
    const rights = { writes: [scopes.resolve("s"), scopes.resolve("inner")], reads: [] };
    const script =
      "head -c 11 /dev/zero > big; head -c 10 /dev/zero > fits; mkdir d; truncate -s 1000000000000 d/sparse; cp big inner";
    expect((await bench.bash(script, { scopes, rights })).tooLarge).toEqual(["s/big", "s/d/sparse"]);
    // What was written within the lag of time stamps before a command counts as its own.
    await setTimeout(50);
    expect((await bench.bash("true", { scopes, rights })).tooLarge).toEqual([]);
  });
});

describe.skipIf(noWall !== "")("folders of programs", () => {
  const bench = useCommands({});

  test("show a look no credentials that lie in them", async () => {
    const tool = bench.at("tools");
    for (const path of ["etc/npmrc", ".npmrc", "lib/data"]) bench.put(`tools/${path}`, "canary\n");
    bench.put("tools/bin/tool", `#!/bin/sh\ncat ${tool}/lib/data ${tool}/etc/npmrc ${tool}/.npmrc\n`);
    chmodSync(bench.at("tools/bin/tool"), 0o755);
    const host = createNodeHost({ environment: { PATH: `${tool}/bin:${testPath}` } });
    const scopes = await host.openScopes([{ name: "s", root: bench.at("in"), mode: "ro" }]);
    const limits = { timeoutMilliseconds: 30_000, maxOutputBytes: 5000, signal: new AbortController().signal };
    const request = {
      command: { type: "argv", argv: ["tool"] },
      scopes,
      cwd: scopes.resolve("s"),
      network: false,
      ...limits,
    } as const;
    const { stdout } = await host.commands.run({ ...request, isolationRequired: true, rights: looking });
    expect(stdout).toBe("canary\n");
    await scopes.close();
  });
});
