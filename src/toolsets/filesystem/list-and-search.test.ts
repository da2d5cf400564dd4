import { describe, expect, test } from "vitest";
import { bench, failure } from "../../../tests/conformance/file-tools-bench.ts";

describe("list_files and search_files", () => {
  const files = { "/s/a.md": "one\ntwo", "/s/b/c.md": "x two two", "/s/b/d.bin": new Uint8Array([0, 1]), "/t/e.md": "two" };

  test("list sorted and capped, and say what was cut", async () => {
    const { run } = await bench({ s: {}, t: {} }, files, { max_entries: 2 });
    expect(await run("list_files", { path: "s", pattern: "**/*.md" })).toEqual({
      files: ["s/a.md", "s/b/c.md"],
      truncated: false,
    });
    expect(await run("list_files", {})).toMatchObject({
      files: ["s/a.md", "s/b/c.md"],
      truncated: true,
      note: expect.any(String),
    });
    expect((await failure(run("list_files", { path: "s/a.md" }))).type).toBe("not_a_directory");
    expect((await failure(run("list_files", { path: "s", pattern: "../*" }))).type).toBe("invalid_path");
  });

  test("search gives path, line and text, in folders or one file", async () => {
    const { run } = await bench({ s: {}, t: {} }, files);
    expect(await run("search_files", { regex: "tw." })).toEqual({
      matches: [
        { path: "s/a.md", line: 2, text: "two" },
        { path: "s/b/c.md", line: 1, text: "x two two" },
        { path: "t/e.md", line: 1, text: "two" },
      ],
      truncated: false,
      skipped_files: 1,
    });
    expect(await run("search_files", { path: "s/a.md", regex: "^o" })).toMatchObject({ matches: [{ line: 1 }] });
    expect((await failure(run("search_files", { regex: "(" }))).type).toBe("invalid_arguments");
  });

  test("both count names that no path can hold", async () => {
    const unnameable = { "/s/b\nc": "x", "/s/d\\e": "x", "/s/f\ufffd": "x", "/s/\ud800": "x", "/s/\udc00\ud800": "x" };
    const { run } = await bench({ s: {} }, { "/s/a": "x", "/s/😀": "x", ...unnameable });
    const left_out = { reason: "no path can hold these names", count: 5 };
    const files = ["s/a", "s/😀"];
    expect(await run("list_files", {})).toEqual({ files, truncated: false, left_out });
    expect(await run("search_files", { regex: "x" })).toMatchObject({ matches: files.map((path) => ({ path })), left_out });
  });

  test("search stops at its cap and says so", async () => {
    const { run } = await bench({ s: {} }, { "/s/a": "x\nx\nx", "/s/b": "x" }, { max_entries: 2 });
    expect(await run("search_files", { regex: "x" })).toMatchObject({ matches: [{ line: 1 }, { line: 2 }], truncated: true });
  });

  test("a long line is shown around the match", async () => {
    const { run } = await bench({ s: {} }, { "/s/a": `${"y".repeat(5000)}needle${"z".repeat(5000)}` });
    const { matches } = await run("search_files", { regex: "needle" });
    expect(JSON.stringify(matches)).toContain("needle");
    expect(JSON.stringify(matches).length).toBeLessThan(400);
  });

  test("a search keeps the order of the paths, and no file is too far in", async () => {
    const many = Object.fromEntries(Array.from({ length: 21_000 }, (_, index) => [`/s/b/${index}`, "y"]));
    const { run } = await bench({ s: {} }, { ...many, "/s/a": "x", "/s/b/10000": "x", "/s/c": "x", "/s/b.x": "x" });
    const paths = ["s/a", "s/b.x", "s/b/10000", "s/c"];
    expect(await run("search_files", { regex: "x" })).toMatchObject({
      matches: paths.map((path) => ({ path })),
      truncated: false,
    });
  });

  test.each([
    ["^b$", "a\nb\nab", [2]],
    ["b(?!\\s)", "ab\nb c", [1]],
    ["(?<!\\s)b", "a\nb", [2]],
    ["a[^x]b", "a\nb", []],
    ["a\\sb", "a\nb", []],
    ["\\Bb", "a\nb\nab", [3]],
    ["^\\s*$", "a\n\n b", [2]],
    ["a$", "\uFEFFa\r\nab\ra", [1, 3]],
  ])("search %s looks at each line by itself", async (regex, text, lines) => {
    const { run } = await bench({ s: {} }, { "/s/a": text });
    expect(await run("search_files", { regex })).toMatchObject({ matches: lines.map((line) => ({ line })) });
  });

  test("neither shows what asks to be read", async () => {
    const { run } = await bench({ s: {} }, { "/s/.env": "two", "/s/.git/config": "two", "/s/a": "two" });
    expect(await run("search_files", { regex: "two", pattern: "{.*,**/*,.git/*}" })).toMatchObject({
      matches: [{ path: "s/a" }],
    });
  });
});
