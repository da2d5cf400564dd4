import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
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

  test("moves new links in an opened .git aside, whatever they stand for", async () => {
    git("init", "-q", "--template=");
    mkdirSync(bench.at("in/em/sub/hooks"), { recursive: true });
    bench.put("in/em/sub/config", "[core]\n");
    const links = ["modules", "info", "objects/info", "worktrees", "remotes", "branches"];
    const script = links.map((name) => `rm -rf .git/${name}; ln -s $PWD/em .git/${name}`).join("; ");
    const { movedAside } = await change(script, ".git");
    expect([...movedAside].sort()).toEqual(links.map((name) => `s/.git/${name}`).sort());
    const { movedAside: own } = await change("ln -s em .git/own; git add em", ".git");
    expect(own).toEqual(["s/.git/own"]);
  });

  test("holds what a git configuration includes, folders of hooks, and the ways to them", async () => {
    git("init", "-q");
    for (const file of ["d/real", "d/r2", "d/plain"]) bench.put(`in/${file}`, "[user]\n\tname = ours\n");
    bench.put("in/d/mid", "[include]\n\tpath = deeper/r3\n");
    symlinkSync("d/real", bench.at("in/linc"));
    symlinkSync("d", bench.at("in/dl"));
    mkdirSync(bench.at("in/myhooks"));
    mkdirSync(bench.at("in/deep"));
    symlinkSync("../deep", bench.at("in/d/deeper"));
    for (const path of ["../linc", "../dl/r2", "../d/mid", "../d/plain", "../later/x"])
      git("config", "--add", "include.path", path);
    git("config", "core.hooksPath", "myhooks");
    const evil = "printf '[core]\\nfsmonitor = evil\\n'";
    const { putBack, movedAside } = await change(
      [
        ...["linc", "dl/r2", "d/plain", "d/mid", "deep/r3"].map((file) => `${evil} >> ${file}`),
        `rm linc dl d/deeper; mkdir dd; for n in real r2 r3 x; do ${evil} > dd/$n; done; ln -s dd dl; ln -s dd later; ln -s dd/r2 linc`,
        "mv d d2; echo evil > myhooks/post-commit; mv myhooks other; echo free > free",
      ].join("; "),
    );
    expect([...(putBack ?? [])].sort()).toEqual(["s/d/deeper", "s/dl", "s/linc"]);
    expect([...movedAside].sort()).toEqual(["s/deep/r3", "s/dl", "s/later", "s/linc"]);
    expect(git("config", "--includes", "--list").toString()).not.toContain("evil");
    expect([readdirSync(bench.at("in/myhooks")), bench.read("in/free")]).toEqual([[], "free\n"]);
  });

  test("puts links back that a file .git or a commondir leads through", async () => {
    mkdirSync(bench.at("in/store"));
    execFileSync("git", ["init", "-q", "--separate-git-dir", bench.at("in/store/adm"), bench.at("in/w")]);
    symlinkSync("store", bench.at("in/gl"));
    bench.put("in/w/.git", "gitdir: ../gl/adm\n");
    const { putBack, movedAside } = await change("rm gl; mkdir -p st2; cp -r store/adm st2/; ln -s st2 gl");
    expect([putBack, movedAside]).toEqual([["s/gl"], ["s/gl"]]);
    expect(readlinkSync(bench.at("in/gl"))).toBe("store");
  });

  test("keeps links from the roots of scopes, of others too, and from files of the program by any path", async () => {
    for (const path of ["secret/deep/f", "real/f", "data/f", "fr/real.md"]) bench.put(`in/${path}`, "ours\n");
    symlinkSync("real", bench.at("in/rl"));
    symlinkSync("fr/real.md", bench.at("in/x.md"));
    symlinkSync("in", bench.at("way"));
    const scopeRoots = [bench.at("in"), bench.at("in/rl"), bench.at("in/data")];
    const declarations = [{}, { name: "rl", root: bench.at("in/rl") }];
    const scopes = await bench.open(declarations, { programFiles: [bench.at("way/x.md")], scopeRoots });
    const script = "rm rl x.md; ln -s secret/deep rl; mv data d2; ln -s secret/deep data; echo evil > x.md";
    const rights = { writes: [scopes.resolve("s")], reads: [] };
    const { putBack, movedAside } = await bench.bash(script, { scopes, rights });
    expect([[...(putBack ?? [])].sort(), [...movedAside].sort()]).toEqual([
      ["s/rl", "s/x.md"],
      ["s/data", "s/rl", "s/x.md"],
    ]);
    expect([bench.read("in/rl/f"), bench.read("in/x.md"), existsSync(bench.at("in/data"))]).toEqual(["ours\n", "ours\n", false]);
  });

  test("puts back the links by which a bare repository is known", async () => {
    execFileSync("git", ["init", "-q", "--bare", bench.at("in/store")]);
    execFileSync("git", ["-C", bench.at("in/store"), "config", "remote.o.url", "https://u:canary@h/x"]);
    renameSync(bench.at("in/store/objects"), bench.at("in/o"));
    symlinkSync("../o", bench.at("in/store/objects"));
    expect((await change("rm store/objects")).putBack).toEqual(["s/store/objects"]);
    expect((await look("cat store/config")).stdout).not.toContain("canary");
  });

  test("closes what protected links outside of the folder of writes lead to", async () => {
    bench.put("in/conf/n", "ours\n");
    bench.put("in/vs/tasks.json", "ours\n");
    bench.put("in/w/.git", "gitdir: ../conf/gitless\n");
    for (const [name, text] of [
      [".npmrc", "conf/n"],
      [".bashrc", "conf/none"],
      [".vscode", "vs"],
    ] as const)
      symlinkSync(text, bench.at(`in/${name}`));
    const script =
      "echo e >> conf/n; echo e > conf/none; mkdir -p conf/gitless; echo e > conf/free; echo e >> vs/tasks.json; echo e > vs/new";
    const rights = { writes: ["s/conf", "s/vs"].map((path) => bench.scopes.resolve(path)), reads: [] };
    const { movedAside } = await bench.bash(script, { rights });
    expect([...movedAside].sort()).toEqual(["s/conf/gitless", "s/conf/none", "s/vs/new"]);
    expect(["conf/n", "vs/tasks.json", "conf/free"].map((path) => bench.read(`in/${path}`))).toEqual(["ours\n", "ours\n", "e\n"]);
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
    expect((await change("echo x > later.json")).movedAside).toEqual(["s/later.json", "s/package.json"]);
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
