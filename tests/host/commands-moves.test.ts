import { execFileSync } from "node:child_process";
import { existsSync, linkSync, readdirSync, renameSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { moveAside } from "../../src/host/command/move-aside.ts";
import { scopeTable } from "../../src/host/scopes/open-scopes.ts";
import { findProtected } from "../../src/host/wall/protected-entries.ts";
import { writableRoots } from "../../src/host/wall/write-places.ts";
import { noWall, until, useCommands } from "./command-bench.ts";

/** What a command does to the folders around hidden and protected files opens these to no later one. */
describe.skipIf(noWall !== "")("folders that a command moves", () => {
  const bench = useCommands({});
  const look = (script: string) => bench.bash(script, { rights: { writes: [], reads: [] } });
  const change = (script: string) => bench.bash(script, { rights: { writes: [bench.scopes.resolve("s")], reads: [] } });

  test.each(["app/.env", "app/.ssh/key", "app/deep/.aws/credentials", "app/id_rsa"])("hides %s where it is", async (path) => {
    bench.put(`in/${path}`, "canary\n");
    bench.put("in/free/a", "a\n");
    const script = "mkdir node_modules; mv app node_modules/; mv app/deep node_modules/; mv app .venv; mv free node_modules/";
    await change(script);
    expect(bench.read("in/node_modules/free/a")).toBe("a\n");
    expect((await look("cat $(find . -type f)")).stdout).toBe("a\n");
    expect(bench.read(`in/${path}`)).toBe("canary\n");
  });

  test.each([1, Infinity])("renames all other names where another process moves a folder meanwhile, %s times", async (times) => {
    const table = await scopeTable(bench.scopes);
    const walked = { table, unprotected: new Set<string>(), places: writableRoots(table) };
    const before = await findProtected(walked);
    for (const folder of ["a0", "b", "c"]) bench.put(`in/${folder}/package.json`, "x");
    let count = 0;
    const moving = moveAside({
      ...walked,
      before,
      randomName: () => "r",
      isOurs: ({ components }) => {
        const [name = ""] = components;
        if (name.startsWith("a") && count < times) renameSync(bench.at(`in/${name}`), bench.at(`in/a${++count}`));
        return false;
      },
    });
    const { movedAside, failure } = await moving;
    const moved = ["s/b/package.json", "s/c/package.json", ...(times === 1 ? ["s/a1/package.json"] : [])];
    expect([movedAside, String(failure).includes("ENOENT")]).toEqual([moved, times !== 1]);
    for (const folder of ["b", "c"]) expect(readdirSync(bench.at(`in/${folder}`))).toEqual(["package.json.moved-aside-r"]);
  });

  test("renames hard links of a protected file that come under another protected name", async () => {
    bench.put("in/.env", "a");
    for (const name of ["e1", "e2"]) linkSync(bench.at("in/.env"), bench.at(`in/${name}`));
    const { movedAside } = await change("mv e1 .curlrc; mkdir sub; mv e2 sub/package.json; mkdir b; mv sub b/");
    expect([...movedAside].sort()).toEqual(["s/.curlrc", "s/b/sub/package.json"]);
  });

  test("lets a folder with a pipe be moved", async () => {
    expect((await change("mkdir a; mkfifo a/pipe")).exitCode).toBe(0);
    expect((await change("mv a b; mkdir node_modules; mv b node_modules")).exitCode).toBe(0);
  });

  test.each(["", "../"])("keeps a git directory closed that a file `.git` leads to by a path with %j", async (relative) => {
    execFileSync("git", ["init", "-q", "--separate-git-dir", bench.at("in/gd"), bench.at("in/wk")]);
    if (relative !== "") bench.put("in/wk/.git", "gitdir: ../gd\n");
    await change("mkdir -p node_modules deep; mv wk node_modules/wk; mv wk deep/wk");
    await change("echo x > gd/hooks/post-checkout; rm gd/HEAD");
    await change("echo x >> gd/config");
    expect(existsSync(bench.at("in/gd/hooks/post-checkout"))).toBe(false);
    expect(bench.read("in/gd/HEAD")).toContain("ref: ");
    expect(bench.read("in/gd/config")).not.toContain("x\n");
  });

  test("keeps files of the program in their places", async () => {
    bench.put("in/lib/deep/x.ts", "ours\n");
    const scopes = await bench.open([{}], { programFiles: [bench.at("in/lib/deep/x.ts")] });
    await bench.bash("mv lib libX; mv lib/deep d; echo evil >> libX/deep/x.ts; echo evil >> d/x.ts", { scopes });
    expect(bench.read("in/lib/deep/x.ts")).toBe("ours\n");
  });

  test("masks the credentials of a repository of any name after a command took parts of it away", async () => {
    execFileSync("git", ["init", "-q", "--bare", bench.at("in/store")]);
    execFileSync("git", ["init", "-q", "--bare", "--template=", bench.at("in/plain")]);
    execFileSync("git", ["-C", bench.at("in/store"), "config", "remote.o.url", "https://u:canary@h/x"]);
    await change("cd store; rm HEAD; rm -r objects refs; mv objects o; mv refs r; cd ..; mv store other; rm -r plain");
    expect((await look("cat store/config store/HEAD")).stdout).toContain("[core]");
    expect((await look("cat store/config")).stdout).not.toContain("canary");
    expect(bench.read("in/store/config")).toContain("canary");
    expect(existsSync(bench.at("in/plain"))).toBe(false);
  });

  test.each([
    ["into a folder of dependencies", "mkdir node_modules; mv prot node_modules/", /^node_modules\.moved-aside-\w+\/prot$/],
    [
      "into one in another",
      "mkdir -p venv/node_modules; mv prot venv/node_modules/",
      /^venv\.moved-aside-\w+\/node_modules\.moved-aside-\w+\/prot$/,
    ],
    ["to such a name", "mv prot __pycache__", /^__pycache__\.moved-aside-\w+$/],
  ])("protects names in a folder that a command moved %s", async (_, script, path) => {
    bench.put("in/prot/package.json", "{}");
    bench.put("in/prot/sub/.vscode/a", "x");
    const plant = "d=$(echo */); mkdir -p $d/new/.git";
    const { movedAside } = await change(`${script}; ${plant}`);
    expect(movedAside.length).toBeGreaterThan(0);
    const found = execFileSync("find", [bench.at("in"), "-name", "package.json", "-printf", "%P"])
      .toString()
      .replace(/\/package\.json$/, "");
    expect(found).toMatch(path);
    await change(`echo evil > ${found}/package.json; rm -r ${found}/sub/.vscode`);
    expect(bench.read(`in/${found}/package.json`)).toBe("{}");
    expect(readdirSync(bench.at(`in/${found}/sub`))).toEqual([".vscode"]);
    expect(execFileSync("find", [bench.at("in"), "-name", ".git"]).toString()).toBe("");
  });

  test("renames what it brought beside a command elsewhere, whose protected file had the same inode", async () => {
    bench.put("far/.npmrc", "x");
    linkSync(bench.at("far/.npmrc"), bench.at("in/plain"));
    const far = await bench.open([{ root: bench.at("far") }]);
    const rights = { writes: [far.resolve("s")], reads: [] };
    const elsewhere = bench.bash("touch began; until [ -e end ]; do sleep 0.05; done", { scopes: far, rights });
    await until(() => existsSync(bench.at("far/began")));
    const { movedAside } = await change("mv plain .npmrc");
    bench.put("far/end", "");
    await elsewhere;
    expect(movedAside).toEqual(["s/.npmrc"]);
  });
});
