import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { noWall, testPath, until, useCommands } from "./command-bench.ts";

const state = mkdtempSync(join(tmpdir(), "llm-do-killed-"));
const notes = join(state, "private/writing");

/** Protected names that a command brought stay for nobody to take them for the user's, also where llm-do is killed meanwhile. */
describe.skipIf(noWall !== "")("names that a command brought before llm-do was killed", () => {
  const bench = useCommands({ environment: { PATH: testPath, LLM_DO_STATE_DIR: state } });
  const children: ChildProcess[] = [];
  const look = (script: string) => bench.bash(script, { rights: { writes: [], reads: [] } });
  const change = (script: string) => bench.bash(script, { rights: { writes: [bench.scopes.resolve("s")], reads: [] } });
  const namesOf = (folder: string) =>
    readdirSync(bench.at(folder))
      .map((name) => name.replace(/aside-\w+/, "aside"))
      .sort();

  beforeEach(() => rmSync(notes, { recursive: true, force: true }));
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    rmSync(state, { recursive: true, force: true });
    mkdirSync(state);
  });

  /** Runs a script in another process, and kills that when the script has made `in/ready`. */
  async function killDuring(script: string): Promise<void> {
    const whole = `${script}; touch ready; trap '' TERM; sleep 60`;
    const options = { root: bench.at("in"), script: whole, wall: true, state };
    const child = fork(join(import.meta.dirname, "fixtures/run-command.js"), [JSON.stringify(options)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    children.push(child);
    await until(() => existsSync(bench.at("in/ready")));
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    await until(() => readdirSync(notes).some((name) => readFileSync(join(notes, name), "utf8").endsWith("\n")));
    unlinkSync(bench.at("in/ready"));
  }

  test("are renamed and named by the next command, which only looks", { timeout: 60_000 }, async () => {
    bench.put("in/sub/package.json", "{}");
    await killDuring("mkdir -p .git deep/.husky; echo x > .envrc; echo x > deep/package.json; mv sub moved");
    const { stdout, movedAside } = await look("find . -name package.json -o -name .git -o -name .envrc -o -name .husky");
    expect(stdout).toBe("./moved/package.json\n");
    expect([...movedAside].sort()).toEqual(["s/.envrc", "s/.git", "s/deep/.husky", "s/deep/package.json"]);
    expect(namesOf("in")).toEqual(["deep", "envrc.moved-aside", "git.moved-aside", "moved"]);
    expect(readdirSync(notes)).toEqual([]);
    expect((await look("true")).movedAside).toEqual([]);
  });

  test("are renamed in what is left of a scope, and what the user made later stays", { timeout: 60_000 }, async () => {
    bench.put("in/gone/.git/config", "x");
    await killDuring("mkdir a; echo evil > a/package.json; echo evil > .npmrc");
    // As if the process had ended long ago.
    for (const name of readdirSync(notes)) execFileSync("touch", ["-d", "1 hour ago", join(notes, name)]);
    expect((await look("true")).movedAside).toEqual([]);
    expect(namesOf("in/a")).toEqual(["package.json"]);
    await killDuring("mkdir b; echo evil > b/package.json");
    rmSync(bench.at("in/gone"), { recursive: true });
    const scopes = await bench.open([{ name: "t", root: bench.at("in/b"), mode: "ro" }]);
    const result = await bench.bash("ls", { scopes, cwd: "t", rights: { writes: [], reads: [] } });
    expect(result.movedAside).toEqual(["s/b/package.json"]);
  });

  test("are renamed where they and protected ones lie in a folder of dependencies, and links are back", {
    timeout: 60_000,
  }, async () => {
    bench.put("in/prot/package.json", "{}");
    bench.put("in/real", "x");
    symlinkSync("real", bench.at("in/.npmrc"));
    await killDuring("mkdir node_modules; mv prot node_modules/; rm .npmrc; mkdir node_modules/prot/.git");
    const { movedAside, putBack } = await look("true");
    expect(movedAside).toEqual(
      ["s/node_modules", "s/node_modules/prot/.git"].map((path) => expect.stringContaining(path.slice(0, 14))),
    );
    expect(putBack).toEqual(["s/.npmrc"]);
    expect(readlinkSync(bench.at("in/.npmrc"))).toBe("real");
    expect(namesOf("in")).toEqual([".npmrc", "node_modules.moved-aside", "real"]);
  });

  test("stay where a note is torn, a scope is gone or another one, and no note stays", { timeout: 60_000 }, async () => {
    await killDuring("echo x > .envrc");
    const [name = ""] = readdirSync(notes);
    writeFileSync(join(notes, name), readFileSync(join(notes, name), "utf8").slice(0, -20));
    expect((await look("true")).movedAside).toEqual([]);
    expect(readdirSync(notes)).toEqual([]);
    await killDuring("echo x > .npmrc");
    rmSync(bench.at("in"), { recursive: true });
    bench.put("in/.npmrc", "mine");
    await bench.open([{}]).then((scopes) => bench.bash("true", { scopes }));
    expect([bench.read("in/.npmrc"), readdirSync(notes)]).toEqual(["mine", []]);
  });

  test("are renamed once by two processes, and not while their own lives", { timeout: 60_000 }, async () => {
    await killDuring("for i in $(seq 50); do mkdir -p $i; echo x > $i/.envrc; done");
    const other = createNodeHost({ environment: { PATH: testPath, LLM_DO_STATE_DIR: state } });
    const scopes = await other.openScopes([{ name: "s", root: bench.at("in"), mode: "rw" }]);
    const results = await Promise.all([look("true"), bench.bash("true", { scopes, rights: { writes: [], reads: [] } })]);
    await scopes.close();
    expect(results.flatMap(({ movedAside }) => movedAside)).toHaveLength(50);
    const running = change("mkdir .git; touch ready2; until [ -e go ]; do sleep 0.05; done");
    await until(() => existsSync(bench.at("in/ready2")));
    expect((await look("ls -d .git")).stdout).toBe(".git\n");
    bench.put("in/go", "");
    expect((await running).movedAside).toEqual(["s/.git"]);
  });

  test("are named by a command that began meanwhile, where that one moves their folder", { timeout: 60_000 }, async () => {
    const first = change("mkdir d; echo x > d/.npmrc; touch ready; until [ -e go ]; do sleep 0.05; done");
    await until(() => existsSync(bench.at("in/ready")));
    const second = change("touch began; until [ -e e/moved ]; do sleep 0.05; done; mv e/* .");
    await until(() => existsSync(bench.at("in/began")));
    // No walk of the first one looks into a folder of dependencies.
    execFileSync("sh", ["-c", "mkdir node_modules; mv d node_modules/; touch go"], { cwd: bench.at("in") });
    expect((await first).movedAside).toEqual([]);
    execFileSync("sh", ["-c", "mv node_modules/d .; mkdir e; touch e/moved"], { cwd: bench.at("in") });
    expect((await second).movedAside).toEqual(["s/d/.npmrc"]);
  });

  test("are none in a folder that was closed to that command, and open to one that began meanwhile", {
    timeout: 60_000,
  }, async () => {
    execFileSync("git", ["init", "-q", bench.at("in")]);
    bench.put("in/.git/hooks/pre-commit", "x");
    const first = change("touch ready; until [ -e go ]; do sleep 0.05; done");
    await until(() => existsSync(bench.at("in/ready")));
    const rights = { writes: [bench.scopes.resolve("s")], reads: [] };
    const second = await bench.bash("touch .git/evil go", { rights, unprotected: [".git"] });
    expect([second.movedAside, (await first).movedAside]).toEqual([["s/.git/evil"], []]);
    expect(namesOf("in/.git/hooks")).toContain("pre-commit");
  });

  test("are new ones also where a hidden file was replaced meanwhile, whose inode is free", { timeout: 60_000 }, async () => {
    bench.put("in/.env", "A=1");
    const wait = "i=$(stat -c %i .env); touch ready; while [ $(stat -c %i .env) = $i ]; do sleep 0.05; done";
    const running = change(`${wait}; for n in .npmrc .curlrc; do echo x > $n; done`);
    await until(() => existsSync(bench.at("in/ready")));
    execFileSync("sh", ["-c", "echo A=2 > e; mv e .env"], { cwd: bench.at("in") });
    expect((await running).movedAside).toEqual(expect.arrayContaining(["s/.npmrc", "s/.curlrc"]));
  });

  test("that are links are put back by no command that began meanwhile", { timeout: 60_000 }, async () => {
    for (const folder of ["real", "evil"]) bench.put(`in/${folder}/rc`, folder);
    symlinkSync("real", bench.at("in/dirl"));
    symlinkSync("dirl/rc", bench.at("in/.bashrc"));
    const wait = "until [ -e go ]; do sleep 0.05; done";
    const first = change(`rm .bashrc; for n in .bashrc .zshrc .npmrc; do ln -s evil/rc $n; done; touch ready; ${wait}`);
    await until(() => existsSync(bench.at("in/ready")));
    const second = change("touch began; until [ -e end ]; do sleep 0.05; done");
    await until(() => existsSync(bench.at("in/began")));
    bench.put("in/go", "");
    const { movedAside, putBack } = await first;
    expect([[...movedAside].sort(), putBack]).toEqual([["s/.bashrc", "s/.npmrc", "s/.zshrc"], ["s/.bashrc"]]);
    bench.put("in/end", "");
    expect(await second).toMatchObject({ movedAside: [] });
    expect(namesOf("in").filter((name) => name.startsWith("."))).toEqual([".bashrc"]);
    expect(readlinkSync(bench.at("in/.bashrc"))).toBe("dirl/rc");
  });

  test("do not uncover for others what a link led to that the command removed", { timeout: 60_000 }, async () => {
    for (const path of ["conf/prod.txt", "keys/k"]) bench.put(`in/${path}`, "canary\n");
    symlinkSync("conf/prod.txt", bench.at("in/.env.prod"));
    symlinkSync("keys", bench.at("in/.ssh"));
    const wait = (name: string) => `until [ -e ${name} ]; do sleep 0.05; done`;
    const first = change(`rm .env.prod .ssh; touch ready; ${wait("go")}`);
    await until(() => existsSync(bench.at("in/ready")));
    expect((await look("cat conf/prod.txt keys/k")).stdout).toBe("");
    const second = change(`cat conf/prod.txt; touch began; ${wait("back")}; rm .ssh; touch gone; ${wait("end")}`);
    await until(() => existsSync(bench.at("in/began")));
    bench.put("in/go", "");
    expect([...((await first).putBack ?? [])].sort()).toEqual(["s/.env.prod", "s/.ssh"]);
    bench.put("in/back", "");
    await until(() => existsSync(bench.at("in/gone")));
    expect((await look("cat conf/prod.txt keys/k")).stdout).toBe("");
    bench.put("in/end", "");
    expect(await second).toMatchObject({ stdout: "", putBack: ["s/.ssh"] });
  });

  test("says where nothing can be noted", async () => {
    expect((await change("true")).isUnnoted).toBeUndefined();
    rmSync(notes, { recursive: true });
    writeFileSync(notes, "no folder");
    expect((await change("true")).isUnnoted).toBe(true);
    expect((await look("true")).isUnnoted).toBeUndefined();
  });
});
