import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { run } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { noWall, testPath } from "../host/command-bench.ts";
import { Machine } from "../shell/machine.ts";

/*
 * Repositories that make git run a script. Each line is played by a model in a whole run, with nobody to ask, under rules that allow
 * it: then the script must not have run. The same line, given to bash, must run it, or the test would prove nothing.
 */

const machines: Machine[] = [];
afterEach(() => {
  for (const machine of machines.splice(0)) machine.remove();
});

const allowed = "git add, git commit, git checkout, git push, git fetch, git, cd, timeout".split(", ");

interface Setting {
  readonly scope?: string;
  readonly rules?: readonly string[];
  readonly wall?: boolean;
}

/** A repository in the folder `w`, which is a scope, with one commit and what the script adds; `$EVIL` leaves a trace. */
function create(setup: string, { scope = "root: ./w, mode: rw", rules = allowed }: Setting = {}): Machine {
  const machine = new Machine();
  machines.push(machine);
  const patterns = rules.map((pattern) => `{ pattern: ${pattern}, approval_required: false }`);
  machine.put(
    "main.worker",
    `---\nsandbox: { paths: { w: { ${scope} } } }\ntoolsets: { shell: { rules: [${patterns.join(", ")}] } }\n---\nGo.\n`,
  );
  machine.put("w/evil.sh", `#!/bin/sh\ntouch "${machine.root}/w/ran"\ncat\n`, 0o755);
  machine.put("w/a.txt", "one\n");
  const start = "git init -q -b main . && git add a.txt && git commit -qm one";
  bash(machine, `set -e; ${start}\n${setup}`);
  rmSync(join(machine.root, "w/ran"), { force: true });
  return machine;
}

function bash(machine: Machine, script: string): void {
  const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const env = { ...identity, PATH: testPath, HOME: machine.root, EVIL: join(machine.root, "w/evil.sh") };
  const { status, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-c", script], {
    cwd: join(machine.root, "w"),
    env,
    encoding: "utf8",
  });
  if (status !== 0 && script.startsWith("set -e")) throw new Error(stderr);
}

/** Returns the outcome of one call of the shell: `ran`, or the type of the refusal. */
async function play(machine: Machine, command: string, { wall = true }: Setting = {}): Promise<string> {
  let outcome = "";
  const model = scriptedModel(({ turn, toolResults }) => {
    for (const { result } of toolResults()) outcome = result.ok ? "ran" : result.error.type;
    return turn === 1 ? { calls: [{ tool: "shell", args: { command, cwd: "w" } }] } : "done";
  }, "test:model");
  const environment = { PATH: testPath, LLM_DO_STATE_DIR: join(machine.root, "state") };
  await run({
    target: machine.root,
    input: "go",
    approval: { mode: "prompt", unisolated: !wall },
    trust: true,
    journal: false,
    host: createNodeHost({ environment, workingDirectory: machine.root, homeDirectory: join(machine.root, "home"), wall }),
    model: "test:model",
    providers: [{ name: "test", description: "for tests", keyVariables: [], create: async () => model }],
  });
  return outcome;
}

const hasRun = (machine: Machine) => existsSync(join(machine.root, "w/ran"));

/** In a repository, a filter that is the script, for its own files. */
const filter = (folder: string) =>
  `git -C ${folder} config filter.x.clean "$EVIL"; mkdir -p $(git -C ${folder} rev-parse --absolute-git-dir)/info; echo '* filter=x' > $(git -C ${folder} rev-parse --absolute-git-dir)/info/attributes;`;
const repository = (folder: string) =>
  `git init -q ${folder}; echo b > ${folder}/b.txt; git -C ${folder} add b.txt; git -C ${folder} commit -qm b;`;
const nested = `${repository("nested")} git add nested; git commit -qm nested; echo c > nested/b.txt;`;
const submodule = (name: string) =>
  `${repository("../other")} git -c protocol.file.allow=always submodule --quiet add --name ${name} ../other sub; git commit -qm sub; echo c > sub/b.txt;`;
const bare = "git init -q --bare evil.git; cp evil.sh evil.git/hooks/pre-receive;";

describe.skipIf(noWall !== "")("git asks where a repository that it reaches names a program:", () => {
  test.each([
    [
      "configuration elsewhere, by `commondir`",
      `cp -r .git common; echo ../common > .git/commondir; ${filter("common")} echo '* filter=x' > .gitattributes; git --git-dir=common config core.bare false; echo two > a.txt`,
      "git diff",
    ],
    [
      "configuration of a work tree",
      `git config extensions.worktreeConfig true; git config --worktree filter.x.clean "$EVIL"; echo '* filter=x' > .gitattributes; echo two > a.txt`,
      "git status",
    ],
    ["a repository in the index that `.gitmodules` does not name", `${nested} ${filter("nested")}`, "git status"],
    [
      "the same, behind another program and a folder",
      `mkdir src; ${nested} ${filter("nested")}`,
      "cd src && timeout 9 git status",
    ],
    [
      "the same, in an index with shortened paths",
      `${nested} ${filter("nested")} git update-index --index-version 4`,
      "git status",
    ],
    ["the same, beside a file that is to be added", `${nested} ${filter("nested")} echo n > new; git add -N new`, "git status"],
    [
      "the same, in a repository of SHA-256",
      `rm -rf .git; git init -q -b main --object-format=sha256 .; git add a.txt; git commit -qm one; ${nested.replace("init", "init --object-format=sha256")} ${filter("nested")}`,
      "git status",
    ],
    ["the same, in an index in two files", `${nested} ${filter("nested")} git update-index --split-index`, "git status"],
    [
      "the same, by a file that names its folder",
      `${nested} ${filter("nested")} mv nested/.git store; echo 'gitdir: ../store' > nested/.git`,
      "git status",
    ],
    [
      "the same, in a folder of dependencies",
      `mkdir node_modules; ${nested.replaceAll("nested", "node_modules/nested")} ${filter("node_modules/nested")}`,
      "git status",
    ],
    [
      "a repository in one in the index",
      `${repository("nested")} ${repository("nested/deep")} git -C nested add deep; git -C nested commit -qm deep; git add nested; git commit -qm nested; echo c > nested/deep/b.txt; ${filter("nested/deep")}`,
      "git status",
    ],
    ["a submodule whose name begins with a dot", `${submodule(".sub")} ${filter("sub")}`, "git status"],
    ["a submodule whose name is a path", `${submodule("a/.b/c")} ${filter("sub")}`, "git status"],
    [
      "a repository that a branch brings into the index",
      `git checkout -qb topic; ${nested} git checkout -q main; ${filter("nested")}`,
      "git checkout topic",
    ],
    [
      "a repository that the line itself adds",
      `${repository("nested")} ${filter("nested")} echo c > nested/b.txt`,
      "git add nested && git status",
    ],
    [
      "another work tree's repository",
      `git worktree add -q tree; ${filter(".")} echo '* filter=x' > tree/.gitattributes; echo two > tree/a.txt`,
      "git -C tree status",
    ],
  ])("%s", { timeout: 60_000 }, async (_, setup, command) => {
    const machine = create(setup);
    expect(await play(machine, command)).toBe("denied");
    expect(hasRun(machine)).toBe(false);
    bash(machine, command);
    expect(hasRun(machine)).toBe(true);
  });
});

describe.skipIf(noWall !== "")("git asks where another repository of this machine has hooks:", () => {
  test.each([
    ["a path", bare, "git push ./evil.git HEAD:x"],
    ["an address of a file", bare, "git push file://$PWD/evil.git HEAD:x"],
    ["a name that git completes", bare, "git push evil HEAD:x"],
    ["behind options", bare, "git push --force --repo evil.git ./evil.git HEAD:x"],
    ["a remote that is a path", `${bare} git remote add origin ./evil.git`, "git push origin HEAD:x"],
    [
      "a remote with a second address for pushing",
      `${bare} git remote add origin https://example.org/x; git config remote.origin.pushurl ./evil.git`,
      "git push origin HEAD:x",
    ],
    [
      "the remote of the branch",
      `${bare} git config branch.main.remote evil; git config branch.main.merge refs/heads/x; git config push.default upstream`,
      "git push",
    ],
    [
      "the remote that is pushed to by default",
      `${bare} git config remote.pushDefault evil; git config push.default current`,
      "git push",
    ],
    [
      "a remote as they were written before",
      `${bare} mkdir -p .git/remotes; echo 'URL: ./evil.git' > .git/remotes/there`,
      "git push there HEAD:x",
    ],
    ["itself", "cp evil.sh .git/hooks/pre-receive", "git push . HEAD:x"],
  ])("%s", { timeout: 60_000 }, async (_, setup, command) => {
    const machine = create(setup);
    const line = command.replace("$PWD", join(machine.root, "w"));
    expect(await play(machine, line)).toBe("denied");
    expect(hasRun(machine)).toBe(false);
    bash(machine, line);
    expect(hasRun(machine)).toBe(true);
  });
});

describe.skipIf(noWall !== "")("git does not ask in a repository without programs:", () => {
  test.each([
    ["plain", "", "git status", {}],
    ["a commit", "echo two > a.txt", "git add a.txt && git -C . log -1 && git commit -m two", {}],
    ["with a repository in its index", nested, "git status", {}],
    ["with a submodule", submodule("a/.b"), "git status && git diff", {}],
    ["with a repository that it does not enter", `${repository("nested")} ${filter("nested")}`, "git status", {}],
    ["as another work tree", "git worktree add -q tree", "git -C tree status", {}],
    [
      "with a configuration of the work tree",
      "git config extensions.worktreeConfig true; git config --worktree core.sparseCheckout false",
      "git status",
      {},
    ],
    [
      "and with remotes of the network",
      "git remote add origin https://example.org/x; git config branch.main.remote origin",
      "git push origin main; git fetch",
      {},
    ],
    ["in a scope with suffixes", "", "git log -1", { scope: "root: ./w, mode: ro, suffixes: [.txt]" }],
    ["in a scope with a small size of files", "", "git status", { scope: "root: ./w, mode: rw, max_file_bytes: 1" }],
  ])("%s", { timeout: 60_000 }, async (_, setup, command, setting) => {
    expect(await play(create(setup, setting), command)).toBe("ran");
  });
});

test.skipIf(noWall !== "")("git asks where an index cannot be read", { timeout: 60_000 }, async () => {
  const machine = create("");
  for (const index of ["", "DIRC", `DIRC\0\0\0\x02\0\0\0\x09${"x".repeat(100)}`, "DIRC\0\0\0\x05\0\0\0\0"]) {
    machine.put("w/.git/index", index);
    expect(await play(machine, "git log -1")).toBe("denied");
  }
});

test("considers a repository around the scopes if commands are not isolated", { timeout: 60_000 }, async () => {
  const setup = `mkdir sub; ${filter(".")} echo two > a.txt`;
  const machine = create(setup, { scope: "root: ./w/sub, mode: rw" });
  expect(await play(machine, "git status", { wall: false })).toBe("denied");
  expect(hasRun(machine)).toBe(false);
  execFileSync("git", ["status"], { cwd: join(machine.root, "w/sub"), stdio: "ignore" });
  expect(hasRun(machine)).toBe(true);
});
