import { describe, expect, test } from "vitest";
import type { ShellConfig } from "../../src/toolsets/shell/config.ts";
import { readGitConfig } from "../../src/toolsets/shell/judge/git-config.ts";
import { allow, ruleSets } from "./rule-sets.ts";
import { createBench, nameOf } from "./shell-bench.ts";

describe("the configuration of a repository", () => {
  test.each([
    ["", undefined],
    ["[core]\n\trepositoryformatversion = 0\n\tbare = false # so\n", undefined],
    ['[remote "origin"]\n\turl = https://example.org/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n', undefined],
    ['[branch "main"]\r\n\tremote = origin\r\n; note\r\n[user] name = x\r\n', undefined],
    ["[core]\n\thooksPath = .husky\n\tfsmonitor = true\n", undefined],
    ['[submodule "a"]\n\turl = x\n\tactive = true\n', undefined],
    ['[filter "lfs"]\n\tclean = git-lfs clean\n', "filter"],
    ['[FILTER "x"]', "filter"],
    ['[diff "x"]\n\ttextconv = evil', "diff.textconv"],
    ["[diff]\n\texternal = evil", "diff.external"],
    ['[merge "x"]\n\tdriver = evil', "merge.driver"],
    ["[include]\n\tpath = ../evil", "include"],
    ['[includeIf "gitdir:/"]\n\tpath = x', "includeif"],
    ["[core]\n\tsshCommand = evil", "core.sshcommand"],
    ["[gpg]\n\tprogram = evil", "gpg"],
    ['[remote "origin"]\n\tuploadpack = evil', "remote.uploadpack"],
    ['[submodule "a"]\n\tupdate = !evil', "submodule.update"],
    ["[alias]\n\tx = !evil", "alias"],
    ["[log]\n\tshowSignature = true", "log.showsignature"],
    ['[user] [filter "x"] clean = evil', "filter"],
    ["\ufeff[filter]\nx", "filter"],
    ["[user]\n\tname = a \\\n[filter]\n\tclean = evil", "a value in several lines"],
    ["[core]\n\tx = \\\n[user]\n\tsshcommand = evil", "a value in several lines"],
    ["[filter.x]\n\tclean = evil", "a line that is none of a configuration"],
    ["what is this?", "a line that is none of a configuration"],
    ["[__proto__]\nx = 1", "a line that is none of a configuration"],
    ["[constructor]\nx = 1", "constructor"],
  ])("%j", (text, expected) => {
    expect(readGitConfig(text).helper).toBe(expected);
  });

  const judge = async (command: string, files: Record<string, string>) => {
    const { host, judge: ask } = await createBench(ruleSets["dev"] as ShellConfig);
    for (const [path, text] of Object.entries(files)) host.put(`/work/${path}`, text);
    return ask({ command });
  };
  const evil = '[filter "x"]\n\tclean = ./evil\n';

  test.each([
    "git status",
    "git -C src log",
    "cd src && git diff",
    "timeout 9 git log",
    "bash -c 'git log | wc -l'",
    "/usr/bin/git log",
  ])("with a helper, %s asks", async (command) => {
    const verdict = await judge(command, { ".git/config": evil });
    if (command.startsWith("/")) expect(nameOf(verdict)).toBe("blocked");
    else {
      expect(nameOf(verdict)).toBe("ask");
      expect(verdict.why).toContain("the configuration of its repository has `filter`");
    }
  });

  test("counts for another repository, and not without one", async () => {
    expect(nameOf(await judge("git -C src log", { "src/.git/config": evil }))).toBe("ask");
    expect(nameOf(await judge("git log", { "src/.git/config": evil }))).toBe("allowed");
    expect(nameOf(await judge("ls", { ".git/config": evil }))).toBe("allowed");
    expect(nameOf(await judge("git status", { ".git/modules/a/b/config": evil }))).toBe("ask");
    expect(nameOf(await judge("git status", { ".git/modules/a/config": "[core]\n\tworktree = ../../../a\n" }))).toBe("allowed");
    expect(nameOf(await judge("git -C src -C util log", { "src/util/.git/config": evil }))).toBe("ask");
    expect(nameOf(await judge("git -C src log", { "src/.git": "gitdir: ../.git/modules/a\n" }))).toBe("ask");
  });
});

test("considers a repository around the command's scope", async () => {
  const { host, judge } = await createBench(ruleSets["dev"] as ShellConfig);
  expect(nameOf(await judge({ command: "git log", cwd: "out" }))).toBe("allowed");
  host.put("/work/.git/config", '[filter "x"]\n');
  expect(nameOf(await judge({ command: "git log", cwd: "out" }))).toBe("ask");
});

describe("what git may open", () => {
  const opens = async (command: string, config: ShellConfig) => {
    const bench = await createBench(config);
    await bench.run({ command });
    const [request] = bench.requests;
    return { unprotected: request?.unprotected, hooks: request?.hooks };
  };
  const spelt = {
    rules: allow("git commit, git push, git branch, git checkout, git init, git config, git remote add, git clone, git"),
  };

  test("opens the folder for a rule alone, but neither configuration nor hooks", async () => {
    expect(await opens("git commit -m x", spelt)).toEqual({ unprotected: [".git"], hooks: false });
    expect(await opens("git push", spelt)).toEqual({ unprotected: [".git"], hooks: false });
    expect(await opens("git branch made", spelt)).toEqual({ unprotected: [".git"], hooks: false });
    expect(await opens("git log", spelt)).toEqual({ unprotected: [], hooks: false });
  });

  test("opens the same for a question of general caution", async () => {
    const config = { rules: [{ pattern: "git commit" }] };
    expect(await opens("git commit -m x", config)).toEqual({ unprotected: [".git"], hooks: false });
  });

  test.each([
    ["git config user.name x", [".git", ".git/config"]],
    ["git remote add o https://example.org/x", [".git", ".git/config"]],
    ["git branch -u origin/main", [".git", ".git/config"]],
    ["git branch --set-up=origin/main", [".git", ".git/config"]],
    ["git push -u origin main", [".git", ".git/config"]],
    ["git push --set-upstream origin main", [".git", ".git/config"]],
    ["git init", [".git", ".git/config", ".git/hooks"]],
    ["git clone https://example.org/x", [".git", ".git/config", ".git/hooks"]],
  ])("%s asks even where it is spelt out, and then opens what it needs", async (command, expected) => {
    const { judge } = await createBench(spelt);
    const verdict = await judge({ command });
    expect(nameOf(verdict)).toBe("ask");
    const { unprotected, hooks } = await opens(command, spelt);
    const parts = [".git", ".git/config", ".git/hooks"];
    expect(parts.filter((name) => unprotected?.includes(name))).toEqual(expected);
    expect(hooks).toBe(true);
  });

  test("says in the question whether hooks run", async () => {
    const shown = async (config: ShellConfig) => {
      const { toolset, prepare } = await createBench(config);
      return JSON.stringify(toolset.preview?.(await prepare({ command: "git commit -m x" })));
    };
    expect(await shown({ rules: [{ pattern: "git commit", approval_required: true }] })).toContain("hooks of the repository run");
    expect(await shown({ rules: [{ pattern: "git commit" }] })).not.toContain("hooks of the repository run");
  });
});
