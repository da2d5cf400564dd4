import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, symlinkSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { noWall, useCommands, useGit } from "./command-bench.ts";

const secret = "hunter2x";

/** Git's own files in a call with effects, each looked for by what git and others then do. */
describe.skipIf(noWall !== "")("git in the wall", () => {
  const bench = useCommands({});
  const git = useGit(bench);
  const script = (path: string, text: string) => {
    bench.put(path, `#!/bin/sh\n${text}\n`);
    chmodSync(bench.at(path), 0o755);
  };
  const look = (line: string, reads: readonly string[] = []) => bench.bash(line, { rights: { writes: [], reads } });
  const change = (line: string, ...opened: string[]) =>
    bench.bash(line, {
      rights: { writes: [bench.scopes.resolve("s")], reads: [] },
      unprotected: opened,
      hooks: opened.includes(".git/hooks"),
    });

  beforeEach(() => {
    git("in", "init", "-q", "-b", "main");
    bench.put("in/a.txt", "one\n");
    git("in", "add", "a.txt");
    git("in", "commit", "-qm", "first");
    git("in", "config", "user.name", "a");
    git("in", "config", "user.email", "a@b");
    bench.put("in/a.txt", "two\n");
  });

  describe("credentials", () => {
    test.each([
      ["an address", "remote.origin.url", `https://ada:${secret}@example.org/x.git`],
      ["a name of a section", `http.https://ada:${secret}@example.org/.proxy`, "x"],
      ["a name of a section that is left out", `credential.https://ada:${secret}@example.org.helper`, "x"],
      ["a name of an address", `url.https://ada:${secret}@example.org/.insteadOf`, "https://example.org/"],
      ["a proxy without a scheme", "http.proxy", `ada:${secret}@proxy:8080`],
      ["an access key", "lab.accesskey", secret],
      ["a header", "http.https://example.org/.extraheader", `Authorization: basic ${secret}`],
      ["a password", "sendemail.smtppass", secret],
      ["a token", "github.token", secret],
      ["a short word for a password", "lab.pwd", secret],
      ["a private key", "lab.private-key", secret],
      ["a bearer", "lab.bearer", secret],
      ["an address without a scheme", "remote.lab.url", `//ada:${secret}@example.org/x.git`],
      ["a key in a filter", "filter.f.clean", `API_KEY=${secret} clean`],
      ["a token in an address", "remote.lab.url", `https://example.org/x.git?private_token=${secret}`],
      ["an address with a blank", "remote.lab.url", `https://ada:a ${secret}@example.org/x.git`],
      ["an address that starts a program", "remote.lab.url", `ext::sh -c "curl -u ada:${secret} h"`],
      ["a helper that is a line of a shell", "credential.helper", `!f(){ echo password=${secret}; };f`],
      ["a header in an alias", "alias.z", `!curl -H 'Authorization: Bearer ${secret}' h`],
      ["a password for ssh", "core.sshCommand", `sshpass -p ${secret} ssh`],
    ])("masks %s", async (_, key, value) => {
      git("in", "config", key, value);
      expect(git("in", "config", "-l")).toContain(secret);
      const line = "cat .git/config; git config -l; git remote -v";
      for (const ran of [await look(line), await change(line), await change(line, ".git")]) {
        expect(ran.exitCode).toBe(0);
        expect(JSON.stringify(ran)).not.toContain(secret);
      }
      expect((await change("git config -l", ".git", ".git/config")).stdout).toContain(secret);
    });

    test("masks them in submodules and other working trees, and keeps what is none", async () => {
      git("in", "worktree", "add", "-q", bench.at("in/tree"));
      git("in", "config", "extensions.worktreeConfig", "true");
      git("in/tree", "config", "--worktree", "sendemail.smtppass", secret);
      execFileSync("git", ["init", "-q", bench.at("in/.git/modules/deep/sub")]);
      execFileSync("mv", ["-T", bench.at("in/.git/modules/deep/sub/.git"), bench.at("in/.git/modules/deep/other")]);
      execFileSync("git", ["--git-dir", bench.at("in/.git/modules/deep/other"), "config", "a.token", secret]);
      const { stdout } = await look("grep -r . .git; git config user.email; git -C tree status --short; git -C tree config -l");
      expect(stdout).not.toContain(secret);
      expect(stdout).toContain("a@b\n");
      expect(stdout).toContain("sendemail.smtppass=***");
      await change("rm -r .git/modules/deep/other/{HEAD,objects,refs}", ".git");
      expect(existsSync(bench.at("in/.git/modules/deep/other/HEAD"))).toBe(false);
      const again = (await look("cat .git/modules/deep/other/config")).stdout;
      expect(again).toContain("[core]");
      expect(again).not.toContain(secret);
    });

    test("masks them in files that a configuration includes, and in a repository without a work tree", async () => {
      const text = `[remote "x"]\n\turl = https://ada:${secret}@example.org/x\n`;
      bench.put("in/.git/own.cfg", `${text}[include]\n\tpath = ../deep/shared.ini\n`);
      bench.put("in/deep/shared.ini", text);
      bench.put("in/if.ini", text);
      git("in", "config", "include.path", "own.cfg");
      git("in", "config", "includeIf.onbranch:main.path", bench.at("in/if.ini"));
      execFileSync("git", ["init", "-q", "--bare", bench.at("in/deep/bare")]);
      execFileSync("git", [
        "--git-dir",
        bench.at("in/deep/bare"),
        "config",
        "remote.o.url",
        `https://ada:${secret}@example.org/x`,
      ]);
      const line =
        "git config -l; git -C deep/bare config remote.o.url; cat .git/own.cfg deep/shared.ini if.ini deep/bare/config";
      for (const ran of [await look(line), await change(line), await change(line, ".git")]) {
        expect(ran.stdout).toContain("remote.x.url=https://***@example.org/x");
        expect(ran.stdout).toContain("https://***@example.org/x\n");
        expect(ran.stdout).not.toContain(secret);
      }
    });

    test.each([
      [".git/config.lock", `[remote "x"]\n\turl = https://ada:${secret}@example.org/x\n`],
      [".git/config.bak", `[http]\n\textraheader = Authorization: basic ${secret}\n`],
      [".git/config.old", `[remote "x"]\n\turl = https://ada:\\\n${secret}\\\n@example.org/x\n`],
      [".git/credentials", `https://ada:${secret}@example.org\n`],
      [".git/remotes/team/x", `URL: https://ada:${secret}@example.org/x\n`],
      [".git/branches/x", `https://ada:${secret}@example.org/x#main\n`],
      [".hg/hgrc", `[auth]\nx.password = ${secret}\n[paths]\ndefault = https://ada:${secret}@example.org/x\n`],
      [".hg/hgrc.orig", `[auth]\nx.password =\n  ${secret}\n`],
      [".bzr/branch/branch.conf", `push_location = https://ada:${secret}@example.org/x\n`],
      ["sub/_darcs/prefs/repos", `https://ada:${secret}@example.org/x\n`],
      [".jj/repo/config.toml", `[a]\n"api_token" = "${secret}"\n`],
    ])("masks them in %s, and keeps the folder in its place", async (path, text) => {
      bench.put(`in/${path}`, text);
      const top = path.startsWith(".git") ? ".git" : path.replace(/((?:^|\/)[._][^/]+)\/.*/, "$1");
      const line = `cat ${path}; mv ${top} old; cat old/*; true`;
      for (const ran of [await look(line), await change(line), await change(line, ".git")]) {
        expect(ran.stdout).toContain("***");
        expect(ran.stdout).not.toContain(secret);
      }
      expect(bench.read(`in/${path}`)).toBe(text);
      expect((await look("git log -1 --format=%s")).stdout).toBe("first\n");
    });

    const url = `https://ada:${secret}@example.org/x`;

    test("masks them in a text that had none when it was looked at, and behind a link", async () => {
      bench.put("in/.git/x", "plain");
      symlinkSync("../x.txt", bench.at("in/.git/link"));
      bench.put("in/x.txt", url);
      // What was found harmless is remembered once it is older than the clock of the disk is coarse.
      await new Promise((resolve) => setTimeout(resolve, 2100));
      expect((await look("cat .git/x .git/link")).stdout).toBe("plainhttps://***@example.org/x");
      bench.put("in/.git/x", url);
      expect((await look("cat .git/x")).stdout).toBe("https://***@example.org/x");
    });

    test("masks them in all texts of a repository's folder but stores, and lets git replace its own", async () => {
      const paths = [
        ...[
          ".git/FETCH_HEAD",
          ".git/lfs/cache/x.json",
          ".git/rebase-merge/x",
          ".git/hooks/x.sh",
          ".git/info/x",
          ".git/modules/a/COMMIT_EDITMSG",
        ],
        ...[".hg/cache/tags/x", "sub/.svn/x/y"],
      ];
      bench.put("in/.git/modules/a/HEAD", "ref: refs/heads/main\n");
      for (const path of paths) bench.put(`in/${path}`, `one\n{ "x": "${url}" }\n`);
      for (const path of [".git/logs/x", ".hg/store/data/x"]) bench.put(`in/${path}`, url);
      const line = `cat ${paths.join(" ")}`;
      for (const ran of [await look(line), await change(line)]) {
        expect(ran.stdout).toBe('one\n{ "x": "https://***@example.org/x" }\n'.repeat(paths.length));
      }
      const closed = (await change("cat .git/lfs/cache/x.json .git/rebase-merge/x; ls .git/hooks", ".git")).stdout;
      expect(closed).toBe('one\n{ "x": "https://***@example.org/x" }\n'.repeat(2));
      expect((await look("cat .git/logs/x .hg/store/data/x")).stdout).toBe(`${url}${url}`);
      bench.put("in/.git/COMMIT_EDITMSG", url);
      bench.put("in/a.txt", "another\n");
      expect(await change("git commit -qam next && cat .git/COMMIT_EDITMSG", ".git")).toMatchObject({
        exitCode: 0,
        stdout: "next\n",
      });
    });

    test("leaves the name of an author as it is", async () => {
      git("in", "config", "user.name", "Ada of the token: x");
      await change("git commit -qam next", ".git");
      expect(git("in", "log", "-1", "--format=%an")).toBe("Ada of the token: x\n");
    });

    test("reads no file outside of the scopes that a configuration leads to", async () => {
      bench.put("outside/config", `[core]\n\tbare = false\n[x]\n\ty = ${secret}\n`);
      symlinkSync(bench.at("outside/config"), bench.at("in/.git/config.worktree"));
      git("in", "config", "include.path", bench.at("outside/config"));
      const { stdout, git: left } = await change("cat .git/config .git/config.worktree; git config -l", ".git");
      expect(stdout).not.toContain(secret);
      expect(left?.leftOut).toEqual(["include.path"]);
    });
  });

  describe("history", () => {
    beforeEach(() => {
      bench.put("in/vault/.env", `KEY=${secret}\n`);
      git("in/vault", "init", "-q");
      git("in/vault", "add", "-f", ".env");
      git("in/vault", "commit", "-qm", "x");
    });

    test("is hidden where the index names a file that hides, and shown where it is asked for", async () => {
      const line = "git -C vault show HEAD:.env; git -C vault cat-file --batch-all-objects --batch; git show HEAD:a.txt";
      const ran = await look(line);
      expect(ran.stdout).toBe("one\n");
      expect(ran.git).toEqual({ leftOut: [], withoutObjects: ["vault/.git"] });
      expect((await look(line, [".git"])).stdout).toContain(secret);
    });

    test.each([
      ["`.git`, opened", ".git", "git update-index --force-remove .env; rm -f .git/index"],
      ["another name", "dotgit", "GIT_DIR=dotgit git rm -qf --cached .env; rm dotgit/index; mv dotgit/index i; mv dotgit other"],
    ])("stays hidden whatever a command does with the index in %s", async (_, name, line) => {
      if (name !== ".git") execFileSync("mv", [bench.at("in/vault/.git"), bench.at(`in/vault/${name}`)]);
      const show = `git -C vault --git-dir=${name} show HEAD:.env; git -C vault --git-dir=other show HEAD:.env`;
      expect((await look(show, [".git"])).stdout).toContain(secret);
      await change(`cd vault; ${line}`, ".git");
      expect((await look(show)).stdout).toBe("");
    });

    test.each(["in", "in/sub"])("is hidden where the index names a file of a scope that asks: %s", async (folder) => {
      if (folder !== "in") git("in", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bench.at("in"), "sub");
      bench.put(`${folder}/keys/x`, secret);
      git(folder, "add", "keys/x");
      const scopes = await bench.open([{}, { name: "keys", root: bench.at(`${folder}/keys`), readApproval: true }]);
      const line = `git -C ../${folder} show :keys/x`;
      const show = async (reads: readonly string[]) => bench.bash(line, { scopes, rights: { writes: [], reads } });
      expect((await show([])).stdout).toBe("");
      expect((await show([".git"])).stdout).toBe(secret);
    });

    test("is hidden in what it is borrowed from, too", async () => {
      git("in", "clone", "-q", "--shared", "vault", "borrower");
      git("in/vault", "rm", "-q", "--cached", ".env");
      const line = "git -C vault show HEAD:.env; git -C borrower show HEAD:.env";
      expect((await look(line)).stdout).toBe("");
      expect((await look(line, [".git"])).stdout).toContain(secret);
    });

    test("is shown where names are made to be published", async () => {
      bench.put("in/.env.example", "KEY=\n");
      git("in", "add", "-f", ".env.example");
      expect((await look("git show :.env.example")).stdout).toBe("KEY=\n");
    });

    test.each([2, 3, 4])("is hidden for an index of version %i", async (version) => {
      git("in/vault", "add", "-N", "-f", ".env");
      git("in/vault", "update-index", `--index-version=${version}`);
      expect((await look("git -C vault show HEAD:.env")).stdout).toBe("");
    });

    test("is hidden for an index that is split", async () => {
      git("in/vault", "update-index", "--split-index");
      expect((await look("git -C vault show HEAD:.env")).stdout).toBe("");
    });
  });

  describe("with `.git` opened", () => {
    test("runs nothing that the repository names", async () => {
      script("in/evil", "touch ran; cat");
      script("in/.git/hooks/pre-commit", "touch ran");
      git("in", "config", "core.hooksPath", ".git/hooks");
      git("in", "config", "commit.gpgSign", "true");
      git("in", "config", "gpg.program", "./evil");
      git("in", "config", "diff.d.textconv", "./evil");
      git("in", "config", "merge.m.driver", "./evil");
      git("in", "config", "core.fsmonitor", "./evil");
      git("in", "config", "alias.z", "!touch ran");
      bench.put("in/.gitattributes", "* diff=d merge=m\n");
      const ran = await change("git status --short; git diff; git commit -qam next; git z; git log -1 --format=%s", ".git");
      expect(ran.stdout).toContain("next\n");
      expect(existsSync(bench.at("in/ran"))).toBe(false);
      expect(ran.git?.leftOut).toContain("diff.d.textconv");
      expect(ran.git?.leftOut).toContain("commit.gpgsign");
    });

    test("never stages what a filter would have hidden", async () => {
      git("in", "config", "filter.crypt.clean", "tr a-z A-Z");
      bench.put("in/.gitattributes", "*.key filter=crypt\n");
      bench.put("in/x.key", secret);
      const ran = await change("git add -A", ".git");
      expect(ran.exitCode).not.toBe(0);
      expect(git("in", "ls-files")).toBe("a.txt\n");
      expect(ran.git?.leftOut).toEqual(["filter.crypt.clean"]);
    });

    test("takes in what a configuration includes, without what starts programs", async () => {
      bench.put("in/shared.ini", "[user]\n\tname = Included\n[alias]\n\tz = !touch ran\n");
      git("in", "config", "include.path", "../shared.ini");
      const ran = await change("git commit -qam next; git log -1 --format=%an; git z", ".git");
      expect(ran.stdout).toBe("Included\n");
      expect(existsSync(bench.at("in/ran"))).toBe(false);
      expect(ran.git?.leftOut).toEqual(["alias.z"]);
    });

    test("keeps configuration and hooks, and the folder that they are in", async () => {
      script("in/evil", "true");
      const line = [
        "git config a.b c; cp evil .git/hooks/pre-commit; mkdir -p .git/modules/x; cp evil .git/modules/x/config",
        "echo '* filter=x' > .git/info/attributes; echo /etc > .git/objects/info/alternates; rm -rf .git/info",
        "mkdir -p .git/modules/y/info .git/modules/y/objects/info; echo x | tee .git/modules/y/{info/attributes,objects/info/alternates}",
        "mkdir -p .git/{remotes/team,branches,modules/y/remotes}; echo URL: /evil | tee .git/{remotes/{team/x,origin},modules/y/remotes/x}",
        "echo /evil > .git/branches/x; cp .git/config .git/config.lock",
        "echo ../evil > .git/commondir; cp evil .git/config.worktree; mv .git old; mkdir .git; cp -r old/. .git",
      ].join("; ");
      const steering = ["info/attributes", "objects/info/alternates"];
      await change(line, ".git");
      expect(existsSync(bench.at("in/old"))).toBe(false);
      for (const name of [
        "hooks/pre-commit",
        "commondir",
        "config.worktree",
        "modules/x/config",
        "config.lock",
        "branches/x",
        ...["remotes/team/x", "remotes/origin", "modules/y/remotes/x"],
        ...steering,
        ...steering.map((name) => `modules/y/${name}`),
      ]) {
        expect(existsSync(bench.at(`in/.git/${name}`)), name).toBe(false);
      }
      expect(git("in", "config", "-l")).not.toContain("a.b");
      expect(git("in", "log", "--format=%s")).toBe("first\n");
    });

    test("leaves no links through which the next command of git writes elsewhere", async () => {
      bench.put("in/victim", "kept\n");
      git("in", "branch", "side/x");
      symlinkSync("config", bench.at("in/.git/own"));
      const links = ["COMMIT_EDITMSG", "logs/HEAD", "FETCH_HEAD", "objects/00", "refs/tags/t", "logs/refs/heads/side/x"];
      const line = links.map((link) => `rm -rf .git/${link}; ln -s "$PWD/victim" .git/${link}`).join("; ");
      const ran = await change(`${line}; echo planted > .git/MERGE_MSG`, ".git");
      expect([...ran.movedAside].sort()).toEqual(links.map((link) => `s/.git/${link}`).sort());
      git("in", "commit", "-qam", "next", "--no-edit");
      git("in", "checkout", "-q", "side/x");
      expect(bench.read("in/victim")).toBe("kept\n");
      expect(existsSync(bench.at("in/.git/own"))).toBe(true);
      expect(git("in", "symbolic-ref", "HEAD")).toBe("refs/heads/side/x\n");
    });

    test("writes refs whose folders are called remotes or branches", async () => {
      git("in", "init", "-q", bench.at("in/deep/sub"));
      git("in/deep/sub", "commit", "--allow-empty", "-qm", "x");
      git("in", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bench.at("in/deep/sub"), "own");
      git("in/own", "branch", "branches/x");
      const line = "git -C own update-ref refs/remotes/origin/new HEAD; git -C own branch branches/y";
      expect(await change(`${line}; git -C own branch -f branches/x HEAD`, ".git")).toMatchObject({
        exitCode: 0,
        movedAside: [],
      });
      expect(git("in/own", "for-each-ref", "--format=%(refname:short)")).toMatch(/branches\/x\nbranches\/y\n(.*\n)*origin\/new/);
    });

    test("runs hooks where they are opened, also those that the configuration names", async () => {
      script("in/.git/hooks/pre-commit", "touch ran");
      expect(await change("git commit -qam next", ".git", ".git/hooks")).toMatchObject({ exitCode: 0 });
      expect(existsSync(bench.at("in/ran"))).toBe(true);
      script("in/own/pre-commit", "touch own-ran");
      git("in", "config", "core.hooksPath", "own");
      bench.put("in/a.txt", "three\n");
      expect(await change("git commit -qam next", ".git", ".git/hooks")).toMatchObject({ exitCode: 0 });
      expect(existsSync(bench.at("in/own-ran"))).toBe(true);
    });

    test("changes the configuration where it is opened", async () => {
      await change("git config a.b c; git remote add o https://example.org/x", ".git");
      expect(git("in", "config", "-l")).not.toContain("example.org");
      const ran = await change("git config a.b c; git branch -m renamed", ".git", ".git/config");
      expect(ran).toMatchObject({ exitCode: 0 });
      expect(git("in", "config", "a.b")).toBe("c\n");
      expect(git("in", "branch", "--show-current")).toBe("renamed\n");
    });
  });
});
