import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { CommandRights } from "../../src/host/commands.ts";
import { noWall, useCommands } from "./command-bench.ts";

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

  test("hide what asks before it is read, and scopes of certain suffixes", async () => {
    for (const name of ["secret/key", "docs/a.md", "docs/a.txt", ".env", "sub/.env.local"]) bench.put(`in/${name}`, "canary");
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

  test("hide pipes and sockets, in folders of dependencies and of git, too", async () => {
    const places = ["in", "in/node_modules/a", "in/.git/x", "in/ro/node_modules"];
    for (const place of places) {
      mkdirSync(bench.at(place), { recursive: true });
      execFileSync("mkfifo", [bench.at(`${place}/pipe`)]);
    }
    const scopes = await bench.open([{}, { name: "ro", root: bench.at("in/ro"), mode: "ro" }]);
    const script = "for f in $(find . -name pipe); do [ -p $f ] && echo $f; done; echo .";
    expect((await look(script, { scopes })).stdout).toBe(".\n");
    const rights = { writes: [scopes.resolve("s")], reads: [] };
    expect((await bench.bash(script, { scopes, rights })).stdout).toBe(".\n");
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
});
