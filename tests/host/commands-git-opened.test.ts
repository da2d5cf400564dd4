import { existsSync, mkdirSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { noWall, useCommands, useGit } from "./command-bench.ts";

/** `opens: [.git]`: git goes on as always, and what a command plants leads it nowhere. */
describe.skipIf(noWall !== "")("with `.git` opened", () => {
  const bench = useCommands({});
  const git = useGit(bench);
  const change = (line: string, ...opened: string[]) =>
    bench.bash(line, {
      rights: { writes: [bench.scopes.resolve("s")], reads: [] },
      unprotected: opened.length === 0 ? [".git"] : opened,
    });
  const isThere = (path: string) => existsSync(bench.at(`in/.git/${path}`));

  beforeEach(() => {
    for (const name of ["in/remote", "in"]) {
      git(".", "init", "-q", "-b", "main", bench.at(name));
      for (const [key, value] of Object.entries({ name: "a", email: "a@b" })) git(name, "config", `user.${key}`, value);
      bench.put(`${name}/a.txt`, "one\n");
      git(name, "add", "a.txt");
      git(name, "commit", "-qm", "first");
    }
    git("in", "remote", "add", "origin", bench.at("in/remote"));
    git("in", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bench.at("in/remote"), "deep/logs/sub");
    git("in", "commit", "-qm", "sub");
    git("in", "worktree", "add", "-q", bench.at("in/tree"));
    for (const [key, value] of Object.entries({ name: "a", email: "a@b" }))
      git("in/deep/logs/sub", "config", `user.${key}`, value);
  });

  const write = (text: string, then: string) => `echo ${text} > a.txt; git add a.txt; ${then}`;
  /** Each leaves something half-way, which the next one goes on with. */
  const everyday = [
    [
      ...[write("main", "git commit -qm main; git checkout -qb side HEAD~1"), write("b", "git commit -qm b")],
      ...[write("side", "git commit -qm side; git checkout -q -"), "git merge -q side"],
    ],
    [write("merged", "git commit -qm merged"), "git cherry-pick side~1 side main~1"],
    [write("picked", "git cherry-pick --continue")],
    ["git cherry-pick --abort; git revert HEAD~1"],
    [
      "git revert --abort; git merge -q --squash --no-commit side~1",
      write("stashed", "git stash -q; git stash pop -q; git stash -q"),
    ],
    [
      "git branch lib/hooked; git tag -am tag tag; git tag light; git update-ref refs/remotes/origin/branches/new HEAD",
      'git fetch -q; git fetch -q --depth 1 "file://$(git config remote.origin.url)"; git reset -q --hard; git notes add -m note',
      "git update-index --split-index; git commit -q --allow-empty -m last; git update-index --no-split-index; git switch -q --detach",
      "git commit-graph write --reachable --split; git update-server-info; git pack-refs --all",
    ],
    ["git repack -adq; git multi-pack-index write; git gc -q && git fsck; git branch -m side renamed"],
  ];

  test.each([
    ["a repository", "."],
    ["a submodule", "deep/logs/sub"],
    ["a working tree", "tree"],
  ])("moves nothing that git itself writes in %s", async (_, folder) => {
    mkdirSync(bench.at("in/.git/rr-cache"));
    const messages = [];
    for (const lines of everyday) {
      const ran = await change(`cd ${folder}; ${lines.join("\n")}`);
      messages.push(ran.stdout, ran.stderr);
      expect(ran.movedAside, messages.join("\n")).toEqual([]);
    }
    expect(git(`in/${folder}`, "log", "--format=%s")).toMatch(/^last\nmerged\n/);
    expect(git(`in/${folder}`, "stash", "list")).toContain("stash@{0}");
    expect(isThere("MERGE_RR")).toBe(false);
  });

  test.each([
    ["own", "own"],
    ["MERGE_RR", "MERGE_RR"],
    ["BISECT_START", "BISECT_START"],
    ["info/grafts", "info/grafts"],
    ["objects/pack/own/x", "objects/pack/own"],
    ["rr-cache/1/preimage", "rr-cache"],
    ["lfs/objects/00/x", "lfs"],
    ["annex/objects/x", "annex"],
    ["worktrees/x/gitdir", "worktrees/x/gitdir"],
    ["worktrees/tree/locked", "worktrees/tree/locked"],
    ["worktrees/tree/modules/x/config", "worktrees/tree/modules/x/config"],
    ["modules/deep/logs/sub/lfs/objects/x", "modules/deep/logs/sub/lfs"],
    ["modules/deep/logs/sub/rebase-merge/git-rebase-todo", "modules/deep/logs/sub/rebase-merge"],
    ["modules/deep/HEAD", "modules/deep/HEAD"],
    ["modules/deep/other/rebase-merge/git-rebase-todo", "modules/deep/other/rebase-merge/git-rebase-todo"],
    ["modules/x/refs/y/objects/info/packs", "modules/x/refs/y/objects/info/packs"],
    ["refs/heads/.git/own", "refs/heads/.git/own"],
  ])("moves aside %s", async (path, moved) => {
    const ran = await change(`cd .git; mkdir -p $(dirname ${path}); echo x > ${path}`);
    expect(ran).toMatchObject({ exitCode: 0, movedAside: [`s/.git/${moved}`] });
    expect(isThere(moved)).toBe(false);
    expect((await change(`cd .git; mkdir -p $(dirname ${path}); echo x > ${path}`, ".git", ".git/config")).movedAside).toEqual(
      [],
    );
  });

  test("keeps what is there already, but what git itself writes", async () => {
    for (const path of ["own", "lfs/x", "info/exclude"]) bench.put(`in/.git/${path}`, "kept\n");
    await change("cd .git; echo x | tee own lfs/x lfs/y info/exclude worktrees/tree/gitdir MERGE_MSG; rm -rf lfs own");
    for (const path of ["own", "lfs/x", "info/exclude"]) expect(bench.read(`in/.git/${path}`)).toBe("kept\n");
    expect(bench.read("in/.git/worktrees/tree/gitdir")).not.toBe("x\n");
    expect(bench.read("in/.git/MERGE_MSG")).toBe("x\n");
  });

  test("leaves no recorded conflict by which the next commit copies files into `.git`", async () => {
    bench.put("outside/secret", "hunter2x\n");
    const conflict = "2".repeat(40);
    await change(
      `mkdir -p .git/rr-cache/${conflict}; echo x > .git/rr-cache/${conflict}/preimage; printf '${conflict}\\t../outside/secret\\0' > .git/MERGE_RR`,
    );
    bench.put("in/a.txt", "two\n");
    git("in", "commit", "-qam", "next");
    expect((await change("grep -r hunter2x .git")).stdout).toBe("");
  });

  test("leaves no plan by which the next step of a rebase or a pick starts a program", async () => {
    const evil = "printf '#!/bin/sh\\ntouch ran\\n' > evil; chmod +x evil; mkdir git-merge-x";
    const stop =
      "GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD; echo 'exec ./evil' > .git/rebase-merge/git-rebase-todo";
    const rebase = await change(`${evil}; ${stop}`);
    expect(rebase.movedAside).toEqual(["s/.git/rebase-merge"]);
    expect(() => git("in", "rebase", "--continue")).toThrow();
    const pick = await change(
      `${everyday[0]?.join("\n")}; ${everyday[1]?.join("\n")}; printf '[options]\\nstrategy=x/../evil\\n' > .git/sequencer/opts; ${write("picked", "true")}`,
    );
    expect(pick.movedAside).toEqual(["s/.git/sequencer/opts"]);
    expect(() => git("in", "-c", "core.editor=true", "cherry-pick", "--continue")).toThrow();
    expect(git("in", "log", "-1", "--format=%s")).toBe("b\n");
    expect(existsSync(bench.at("in/ran"))).toBe(false);
  });
});
