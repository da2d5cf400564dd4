import { describe, expect, test } from "vitest";
import type { Scopes } from "../../src/host/scopes/scopes.ts";
import { bytes, type HostFixture, text, useHost } from "./host-bench.ts";

/** Tests writing, the rights of files, and lists. */
export function describeScopeWriting(createFixture: () => Promise<HostFixture>): void {
  const { fixture, at, declare, open, refusal } = useHost(createFixture);

  describe(`scopes, writing`, () => {
    test("makes folders, creates, replaces, and returns what the next write expects", async () => {
      const scopes = await open(declare("out", "o"));
      const first = await scopes.write("out/a/b/c.txt", bytes("one"), { expect: undefined });
      const second = await scopes.write("out/a/b/c.txt", bytes("two"), { expect: first.identity });
      expect(second).toMatchObject({ virtualPath: "out/a/b/c.txt", bytes: 3 });
      expect(second.identity).not.toBe(first.identity);
      expect(await fixture.host.files.readText(at("o/a/b/c.txt"))).toBe("two");
      expect(await fixture.host.files.names(at("o/a/b"))).toEqual(["c.txt"]);
    });

    test("completes a write that is under way when the scopes are closed, and leaves no temporary", async () => {
      const names: string[] = [];
      for (let index = 0; index < 20; index++) {
        await fixture.put("o", { folder: true });
        const scopes = await fixture.host.openScopes([declare("out", "o")]);
        const writing = scopes.write(`out/${index}.txt`, bytes("text"), { expect: undefined });
        // Each time a little later, so that the write is closed at another of its stages.
        for (let turn = 0; turn < index; turn++) await fixture.host.files.kind(at("o"));
        await scopes.close();
        await writing;
        names.push(...(await fixture.host.files.names(at("o"))));
      }
      expect(names.filter((name) => name.startsWith("."))).toEqual([]);
      expect(names.filter((name) => name === "19.txt")).toHaveLength(1);
    });

    test("refuses where the file is another one than the caller judged", async () => {
      await fixture.put("o/x", "old");
      const scopes = await open(declare("out", "o"));
      const { identity } = await scopes.facts("out/x");
      expect((await refusal(scopes.write("out/x", bytes("new"), { expect: undefined }))).type).toBe("changed");
      expect((await refusal(scopes.write("out/none", bytes("new"), { expect: identity }))).type).toBe("changed");
      await fixture.put("o/x", "changed");
      expect((await refusal(scopes.write("out/x", bytes("new"), { expect: identity }))).type).toBe("changed");
      expect(await fixture.host.files.readText(at("o/x"))).toBe("changed");
      expect(await fixture.host.files.names(at("o"))).toEqual(["x"]);
    });

    test("of several writes at once that expect the same, one succeeds", async () => {
      await fixture.put("o/x", "old");
      const scopes = await Promise.all([1, 2, 3].map(() => open(declare("out", "o"))));
      const { identity } = await (scopes[0] as Scopes).facts("out/x");
      for (const [name, expected] of [
        ["out/x", identity],
        ["out/new", undefined],
      ] as const) {
        const writes = scopes.map(async (one, n) => one.write(name, bytes(`${n}`), { expect: expected }).then(() => n));
        const settled = await Promise.allSettled(writes);
        const [winner, ...others] = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
        expect(others).toEqual([]);
        expect(text((await (scopes[0] as Scopes).read(name)).bytes)).toBe(`${winner}`);
        expect(settled.flatMap((one) => (one.status === "rejected" ? [one.reason.type] : []))).toEqual(["changed", "changed"]);
      }
      expect(await fixture.host.files.names(at("o"))).toEqual(["new", "x"]);
    });

    test("appends, and of several appends at once each is there", async () => {
      const scopes = await Promise.all([1, 2, 3].map(() => open(declare("out", "o"))));
      const lines = Array.from({ length: 30 }, (_, n) => `${n}\n`);
      const done = await Promise.all(lines.map((line, n) => scopes[n % 3]?.append("out/a/log", bytes(line))));
      expect(done.filter((one) => one?.created)).toHaveLength(1);
      const written = await fixture.host.files.readText(at("o/a/log"));
      expect(written.split("\n").filter(Boolean).toSorted()).toEqual(lines.map((line) => line.trim()).toSorted());
      expect(Math.max(...done.map((one) => one?.facts.bytes ?? 0))).toBe(written.length);
      expect(await fixture.host.files.names(at("o/a"))).toEqual(["log"]);
    });

    test("an append keeps to the limits of a write", async () => {
      await fixture.put("o/x.md", "12345");
      await fixture.put("i/x.md", "x");
      const scopes = await open(declare("out", "o", { maxFileBytes: 8, suffixes: [".md"] }), declare("in", "i", { mode: "ro" }));
      expect((await refusal(scopes.append("out/x.md", bytes("6789")))).type).toBe("file_too_large");
      expect((await refusal(scopes.append("out/x.txt", bytes("6")))).type).toBe("suffix_not_allowed");
      expect((await refusal(scopes.append("in/x.md", bytes("6")))).type).toBe("path_not_writable");
      expect((await refusal(scopes.append("out", bytes("6")))).type).toBe("not_a_file");
      expect(await scopes.append("out/x.md", bytes("678"))).toMatchObject({ created: false, facts: { bytes: 8 } });
      expect(await fixture.host.files.readText(at("o/x.md"))).toBe("12345678");
    });

    test("a read-only scope names the writable ones", async () => {
      await fixture.put("i/x", "x");
      const scopes = await open(declare("in", "i", { mode: "ro" }), declare("out", "o"));
      const error = await refusal(scopes.write("in/new/x", bytes("x"), { expect: undefined }));
      expect(error).toMatchObject({ type: "path_not_writable", details: { writable: ["out"] } });
      expect((await refusal(scopes.inspect("in/x", "write"))).type).toBe("path_not_writable");
      expect([await scopes.canWrite("in/x"), await scopes.canWrite("out/new/file")]).toEqual([false, true]);
      expect(await fixture.host.files.names(at("i"))).toEqual(["x"]);
      expect([scopes.readable(), scopes.writable()]).toEqual([["in", "out"], ["out"]]);
    });
  });

  describe(`scopes in scopes`, () => {
    test("the deepest root decides, under every name", async () => {
      await fixture.put("all/a.md", "a");
      await fixture.put("all/out/b.md", "b");
      const scopes = await open(declare(".", "all", { mode: "ro" }), declare("out", "all/out", { suffixes: [".md"] }));
      expect(await scopes.facts("out/b.md")).toMatchObject({ virtualPath: "out/b.md", scope: { name: "out" } });
      expect(await scopes.facts(".:out/b.md")).toMatchObject({ virtualPath: "out/b.md", scope: { name: "out" } });
      await scopes.write(".:out/new/c.md", bytes("c"), { expect: undefined });
      expect((await refusal(scopes.write(".:out/c.exe", bytes("c"), { expect: undefined }))).type).toBe("suffix_not_allowed");
      expect((await refusal(scopes.write("a.md", bytes("c"), { expect: undefined }))).type).toBe("path_not_writable");
      expect(scopes.covered(".").map((scope) => scope.name)).toEqual([".", "out"]);
      expect(scopes.covered("out").map((scope) => scope.name)).toEqual(["out"]);
      expect(scopes.covered(".:out/new").map((scope) => scope.name)).toEqual(["out"]);
    });

    test("a read-only scope in a writable one stays read-only, even when its folder is gone", async () => {
      await fixture.put("all/fixed/a", "a");
      const scopes = await open(declare("all", "all"), declare("fixed", "all/fixed", { mode: "ro" }));
      expect((await refusal(scopes.write("all/fixed/a", bytes("x"), { expect: undefined }))).type).toBe("path_not_writable");
      expect((await refusal(scopes.write("all/fixed/b/c", bytes("x"), { expect: undefined }))).type).toBe("path_not_writable");
      await fixture.host.files.remove(at("all/fixed"));
      expect((await refusal(scopes.write("all/fixed/b", bytes("x"), { expect: undefined }))).type).toBe("changed");
      expect((await refusal(scopes.write("all/fixed", bytes("x"), { expect: undefined }))).type).toBe("changed");
      await fixture.put("all/fixed/a", "another folder");
      // Only a held descriptor can tell the new folder from the old one where the disk uses inode numbers again.
      const again = await refusal(scopes.write("all/fixed/a", bytes("x"), { expect: undefined }));
      expect(["changed", "path_not_writable"]).toContain(again.type);
      expect(await fixture.host.files.readText(at("all/fixed/a"))).toBe("another folder");
    });

    test("lists see nested scopes, once, and can be kept to some", async () => {
      await fixture.put("all/a.md", "a");
      await fixture.put("all/out/b.md", "b");
      const scopes = await open(declare("all", "all"), declare("out", "all/out"));
      const list = (path: string, only?: string[]) =>
        scopes.list(path, { pattern: "**/*", maxEntries: 9, ...(only === undefined ? {} : { scopes: only }) });
      expect((await list("all")).paths).toEqual(["all/a.md", "all/out/b.md"]);
      expect((await list(".")).paths).toEqual(["all/a.md", "out/b.md"]);
      expect((await list("all", ["all"])).paths).toEqual(["all/a.md"]);
      expect((await list("all", ["out"])).paths).toEqual(["all/out/b.md"]);
    });
  });

  describe(`protected names`, () => {
    test("the program's own files and what would join them cannot be written", async () => {
      await fixture.put("program/main.worker", "w");
      await fixture.put("program/help.ts", "t");
      await fixture.put("program/free.ts", "t");
      const scopes = await open(declare(".", "program"), declare("around", ""));
      for (const path of [
        "main.worker",
        "help.ts",
        "new.worker",
        "deep/new.worker",
        "tools.ts",
        "TOOLS.JS",
        "llm-do.yaml",
        "tools/index.ts",
      ]) {
        for (const spelling of [path, `around/program/${path}`]) {
          expect(scopes.protection(scopes.resolve(spelling))).toBe("program");
          expect(await scopes.canWrite(spelling)).toBe(false);
          const { identity } = (await scopes.inspect(spelling, "write")).facts ?? {};
          expect((await refusal(scopes.write(spelling, bytes("evil"), { expect: identity }))).type).toBe("path_protected");
        }
      }
      expect(await scopes.canRead("main.worker")).toBe(true);
      expect(await scopes.canWrite("free.ts")).toBe(true);
      expect(scopes.protection(scopes.resolve("around/elsewhere/tools.ts"))).toBeUndefined();
      expect(scopes.protection(scopes.resolve("around/elsewhere/x.worker"))).toBe("ask-write");
    });

    test.each([
      [".env", "ask-read-and-write"],
      [".env.local", "ask-read-and-write"],
      [".ENV", "ask-read-and-write"],
      [".git/config", "ask-read-and-write"],
      ["a/.GIT/hooks/pre-commit", "ask-read-and-write"],
      [".git.", "ask-read-and-write"],
      [".git ", "ask-read-and-write"],
      [".g\u200cit/config", "ask-read-and-write"],
      ["．ｇｉｔ/config", "ask-read-and-write"],
      [".llm-do/runs/x", "ask-read-and-write"],
      ["package.json", "ask-write"],
      ["Package.JSON", "ask-write"],
      [".bashrc", "ask-write"],
      [".vscode/settings.json", "ask-write"],
      [".github/workflows/ci.yml", "ask-write"],
      ["environment.md", undefined],
      ["git/config", undefined],
      ["tools.ts", undefined],
    ])("%s: %s", async (path, protection) => {
      const scopes = await open(declare("s", "plain"));
      expect(scopes.protection(scopes.resolve(`s/${path}`))).toBe(protection);
    });

    test.each([
      ...[".cargo/config.toml", ".mvn/jvm.config", ".bundle/config", ".pnp.cjs", ".yarn/releases/yarn.cjs", ".devcontainer.json"],
      ...[
        "x.code-workspace",
        "lefthook.yaml",
        ".lefthook.yml",
        ".pre-commit-config.yml",
        "mise.toml",
        ".mise.local.toml",
        ".hgrc",
      ],
      ...[
        ".gdbinit",
        ".tmux.conf",
        ".Rprofile",
        ".irbrc",
        ".curlrc",
        ".wgetrc",
        ".nvim.lua",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
      ],
      ...["CLAUDE.md", "sub/AGENTS.md", ".cursorrules", ".eslintrc.cjs", ".mcp.json", ".config/nvim/init.lua", "Jenkinsfile"],
    ])("%s asks before it is written", async (path) => {
      const scopes = await open(declare("s", "plain"));
      expect(scopes.protection(scopes.resolve(`s/${path}`))).toBe("ask-write");
    });

    /** Paths that an everyday task writes. */
    test.each([
      ...[
        "README.md",
        "notes.md",
        "docs/claude-notes.md",
        "docs/agent-design.md",
        "src/index.ts",
        "src/config.ts",
        "config/app.yml",
      ],
      ...[
        "Makefile",
        "Dockerfile",
        "docker-compose.yml",
        "tsconfig.json",
        "eslint.config.js",
        "vite.config.ts",
        "pyproject.toml",
      ],
      ...["conftest.py", "setup.py", "build.gradle", "Cargo.toml", "go.mod", "requirements.txt", ".gitignore", ".dockerignore"],
      ...[
        ".yarn/cache/x.zip",
        ".cargo/registry/x",
        ".bundle/cache/x",
        ".gradle/8.0/x.bin",
        ".local/share/x",
        "data.init",
        "src/.cache/x",
      ],
      ...[
        ".github/CODEOWNERS",
        ".github/ISSUE_TEMPLATE/bug.md",
        ".github/dependabot.yml",
        "rules.md",
        "my.rules",
        "mcp.md",
        "model.pth",
      ],
    ])("%s is written like any other", async (path) => {
      const scopes = await open(declare("s", "plain"));
      expect(scopes.protection(scopes.resolve(`s/${path}`))).toBeUndefined();
    });
  });

  describe(`lists`, () => {
    test("sorted by code unit, filtered, capped at the same place every time", async () => {
      for (const path of [
        "b/x.md",
        "b.md",
        "a.md",
        "B.md",
        "b-c.md",
        "b/y/z.md",
        "ä.md",
        ".hidden/x.md",
        ".hidden.md",
        "n.txt",
      ]) {
        await fixture.put(`d/${path}`, "x");
      }
      const scopes = await open(declare("s", "d"));
      const { paths, truncated } = await scopes.list("s", { pattern: "**/*.md", maxEntries: 99 });
      expect(truncated).toBe(false);
      expect(paths).toEqual(["s/B.md", "s/a.md", "s/b-c.md", "s/b.md", "s/b/x.md", "s/b/y/z.md", "s/ä.md"]);
      expect([...paths].sort()).toEqual(paths);
      expect(await scopes.list("s", { pattern: "**/*.md", maxEntries: 3 })).toMatchObject({
        paths: paths.slice(0, 3),
        truncated: true,
      });
      expect(await scopes.list("s", { pattern: "**/*.md", maxEntries: 7 })).toMatchObject({ paths, truncated: false });
      expect((await scopes.list("s/b", { pattern: "*", maxEntries: 9 })).paths).toEqual(["s/b/x.md"]);
      expect((await scopes.list("s", { pattern: "{b,.hidden}/*.md", maxEntries: 9 })).paths).toEqual([
        "s/.hidden/x.md",
        "s/b/x.md",
      ]);
    });

    test("goes 200 folders down, and names what it did not look into; there it can begin anew", async () => {
      const deep = Array.from({ length: 202 }, (_, level) => `d${level}`).join("/");
      await fixture.put(`o/${deep}/low.txt`, "x");
      await fixture.put("o/top.txt", "x");
      const scopes = await open(declare("out", "o"));
      const cut = `out/${deep.slice(0, deep.lastIndexOf("/"))}`;
      const listed = await scopes.list("out", { pattern: "**", maxEntries: 10 });
      expect(listed).toEqual({ paths: ["out/top.txt"], truncated: true, tooDeep: [cut], unnameable: 0 });
      const below = await scopes.list(cut, { pattern: "**", maxEntries: 10 });
      expect(below).toEqual({ paths: [`out/${deep}/low.txt`], truncated: false, tooDeep: [], unnameable: 0 });
      const one = await scopes.list("out", { pattern: "*", maxEntries: 10 });
      expect(one).toEqual({ paths: ["out/top.txt"], truncated: false, tooDeep: [], unnameable: 0 });
    });

    test("what asks before it is read is left out, unless the list begins in it", async () => {
      for (const path of [".git/config", ".git/refs/x", ".env", "a.md"]) await fixture.put(`d/${path}`, "x");
      const scopes = await open(declare("s", "d"));
      const list = async (path: string, pattern: string) => (await scopes.list(path, { pattern, maxEntries: 9 })).paths;
      expect(await list("s", "{.git/**,.env,*}")).toEqual(["s/a.md"]);
      expect(await list("s/.git", "**/*")).toEqual(["s/.git/config", "s/.git/refs/x"]);
    });

    test("only what may be read: suffixes, pipes and links aside", async () => {
      for (const path of ["a.md", "a.key"]) await fixture.put(`d/${path}`, "x");
      await fixture.put("d/pipe.md", { other: true });
      const scopes = await open(declare("s", "d", { suffixes: [".md"] }));
      expect((await scopes.list("s", { pattern: "*", maxEntries: 9 })).paths).toEqual(["s/a.md"]);
    });

    test("a folder that a named scope hides is spelt so that it can be read", async () => {
      await fixture.put("all/decks/x", "hidden");
      await fixture.put("all/a", "a");
      await fixture.put("d/x", "named");
      const scopes = await open(declare(".", "all"), declare("decks", "d"));
      const { paths } = await scopes.list(".", { pattern: "**/*", maxEntries: 9 });
      expect(paths).toEqual([".:decks/x", "a"]);
      expect(text((await scopes.read(".:decks/x")).bytes)).toBe("hidden");
      expect(text((await scopes.read("decks/x")).bytes)).toBe("named");
    });

    test("a nested scope named after its folder needs no prefix", async () => {
      await fixture.put("all/out/x", "x");
      await fixture.put("all/a", "a");
      const scopes = await open(declare(".", "all", { mode: "ro" }), declare("out", "all/out"));
      expect((await scopes.list(".", { pattern: "**/*", maxEntries: 9 })).paths).toEqual(["a", "out/x"]);
    });

    test("stops when told to", async () => {
      await fixture.put("d/a", "x");
      const scopes = await open(declare("s", "d"));
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(scopes.list("s", { pattern: "*", maxEntries: 9, signal })).rejects.toThrow("enough");
    });

    test("refuses patterns that leave the folder", async () => {
      const scopes = await open(declare("s", "d"));
      for (const pattern of ["../*", "/etc/*", "a/../../*", "{a,b}".repeat(9)]) {
        expect((await refusal(scopes.list("s", { pattern, maxEntries: 9 }))).type).toBe("invalid_path");
      }
    });
  });
}
