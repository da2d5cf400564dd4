import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { toPathBytes, toPathText } from "../../src/host/files/system-path.ts";
import { noWall, useCommands } from "./command-bench.ts";

/** In these paths `?` is the byte 0xff, which is no UTF-8 anywhere. Beside such a folder lies one that Node takes for the same. */
const toText = (path: string) => path.replaceAll("?", "\udcff");

/** Names are bytes: the wall holds in folders whose names are no UTF-8, too. */
describe.skipIf(noWall !== "" || process.platform !== "linux")("names that are no UTF-8", () => {
  const bench = useCommands({});
  const at = (path: string) => toPathBytes(bench.at(`in/${toText(path)}`));
  const put = (path: string, content: string) => {
    for (const one of [path, path.replaceAll("?", "\ufffd")]) {
      mkdirSync(at(dirname(one)), { recursive: true });
      writeFileSync(at(one), content);
    }
  };
  const read = (path: string) => readFileSync(at(path), "utf8");
  const git = (folder: string, args: string) =>
    execFileSync("bash", ["-c", `git -C "$(printf %b "$0")" ${args}`, bench.at(`in/${folder.replaceAll("?", "\\xff")}`)]);
  const look = (script: string, more: object = {}) => bench.bash(script, { rights: { writes: [], reads: [] }, ...more });
  const change = (script: string, ...unprotected: string[]) =>
    bench.bash(script, { rights: { writes: [bench.scopes.resolve("s")], reads: [] }, unprotected });

  test.each(["?/.env", "a/b?/c/.env.local", ".env?", "?/node?/.env/inner", "?/?/.llm-do/x"])("hide %s", async (name) => {
    put(name, "canary");
    put("?/plain", "text");
    const script = "grep -rsh '' .; echo .";
    for (const run of [look, change]) expect((await run(script)).stdout).toBe("text\ntext\n.\n");
    expect((await look(script, { hidesCredentials: true })).stdout).toBe("text\ntext\n.\n");
    if (await bench.host.commands.layers?.()) {
      const rights = { writes: [], reads: [], scratch: true };
      expect((await look(`mv $'\\xff' gone; ${script}`, { rights })).stdout).not.toContain("canary");
    }
  });

  test("hide what keys are called from servers, and credentials of repositories from all", async () => {
    put("?/.npmrc", "canary");
    mkdirSync(at("?/repo"), { recursive: true });
    git("?/repo", "init -q");
    git("?/repo", "config remote.o.url https://u:canary@h/x");
    expect((await look("grep -rsh canary .; echo .", { hidesCredentials: true })).stdout).toBe(".\n");
    expect((await look("cat */repo/.git/config | grep -c 'https://\\*\\*\\*@h/x'")).stdout).toBe("1\n");
  });

  test("hide what a link and a file `.git` lead to", async () => {
    put("?/conf", "canary");
    symlinkSync(at("?/conf"), bench.at("in/.env"));
    expect((await look("cat .env */conf; echo .")).stdout).toBe("canary.\n");
    mkdirSync(at("work"));
    git("work", "init -q");
    git("work", "config remote.o.url https://u:canary@h/x");
    execFileSync("mv", [bench.at("in/work/.git"), bench.at("in/meta")]);
    execFileSync("bash", ["-c", `cd "$0"; mv meta $'m\\xff'; printf 'gitdir: ../m\\xff' > work/.git`, bench.at("in")]);
    expect((await look("cat m*/config | grep -c canary; git -C work config remote.o.url")).stdout).toBe("0\nhttps://***@h/x\n");
  });

  test("keep protected names from being written, moved or hidden", async () => {
    const names = ["?/package.json", "a/?/.vscode/tasks.json", "?/sub/x.worker"];
    for (const name of names) put(name, "ours");
    mkdirSync(at("?/repo"));
    git("?/repo", "init -q");
    const before = read("?/repo/.git/config");
    const harm =
      "for f in $(find . -type f); do echo x >> $f; echo y > $f; rm -f $f; done; for f in */repo/.git; do mkdir -p $f/hooks; echo x > $f/hooks/pre-commit; done";
    for (const opened of [[], [".git"]]) await change(harm, ...opened);
    for (const name of names) for (const one of [name, name.replaceAll("?", "\ufffd")]) expect(read(one)).toBe("ours");
    expect(read("?/repo/.git/config")).toBe(before);
    expect(existsSync(at("?/repo/.git/hooks/pre-commit"))).toBe(false);
    const { movedAside } = await change(
      `mkdir -p $'n\\xff/.git/hooks' $'\\xff/.husky'; echo x > $'n\\xff/.envrc'; mv $'\\xff/package.json' y`,
    );
    expect(movedAside.toSorted()).toEqual(["s/n\ufffd/.envrc", "s/n\ufffd/.git", "s/\ufffd/.husky"]);
    expect(readdirSync(at("n?")).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("let no pipe in such a folder lead out", async () => {
    mkdirSync(at("?/x"), { recursive: true });
    execFileSync("bash", ["-c", `mkfifo "$0"/$'\\xff/x/pipe\\xfe'`, bench.at("in")]);
    expect((await look("[ -p */x/pipe* ] || echo hidden")).stdout).toBe("hidden\n");
  });

  test("name no file to file tools, which count them", async () => {
    put("?/.env", "canary");
    put("?/a", "canary");
    const options = { pattern: "**", maxEntries: 10 };
    const { paths, unnameable } = await bench.scopes.list("s", options);
    expect([paths, unnameable]).toEqual([[], 2]);
  });

  test("stand for their bytes, whatever they are", () => {
    const all = Buffer.from([...Array(255).keys()].map((index) => index + 1));
    for (const bytes of [
      all,
      Buffer.from("\xff€😀\xf0\x9f\x98", "latin1"),
      Buffer.from("ü😀\ufffd"),
      Buffer.of(0xed, 0xa0, 0x80, 0xc0, 0xae),
    ])
      expect(toPathBytes(toPathText(bytes))).toEqual(bytes);
  });
});
