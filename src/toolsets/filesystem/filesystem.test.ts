import { describe, expect, test } from "vitest";
import { bench, failure } from "../../../tests/conformance/file-tools-bench.ts";
import type { WorkerRuntime } from "../toolset.ts";
import { filesystem } from "./filesystem.ts";

describe("config", () => {
  const check = async (value: unknown) => filesystem.config?.validate(value);

  test("fills in what is missing", async () => {
    expect(await check({})).toEqual({ ok: true, value: { max_chars: 20_000, max_entries: 1000, max_search_seconds: 10 } });
    expect(await check(null)).toMatchObject({ ok: true });
    expect(await check({ scopes: ["a"], max_chars: 5 })).toMatchObject({ value: { scopes: ["a"], max_chars: 5 } });
  });

  test("refuses unknown keys with the nearest, and wrong values", async () => {
    expect(await check({ max_char: 1 })).toEqual({
      ok: false,
      issues: [{ path: ["max_char"], message: "is unknown; did you mean `max_chars`?" }],
    });
    for (const wrong of [[], "x", { scopes: "a" }, { scopes: [1] }, { max_chars: 0 }, { max_entries: 1.5 }]) {
      expect(await check(wrong)).toMatchObject({ ok: false });
    }
  });
});

describe("tools", () => {
  test("say which scopes they can use; without a writable one nothing writes", async () => {
    const both = await bench({ in: { mode: "ro" }, out: {} }, { "/in/a": "x" });
    expect(both.tools.map((tool) => [tool.name, tool.sideEffect])).toEqual([
      ["read_file", false],
      ["write_file", true],
      ["append_file", true],
      ["edit_file", true],
      ["list_files", false],
      ["search_files", false],
    ]);
    expect(both.tools[0]?.description).toContain("Paths begin with: in/, out/.");
    expect(both.tools[1]?.description).toContain("Paths begin with: out/.");
    const readOnly = await bench({ in: { mode: "ro" } }, { "/in/a": "x" });
    expect(readOnly.tools.map((tool) => tool.name)).toEqual(["read_file", "list_files", "search_files"]);
  });
});

describe("read_file", () => {
  test("gives the whole of a small file", async () => {
    const { run } = await bench({ s: {} }, { "/s/a.md": "\ufeffhéllo" });
    expect(await run("read_file", { path: "s:a.md" })).toEqual({ content: "héllo", truncated: false, total_chars: 5, offset: 0 });
  });

  test("reads on in pieces that part no character, to the end", async () => {
    const text = "a😀b😀c";
    const { run } = await bench({ s: {} }, { "/s/a": text });
    for (const max_chars of [1, 2, 3]) {
      let whole = "";
      let offset: unknown = 0;
      for (let n = 0; offset !== undefined && n < 20; n++) {
        const part = await run("read_file", { path: "s/a", offset: offset as number, max_chars });
        expect(String(part["content"]).isWellFormed()).toBe(true);
        whole += part["content"];
        offset = part["next_offset"];
        if (part["truncated"] === true) expect(part["note"]).toContain(`offset: ${offset}`);
      }
      expect(whole).toBe(text);
    }
    expect(await run("read_file", { path: "s/a", offset: 2, max_chars: 2 })).toMatchObject({ offset: 1, content: "😀" });
    expect(await run("read_file", { path: "s/a", offset: 99 })).toMatchObject({ content: "", truncated: false, total_chars: 7 });
  });

  test("never gives more than its configuration says", async () => {
    const { run, prepare } = await bench({ s: {} }, { "/s/a": "abcdef" }, { max_chars: 4 });
    expect(await run("read_file", { path: "s/a", max_chars: 100 })).toMatchObject({ content: "abcd", next_offset: 4 });
    expect((await prepare("read_file", { path: "s/a" })).args).toEqual({ path: "s/a", offset: 0, max_chars: 4 });
  });

  test("what is not text can be an attachment", async () => {
    const { run } = await bench({ s: {} }, { "/s/a.pdf": Buffer.from("%PDF-1.7\0"), "/s/latin": Buffer.from([0xe9, 0x20]) });
    expect(await failure(run("read_file", { path: "s/a.pdf" }))).toMatchObject({
      type: "not_text",
      hint: expect.stringContaining("attachment"),
      details: { media_type: "application/pdf", bytes: 9 },
    });
    expect(await failure(run("read_file", { path: "s/latin" }))).toMatchObject({ type: "not_text" });
  });

  test("refuses at once what no answer could allow", async () => {
    const large = await bench({ s: { maxFileBytes: 3, readApproval: true } }, { "/s/a": "four" });
    expect((await failure(large.prepare("read_file", { path: "s/a" }))).type).toBe("file_too_large");
    const { prepare } = await bench(
      { s: { suffixes: [".md"] } },
      { "/s/a.md": "x", "/s/b": "x", "/s/link.md": { link: "/etc/passwd" } },
    );
    for (const [path, type] of [
      ["/etc/passwd", "path_outside_scope"],
      ["s/../x", "path_outside_scope"],
      ["s/link.md", "path_outside_scope"],
      ["s/b", "suffix_not_allowed"],
      ["s/c.md", "not_found"],
      ["s", "not_a_file"],
    ] as const) {
      expect((await failure(prepare("read_file", { path }))).type).toBe(type);
    }
  });
});

describe("write_file", () => {
  test("makes and replaces, shows what it would do, and says what it did", async () => {
    const { run, prepare, host } = await bench({ s: {} }, { "/s/old": "one\ntwo\n" });
    const made = await prepare("write_file", { path: "s/new/a.md", content: "x".repeat(1234) });
    expect(filesystem.describeCall?.(made)).toBe("Write 1,234 characters to s/new/a.md (new file)");
    expect(filesystem.preview?.(made)).toMatchObject({ type: "new-file", path: "s/new/a.md", bytes: 1234 });
    expect(host.snapshot("/s")).toEqual({ "/s/old": "one\ntwo\n" });
    const replaced = await prepare("write_file", { path: "s/old", content: "three\n" });
    expect(filesystem.preview?.(replaced)).toEqual({ type: "diff", path: "s/old", before: "one\ntwo\n", after: "three\n" });
    expect(await run("write_file", { path: "s/new/a.md", content: "é" })).toEqual({
      path: "s/new/a.md",
      bytes: 2,
      created: true,
    });
    expect(await run("write_file", { path: "s/old", content: "three\n" })).toMatchObject({ created: false });
    expect(host.snapshot("/s")).toEqual({ "/s/new/a.md": "é", "/s/old": "three\n" });
  });

  test("keeps the line ends of the file that it replaces", async () => {
    const { run, host } = await bench({ s: {} }, { "/s/dos": "a\r\nb\r\n", "/s/mixed": "a\r\nb\n" });
    for (const path of ["s/dos", "s/mixed"]) await run("write_file", { path, content: "x\ny\n" });
    expect(host.snapshot("/s")).toEqual({ "/s/dos": "x\r\ny\r\n", "/s/mixed": "x\ny\n" });
  });

  test("does nothing where the file changed after it was judged", async () => {
    const { prepare, host, scopes, tools } = await bench({ s: {} }, { "/s/a": "old" });
    const first = await prepare("write_file", { path: "s/a", content: "mine" });
    host.put("/s/a", "theirs");
    const again = await prepare("write_file", { path: "s/a", content: "mine" });
    expect(again.preparation.facts).not.toEqual(first.preparation.facts);
    const runtime = { scopes, signal: new AbortController().signal } as unknown as WorkerRuntime;
    const write = tools.find((tool) => tool.name === "write_file");
    const late = Promise.resolve(write?.execute(first.args, runtime, first.preparation.payload));
    expect((await failure(late)).type).toBe("changed");
    expect(host.snapshot("/s")).toEqual({ "/s/a": "theirs" });
  });

  test("refuses half characters, read-only scopes and too much, before any question", async () => {
    const { prepare } = await bench({ s: { maxFileBytes: 3 }, in: { mode: "ro" } }, { "/in/a": "x" });
    expect((await failure(prepare("write_file", { path: "s/a", content: "\ud800" }))).type).toBe("invalid_arguments");
    expect(await failure(prepare("write_file", { path: "s/a", content: "four" }))).toMatchObject({
      type: "file_too_large",
      details: { max_file_bytes: 3 },
    });
    expect(await failure(prepare("write_file", { path: "in/a", content: "x" }))).toMatchObject({
      type: "path_not_writable",
      hint: "Writable: s/.",
    });
  });
});

describe("append_file", () => {
  test("adds to the end as it is, of bytes too", async () => {
    const { run, host } = await bench({ s: {} }, { "/s/log": "a\r\n", "/s/bytes": new Uint8Array([0xff]) });
    await run("append_file", { path: "s/log", content: "b\n" });
    await run("append_file", { path: "s/new", content: "first" });
    expect(await run("append_file", { path: "s/bytes", content: "x" })).toMatchObject({ bytes: 2 });
    expect(host.snapshot("/s")).toMatchObject({ "/s/log": "a\r\nb\n", "/s/new": "first" });
  });
});

describe("edit_file", () => {
  test("replaces the one place, and keeps line ends and the byte order mark", async () => {
    const { run, prepare, host } = await bench({ s: {} }, { "/s/a": "\ufeffone\r\ntwo\r\nthree\r\n" });
    const call = await prepare("edit_file", { path: "s/a", old_text: "one\ntwo", new_text: "1\n2" });
    expect(filesystem.preview?.(call)).toMatchObject({ type: "diff", after: "1\r\n2\r\nthree\r\n" });
    await run("edit_file", { path: "s/a", old_text: "one\ntwo", new_text: "1\n2" });
    expect(await host.files.readText("/s/a")).toBe("\ufeff1\r\n2\r\nthree\r\n");
  });

  test("needs exactly one match, and says how many there are", async () => {
    const { prepare } = await bench({ s: {} }, { "/s/a": "aaa b" });
    const edit = (old_text: string, new_text = "x") => failure(prepare("edit_file", { path: "s/a", old_text, new_text }));
    expect(await edit("c")).toMatchObject({ type: "edit_no_match", details: { matches: 0 } });
    expect(await edit("aa")).toMatchObject({ type: "edit_many_matches", details: { matches: 2 } });
    expect((await edit("b", "b")).type).toBe("invalid_arguments");
    expect((await failure(prepare("edit_file", { path: "s/c", old_text: "a", new_text: "b" }))).type).toBe("not_found");
  });

  test("tells nothing of a file that asks to be read before somebody was asked", async () => {
    const { prepare, run } = await bench(
      { s: { readApproval: true, writeApproval: false } },
      { "/s/a": "secret secret", "/s/.env": "K=1" },
    );
    for (const [path, old_text] of [
      ["s/a", "secret"],
      ["s/a", "wrong"],
      ["s/.env", "wrong"],
    ] as const) {
      const args = { path, old_text, new_text: "x" };
      const call = await prepare("edit_file", args);
      expect(filesystem.needsApproval?.(call)).toMatchObject({ type: "needs-approval", by: "rule" });
      expect(JSON.stringify([call.preparation.facts, call.args, filesystem.describeCall?.(call)])).not.toMatch(/match|times/);
      expect((await failure(run("edit_file", args))).type).toMatch(/^edit_/);
    }
  });
});

describe("what is asked", () => {
  const rule = { type: "needs-approval", by: "rule" };
  const byDefault = { type: "needs-approval", by: "default" };
  const free = { type: "pre-approved" };
  const blocked = { type: "blocked" };
  const write = (path: string) => ["write_file", { path, content: "x" }] as const;
  const read = (path: string) => ["read_file", { path }] as const;

  test.each([
    [write("plain/a"), byDefault],
    [write("asks/a"), rule],
    [write("free/new"), free],
    [["append_file", { path: "free/new", content: "x" }] as const, free],
    [write("free/.env"), rule],
    [write("free/package.json"), rule],
    [write("free/.GIT/config"), rule],
    [write("free/x.worker"), rule],
    [write("program/x.worker"), blocked],
    [write("program/TOOLS.ts"), blocked],
    [read("plain/a"), free],
    [read("asks/a"), rule],
    [read("plain/.env"), rule],
    [read("plain/package.json"), free],
    [read("program/main.worker"), free],
    [["edit_file", { path: "asksToRead/a", old_text: "x", new_text: "y" }] as const, rule],
    [["list_files", { path: "plain" }] as const, free],
    [["list_files", { path: "asks" }] as const, rule],
    [["list_files", {}] as const, rule],
    [["list_files", { path: "plain/.git" }] as const, rule],
    [["search_files", { path: "outer", regex: "x" }] as const, rule],
  ])("%j: %o", async ([tool, args], verdict) => {
    const { judge } = await bench(
      {
        plain: {},
        asks: { writeApproval: true, readApproval: true },
        asksToRead: { writeApproval: false, readApproval: true },
        free: { writeApproval: false },
        program: { writeApproval: false },
        outer: {},
        inner: { root: "/outer/inner", readApproval: true },
      },
      {
        "/plain/a": "x",
        "/plain/.env": "x",
        "/plain/.git/config": "x",
        "/plain/package.json": "{}",
        "/asks/a": "x",
        "/asksToRead/a": "x",
        "/program/main.worker": "x",
        "/outer/inner/a": "x",
      },
    );
    expect(await judge(tool, args)).toMatchObject(verdict);
  });
});

describe("an instance that sees some scopes", () => {
  test("reaches no other, by no name, and does not name them", async () => {
    const { run, prepare, tools } = await bench(
      { ".": { root: "/all" }, seen: { root: "/all/seen" }, hidden: { root: "/all/seen/hidden" } },
      { "/all/a": "x", "/all/seen/b": "x", "/all/seen/hidden/c": "x" },
      { scopes: ["seen"] },
    );
    expect(tools[0]?.description).toContain("Paths begin with: seen/.");
    for (const path of ["a", "hidden/c", "seen/hidden/c", ".:seen/hidden/c"]) {
      for (const call of [prepare("read_file", { path }), prepare("write_file", { path, content: "x" })]) {
        const error = await failure(call);
        expect(error).toMatchObject({ type: "path_outside_scope", details: { readable: ["seen"], writable: ["seen"] } });
        expect(error.hint).not.toContain("hidden");
      }
    }
    expect((await failure(prepare("list_files", { path: "hidden" }))).type).toBe("path_outside_scope");
    const readOnly = await bench({ in: { mode: "ro" }, out: {} }, { "/in/a": "x" }, { scopes: ["in"] });
    expect(readOnly.tools.map((tool) => tool.name)).not.toContain("write_file");
    expect(await run("read_file", { path: ".:seen/b" })).toMatchObject({ content: "x" });
    expect(await run("list_files", { path: "seen" })).toEqual({ files: ["seen/b"], truncated: false });
    expect(await run("search_files", { path: "seen", regex: "x" })).toMatchObject({ matches: [{ path: "seen/b" }] });
  });
});
