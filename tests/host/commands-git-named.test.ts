import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { noWall, useCommands } from "./command-bench.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-home-")));

/** What configurations of git name, each looked for by what the user's next git does. */
describe.skipIf(noWall !== "")("files that git's configuration names", () => {
  const bench = useCommands({ homeDirectory: home });
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", bench.at("in"), ...args], { stdio: "pipe", env: { PATH: process.env["PATH"], HOME: home } });
  const change = (line: string, ...unprotected: string[]) =>
    bench.bash(line, { rights: { writes: [bench.scopes.resolve("s")], reads: [] }, unprotected });
  const evil = (path: string) =>
    `mkdir -p $(dirname ${path}); printf '#!/bin/sh\\ntouch ran; cat\\n' > ${path}; chmod +x ${path}`;
  const put = (path: string) => {
    bench.put(path, "#!/bin/sh\ncat\n");
    chmodSync(bench.at(path), 0o755);
  };

  beforeEach(() => {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(join(home, ".config/git"), { recursive: true });
    git("init", "-q", "-b", "main");
    git("config", "user.name", "a");
    git("config", "user.email", "a@b");
    bench.put("in/a.txt", "one\n");
    git("add", "a.txt");
    git("commit", "-qm", "first");
    bench.put("in/a.txt", "two\n");
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test.each([".gitconfig", ".config/git/config"])("of the user, in ~/%s", async (name) => {
    const include = `[include]\n\tpath = ${bench.at("in/team/config")}\n[includeIf "onbranch:main"]\n\tpath = ${bench.at("in/later")}\n`;
    writeFileSync(join(home, name), `${include}[core]\n\thooksPath = team/hooks\n[alias]\n\tst = !./team/st\n`);
    put("in/team/config");
    bench.put("in/team/config", "[user]\n\tname = ours\n");
    const config = "printf '[core]\\n\\tfsmonitor = touch ran\\n' >";
    const opened = await change(`${config} team/config; ${config} later`, ".git", ".git/config");
    expect(opened.movedAside).toEqual(["s/later"]);
    const ran = await change(`${config} later; ${evil("team/hooks/pre-commit")}; ${evil("team/st")}`);
    expect(ran.movedAside).toContain("s/later");
    expect(() => git("st")).toThrow();
    git("status");
    git("commit", "-qam", "next");
    expect(existsSync(bench.at("in/ran"))).toBe(false);
  });

  test("of the user, where ~/.gitconfig is a link into a scope", async () => {
    bench.put("in/dotfiles/gitconfig", "[user]\n\tname = ours\n");
    symlinkSync(bench.at("in/dotfiles/gitconfig"), join(home, ".gitconfig"));
    await change("echo x > dotfiles/gitconfig; echo x > dotfiles/vimrc");
    expect(bench.read("in/dotfiles/gitconfig")).toBe("[user]\n\tname = ours\n");
    expect(bench.read("in/dotfiles/vimrc")).toBe("x\n");
  });

  test("of the repository, in a way that git starts them", async () => {
    for (const path of ["tools/watch", "tools/clean.sh", "st", "editor.py", "own/textconv", "attributes"]) put(`in/${path}`);
    git("config", "core.fsmonitor", "tools/watch");
    git("config", "filter.x.clean", "sh tools/clean.sh %f");
    git("config", "alias.st", "!st; PATH=. st");
    git("config", "core.editor", "python3 editor.py");
    git("config", "diff.d.textconv", `'${bench.at("in/own/textconv")}' --x`);
    git("config", "credential.helper", "!./later/helper get");
    git("config", "core.attributesFile", "attributes");
    bench.put("in/.git/info/attributes", "* filter=x diff=d\n");
    const paths = ["tools/watch", "tools/clean.sh", "st", "editor.py", "own/textconv", "attributes", "later/helper"];
    const ran = await change(`${paths.map(evil).join("\n")}\n${evil("tools/free")}`);
    expect(ran.movedAside).toEqual(["s/later/helper"]);
    bench.put("in/a.txt", "three\n");
    for (const line of ["status", "add a.txt", "diff --cached", "st", "credential fill"]) {
      try {
        git(...line.split(" "));
      } catch {
        // What it starts can fail.
      }
    }
    expect(existsSync(bench.at("in/ran"))).toBe(false);
    expect(existsSync(bench.at("in/tools/free"))).toBe(true);
  });

  test.each([
    ["with a blank", "core.editor", "'my tools/ed'", "my tools/ed"],
    ["with a blank that is escaped", "filter.z.clean", "my\\ tools/f %f", "my tools/f"],
    ["with a blank, at its place", "gpg.program", "PLACE/my tools/gpg", "my tools/gpg"],
    ["glued to an option", "alias.t", "!make -ftools/dev.sh all", "tools/dev.sh"],
    ["of a module without its suffix", "alias.n", "!node -r./tools/x y", "tools/x.js"],
    ["behind a setting of a command", "alias.l", "-c core.pager=tools/pager -p log", "tools/pager"],
    ["behind a command that finds the top", "alias.u", "!$(git rev-parse --show-toplevel)/tools/u z", "tools/u"],
    ["from the home of a user", "core.fsmonitor", "~root/..PLACE/tools/w", "tools/w"],
  ])("by a path %s", async (_, key, value, path) => {
    put(`in/${path}`);
    git("config", key, value.replace("PLACE", bench.at("in")));
    await change(`echo changed > '${path}'; echo changed > '${path}.free'`);
    expect(bench.read(`in/${path}`)).toBe("#!/bin/sh\ncat\n");
    expect(bench.read(`in/${path}.free`)).toBe("changed\n");
  });

  test("of a submodule, by its own work tree", async () => {
    const sub = bench.at("in/deep/sub");
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bench.at("in"), "deep/sub");
    git("-C", sub, "config", "core.fsmonitor", "tools/watch");
    git("-C", sub, "config", "core.hooksPath", "hooks");
    put("in/deep/sub/tools/watch");
    await change(`cd deep/sub; ${evil("tools/watch")}; ${evil("hooks/pre-commit")}`);
    git("-C", sub, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "next");
    git("-C", sub, "status");
    expect(existsSync(join(sub, "ran"))).toBe(false);
  });

  test("but not those that are called like words of them", async () => {
    git("config", "alias.l", "log --oneline -- src/a.ts");
    git("config", "alias.m", "!git log main docs");
    git("config", "remote.origin.url", "./remote");
    const paths = ["log", "main", "git", "src/a.ts", "docs/x", "remote"];
    for (const path of paths) bench.put(`in/${path}`, "one\n");
    await change(paths.map((path) => `echo two > ${path}`).join("; "));
    for (const path of paths) expect(bench.read(`in/${path}`), path).toBe("two\n");
  });

  test("and hides of them what asks before it is read", async () => {
    bench.put("in/.env", "KEY=hunter2x\n");
    git("config", "alias.s", "!. ./.env; true");
    expect((await change("cat .env; true")).stdout).toBe("");
  });
});
