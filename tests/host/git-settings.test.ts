import { execFileSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { noWall, testPath, useCommands } from "./command-bench.ts";

/** Tests the user that git knows, and the parts of a repository's own configuration that it obeys. */
describe.each([
  ["in the wall", {}, noWall !== ""],
  ["without a wall", { wall: false }, false],
] as const)("git %s", (_, overrides, isSkipped) => {
  const bench = useCommands(overrides);
  const git = (...args: string[]) => execFileSync("git", ["-C", bench.at("in"), ...args], { stdio: "pipe" }).toString();
  const useHost = (more: Record<string, string> = {}) => {
    const environment = { PATH: testPath, ...more };
    bench.host = createNodeHost({ environment, homeDirectory: bench.at("home"), ...overrides });
  };
  const script = (path: string, text: string) => {
    bench.put(path, `#!/bin/sh\n${text}\n`);
    chmodSync(bench.at(path), 0o755);
  };
  const commit = (asked = {}) => bench.bash("git commit -qam next", { unprotected: [".git"], ...asked });

  beforeEach(() => {
    bench.put(
      "home/.gitconfig",
      '[user]\n\tname = Ada \\"the \\\\ first\\" B\n[include]\n\tpath = more\n[alias]\n\tx = !touch evil\n',
    );
    bench.put("home/more", "[user]\n\temail = ada@example.org\n[credential]\n\thelper = evil\n");
    useHost();
    bench.put("in/a.txt", "one\n");
    git("init", "-q");
    git("add", "a.txt");
    git("-c", "user.name=first", "-c", "user.email=first@example.org", "commit", "-qm", "first");
    bench.put("in/a.txt", "two\n");
  });

  test.skipIf(isSkipped)("has the user's name and address, and nothing else of the user's configuration", async () => {
    expect(await commit()).toMatchObject({ exitCode: 0 });
    expect(git("log", "-1", "--format=%an|%ae|%cn")).toBe('Ada "the \\ first" B|ada@example.org|Ada "the \\ first" B\n');
    expect((await bench.bash("git config --list --global")).stdout).not.toMatch(/alias|credential|include/);
  });

  test.skipIf(isSkipped).each(["ro", "rw"] as const)("is not told by a git that lies in a scope (%s)", async (mode) => {
    script("in/bin/git", `touch ${bench.at("outside/ran")}`);
    const environment = { PATH: `${bench.at("in/bin")}:${testPath}` };
    bench.host = createNodeHost({ environment, homeDirectory: bench.at("home"), ...overrides });
    const scopes = await bench.open([{ mode }]);
    const { stdout } = await bench.bash("cat ~/.gitconfig", { scopes });
    expect(stdout).toContain("ada@example.org");
    expect(existsSync(bench.at("outside/ran"))).toBe(false);
  });

  test.skipIf(isSkipped)("prefers the repository's identity, and then that of the environment", async () => {
    git("config", "user.email", "work@example.org");
    await commit();
    expect(git("log", "-1", "--format=%ae")).toBe("work@example.org\n");
    bench.put("in/a.txt", "three\n");
    useHost({ GIT_AUTHOR_NAME: "Grace", GIT_AUTHOR_EMAIL: "grace@example.org", GIT_AUTHOR_DATE: "1" });
    await commit();
    expect(git("log", "-1", "--format=%an|%ae")).toBe("Grace|grace@example.org\n");
  });

  test.skipIf(isSkipped)("runs hooks only if the request allows them", async () => {
    script("in/.git/hooks/pre-commit", "touch hooked");
    expect(await commit()).toMatchObject({ exitCode: 0 });
    expect(existsSync(bench.at("in/hooked"))).toBe(false);
    bench.put("in/a.txt", "three\n");
    expect(await commit({ hooks: true })).toMatchObject({ exitCode: 0 });
    expect(existsSync(bench.at("in/hooked"))).toBe(true);
  });

  test.skipIf(isSkipped)("never runs a file monitor, an editor or a program for signatures that a repository names", async () => {
    script("in/evil", "touch ran; cat");
    git("config", "core.fsmonitor", "./evil");
    git("config", "core.editor", "./evil");
    git("config", "log.showSignature", "true");
    git("config", "gpg.program", "./evil");
    expect(git("status", "--short")).toContain("ran");
    await bench.bash("rm -f ran; git status --short; git log -1; git commit -a; git diff", { unprotected: [".git"] });
    expect(existsSync(bench.at("in/ran"))).toBe(false);
  });

  test.skipIf(isSkipped)("does not take a folder that looks like a repository for one", async () => {
    execFileSync("git", ["init", "-q", "--bare", bench.at("in/sub")]);
    expect(await bench.bash("cd sub && git rev-parse --is-bare-repository")).toMatchObject({ stdout: "" });
  });
});
