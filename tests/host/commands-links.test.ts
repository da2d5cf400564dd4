import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { noWall, useCommands } from "./command-bench.ts";

/** A protected name that is a link, or a file that names a folder: what it leads to is protected as it would be itself. */
describe.skipIf(noWall !== "")("protected links", () => {
  const bench = useCommands({});
  const look = (script: string) => bench.bash(script, { rights: { writes: [], reads: [] } });
  const change = (script: string, ...unprotected: string[]) =>
    bench.bash(script, { rights: { writes: [bench.scopes.resolve("s")], reads: [] }, unprotected });
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", bench.at("in"), "-c", "user.name=a", "-c", "user.email=a@b", ...args], { stdio: "pipe" });

  test.each([".env", "sub/.env.local"])("hides what %s leads to", async (name) => {
    bench.put("in/conf/prod/keys", "canary\n");
    bench.put("in/plain", "text\n");
    mkdirSync(bench.at("in/sub"));
    symlinkSync(bench.at("in/chain"), bench.at(`in/${name}`));
    symlinkSync("conf/prod/keys", bench.at("in/chain"));
    const script = `cat ${name} chain conf/prod/keys; mv conf gone; cat gone/prod/keys; cat plain`;
    expect((await look(script)).stdout).toBe("text\n");
    expect((await change(script)).stdout).toBe("text\n");
    expect(bench.read("in/conf/prod/keys")).toBe("canary\n");
  });

  test("keeps what a protected link leads to from being written, moved or replaced", async () => {
    bench.put("in/real/settings.json", "{}");
    bench.put("in/editor/tasks.json", "{}");
    symlinkSync("real/settings.json", bench.at("in/package.json"));
    symlinkSync("editor", bench.at("in/.vscode"));
    await change(
      "echo x > real/settings.json; echo x > package.json; mv real/settings.json gone; rm -rf real; mv real other; mkdir real; echo x > editor/tasks.json; touch .vscode/new; echo x > free",
    );
    expect(bench.read("in/real/settings.json")).toBe("{}");
    expect(readdirSync(bench.at("in/editor"))).toEqual(["tasks.json"]);
    expect(bench.read("in/editor/tasks.json")).toBe("{}");
    expect(bench.read("in/free")).toBe("x\n");
    await change("echo x > package.json", "package.json");
    expect(bench.read("in/real/settings.json")).toBe("x\n");
  });

  test.each([
    [".cargo", ".cargo", "config.toml"],
    [".github", ".github", "workflows/ci.yml"],
    ["a folder of two names", ".local/share", "applications/x.desktop"],
    ["tools", "tools", "bazel"],
  ])("moves a new link aside that would be the folder of a protected name: %s", async (_, link, file) => {
    bench.put(`in/theirs/${link}/${file}`, "ours\n");
    symlinkSync("free", bench.at("in/theirs/plain"));
    const place = `mkdir -p real/${dirname(file)}; echo evil > real/${file}; mkdir -p ${dirname(link)}`;
    const swap = `mv theirs/${link} theirs/old; ln -s ../real theirs/${link}`;
    const { movedAside } = await change(`${place}; ln -s $PWD/real ${link}; ${swap}; ln -sfn real plain`);
    expect(new Set(movedAside)).toEqual(new Set([`s/${link}`, `s/theirs/${link}`]));
    expect(bench.read(`in/theirs/old/${file}`)).toBe("ours\n");
    expect(existsSync(bench.at(`in/${link}`))).toBe(false);
  });

  test("puts a link back that is the folder of a protected name, and lets what it leads to be written", async () => {
    bench.put("in/gh/readme", "x");
    symlinkSync("gh", bench.at("in/.github"));
    const { putBack } = await change("rm .github; ln -s other .github; echo y > gh/readme");
    expect([putBack, bench.read("in/gh/readme")]).toEqual([["s/.github"], "y\n"]);
  });

  test("moves new links in an opened .git aside that stand for folders of it", async () => {
    git("init", "-q");
    mkdirSync(bench.at("in/em/sub/hooks"), { recursive: true });
    bench.put("in/em/sub/config", "[core]\n");
    const links = ["modules", "info", "objects/info", "worktrees", "remotes", "branches"];
    const script = links.map((name) => `mv .git/${name} .git/${name}2; ln -s $PWD/em .git/${name}`).join("; ");
    const { movedAside } = await change(script, ".git");
    expect([...movedAside].sort()).toEqual(links.map((name) => `s/.git/${name}`).sort());
    const { movedAside: none } = await change("ln -s em .git/own; git add em", ".git");
    expect(none).toEqual([]);
  });

  test("hides what links in hidden folders lead to", async () => {
    for (const path of ["keys/prod", "conf/aws", "gpg/k", "plain"]) bench.put(`in/${path}`, `${path}\n`);
    for (const folder of [".ssh", ".aws/deep", ".gnupg"]) mkdirSync(bench.at(`in/${folder}`), { recursive: true });
    symlinkSync("../keys/prod", bench.at("in/.ssh/id_rsa"));
    symlinkSync("id_rsa", bench.at("in/.ssh/other"));
    symlinkSync("../../conf/aws", bench.at("in/.aws/deep/credentials"));
    symlinkSync("../gpg", bench.at("in/.gnupg/private"));
    expect((await look("cat $(find . -type f)")).stdout).toBe("plain\n");
    expect((await change("mv gpg g2; cat $(find . -type f)")).stdout).toBe("plain\n");
  });

  test("moves a link aside that led to nothing once a command put something there", async () => {
    symlinkSync("later.json", bench.at("in/package.json"));
    expect((await change("true")).movedAside).toEqual([]);
    expect((await change("echo x > later.json")).movedAside).toEqual(["s/package.json"]);
    expect(existsSync(bench.at("in/package.json"))).toBe(false);
  });

  test.each([
    ["the link", "rm package.json", "package.json", false],
    ["the link, for a file", "rm package.json; echo x > package.json", "package.json", true],
    ["the link, for another one", "ln -sfn free package.json", "package.json", true],
    ["a link that it leads through", "ln -sfn free through", "through", true],
    ["a link to a folder that it leads through", "rm way/in; mkdir way/in; echo x > way/in/file", "way/in", true],
  ])("puts %s back", async (_, script, name, isMoved) => {
    bench.put("in/free", "x\n");
    bench.put("in/real/file", "ours\n");
    mkdirSync(bench.at("in/way"));
    symlinkSync("../real", bench.at("in/way/in"));
    symlinkSync("way/in/file", bench.at("in/through"));
    symlinkSync(bench.at("in/through"), bench.at("in/package.json"));
    expect(await change("true")).toMatchObject({ movedAside: [], putBack: undefined });
    const swap = "mv way other; chmod a-w .";
    expect(await change(`${script}; ${swap}`)).toMatchObject({
      movedAside: isMoved ? [`s/${name}`] : [],
      putBack: [`s/${name}`],
    });
    await change("echo x > real/file; echo x > package.json");
    expect(bench.read("in/package.json")).toBe("ours\n");
    expect(bench.read("in/real/file")).toBe("ours\n");
    expect(bench.read("in/free")).toBe("x\n");
  });

  test("hides what a link leads to after a command removed the link", async () => {
    bench.put("in/real/f.txt", "canary\n");
    bench.put("in/dd/key", "canary\n");
    mkdirSync(bench.at("in/sub"));
    symlinkSync("../real/f.txt", bench.at("in/sub/.env"));
    symlinkSync("step", bench.at("in/.ssh"));
    symlinkSync("dd", bench.at("in/step"));
    const { putBack } = await change("rm sub/.env step .ssh; mv sub node_modules; rm -r sub");
    expect(putBack).toEqual(["s/.ssh", "s/step", "s/sub/.env"]);
    expect((await look("cat real/f.txt dd/key")).stdout).toBe("");
  });

  test.each(["a link", "a file"])("protects the git directory that `.git` leads to as %s", async (kind) => {
    if (kind === "a link") {
      git("init", "-q");
      execFileSync("mv", [bench.at("in/.git"), bench.at("in/meta")]);
      symlinkSync("meta", bench.at("in/.git"));
    } else git("init", "-q", "--separate-git-dir", bench.at("in/meta"));
    bench.put("in/a", "a\n");
    const harm = "echo x >> meta/config; echo x > meta/hooks/pre-commit; mv meta old; git config a.b c";
    const before = bench.read("in/meta/config");
    expect((await change(`${harm}; echo x > meta/HEAD; echo x > meta/commondir; rm -rf meta`)).movedAside).toEqual([]);
    expect(bench.read("in/meta/HEAD")).not.toBe("x\n");
    const commit = "git -c user.name=a -c user.email=a@b commit --allow-empty -qm x";
    const { movedAside } = await change(`${harm}; ${commit}; echo x > meta/commondir`, ".git");
    expect(movedAside).toEqual(["s/meta/commondir"]);
    expect(bench.read("in/meta/config")).toBe(before);
    expect(existsSync(bench.at("in/meta/hooks/pre-commit"))).toBe(false);
    expect(lstatSync(bench.at("in/.git")).isDirectory()).toBe(false);
    expect(git("log", "--format=%s").toString()).toBe("x\n");
  });
});
