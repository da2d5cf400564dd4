import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { run } from "../../src/index.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { noWall, testPath } from "../host/command-bench.ts";
import { Machine } from "../shell/machine.ts";

/*
 * Scopes that ask, in a repository. Each line is played by a model in a whole run, with nobody to ask, under rules that allow all of
 * its programs.
 */

const machines: Machine[] = [];
afterEach(() => {
  for (const machine of machines.splice(0)) machine.remove();
});

const programs = "git add, git commit, git checkout, git, grep, sort, cd".split(", ");

/** A repository with the scopes `secret` (asks before it is read) and `kept` (before it is written). `tracked`: what is committed. */
function create(tracked: string, more = ""): Machine {
  const machine = new Machine();
  machines.push(machine);
  const rules = programs.map((pattern) => `{ pattern: ${pattern}, approval_required: false }`).join(", ");
  const paths = `w: { root: ./w, mode: rw }, secret: { root: ./w/in/secret, mode: rw, read_approval: true },
    kept: { root: ./w/kept, mode: rw, write_approval: true }`;
  machine.put("main.worker", `---\nsandbox:\n  paths: { ${paths} }\ntoolsets: { shell: { rules: [${rules}] } }\n---\nGo.\n`);
  for (const path of ["a", "in/b", "in/secret/key", "kept/c"]) machine.put(`w/${path}`, `TEXT of ${path}\n`);
  const script = `set -e; git init -q -b main .; git add -- ${tracked}; git commit -qm one; ${more}`;
  const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const env = { ...identity, PATH: testPath, HOME: machine.root };
  const { status, stderr } = spawnSync("bash", ["-c", script], { cwd: join(machine.root, "w"), env, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return machine;
}

/** Returns what the command printed, or the type of the refusal. */
async function play(machine: Machine, command: string): Promise<string> {
  let said = "";
  const model = scriptedModel(({ turn, toolResults }) => {
    for (const { result } of toolResults()) said = result.ok ? String((result.value as JsonObject)["stdout"]) : result.error.type;
    return turn === 1 ? { calls: [{ tool: "shell", args: { command, cwd: "w" } }] } : "done";
  }, "test:model");
  const environment = { PATH: testPath, LLM_DO_STATE_DIR: join(machine.root, "state") };
  await run({
    ...{ target: machine.root, input: "go", approval: { mode: "prompt" }, trust: true, journal: false },
    host: createNodeHost({ environment, workingDirectory: machine.root, homeDirectory: join(machine.root, "home") }),
    model: "test:model",
    providers: [{ name: "test", description: "for tests", keyVariables: [], create: async () => model }],
  });
  return said;
}

describe.skipIf(noWall !== "")("git in a repository with scopes that ask", () => {
  test.each([
    ["git status --short", ""],
    ["git diff", "git update-index --index-version 4"],
    ["git grep TEXT", ""],
    ["git ls-files -m", ""],
    ["git add a && grep -r TEXT .", ""],
    ["git add -A", ""],
    ["git commit -am x", ""],
    ["git checkout -b x", ""],
    ["cd in && git status", ""],
  ])("%s asks where it has files in one that asks to be read", async (command, more) => {
    expect(await play(create(".", more), command)).toBe("denied");
  });

  test.each(["git log --format=%s", "git show --format=%s --stat HEAD", "git branch --show-current", "git stash list"])(
    "%s looks at the history alone",
    async (command) => {
      expect(await play(create("."), command)).not.toBe("denied");
    },
  );

  test("files of one that it does not have are not there for it", async () => {
    expect(await play(create("a in/b"), "git status --short")).toBe("?? kept/\n");
    expect(await play(create("a in/b"), "git add -A && git ls-files && grep -rh TEXT . | sort")).toBe(
      "a\nin/b\nkept/c\nTEXT of a\nTEXT of in/b\nTEXT of kept/c\n",
    );
  });

  test("it asks before it could write to one that asks to be written, and not before", async () => {
    expect(await play(create("a kept"), "git status --short --untracked-files=no")).toBe("");
    expect(await play(create("a kept"), "git add -A && git diff --cached --name-only")).toBe("in/b\n");
    expect(await play(create("a kept"), "git checkout -b x")).toBe("denied");
    expect(await play(create("a in/b"), "git checkout -b x && git branch --show-current")).toBe("x\n");
  });
});
