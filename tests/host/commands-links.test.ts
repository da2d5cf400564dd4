import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
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
    ["that leads to nothing yet", "later.json", "echo x > later.json"],
    ["through another link", "through", "ln -sfn free through"],
    ["through a folder that can be swapped", "way/in/file", "mv way old; mkdir -p way/in; echo x > way/in/file"],
  ])("moves a link aside %s once a command gave it another target", async (_, target, script) => {
    bench.put("in/free", "x\n");
    bench.put("outside/ours", "{}");
    symlinkSync("../outside/ours", bench.at("in/through"));
    mkdirSync(bench.at("in/way"));
    symlinkSync("../../outside", bench.at("in/way/in"));
    symlinkSync("ours", bench.at("outside/file.json"));
    symlinkSync(target, bench.at("in/package.json"));
    expect((await change("true")).movedAside).toEqual([]);
    expect((await change(script)).movedAside).toEqual(["s/package.json"]);
    expect(existsSync(bench.at("in/package.json"))).toBe(false);
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
