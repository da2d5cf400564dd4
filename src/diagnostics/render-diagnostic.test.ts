import stringWidth from "string-width";
import { expect, test } from "vitest";
import { diagnose } from "./diagnose.ts";
import { renderDiagnostic, renderDiagnostics } from "./render-diagnostic.ts";
import type { Source, Span } from "./source.ts";
import { toJsonDiagnostic } from "./to-json-diagnostic.ts";

function spanOf(text: string, part: string): Span {
  const source: Source = { name: "main.worker", text };
  const start = text.indexOf(part);
  return { source, start, end: start + part.length };
}

function render(text: string, part: string): string {
  return renderDiagnostic(diagnose("unknown-key", { message: "m", span: spanOf(text, part) }), stringWidth);
}

test("shows what, where, and the notes with their own places", () => {
  const text = "---\nname: a\ntoolset:\n---\n";
  const notes = [{ message: "did you mean `toolsets`?" }, { message: "see here", span: { ...spanOf(text, "name") } }];
  const diagnostic = diagnose("unknown-key", { message: "unknown key `toolset`", span: spanOf(text, "toolset"), notes });
  expect(renderDiagnostic(diagnostic)).toBe(
    [
      "error[unknown-key]: unknown key `toolset`",
      " --> main.worker:3:1",
      "  |",
      "3 | toolset:",
      "  | ^^^^^^^",
      "  = note: did you mean `toolsets`?",
      "  = note: see here",
      " --> main.worker:2:1",
      "  |",
      "2 | name: a",
      "  | ^^^^",
    ].join("\n"),
  );
});

test("needs no place, and shows an example line by line", () => {
  const diagnostic = diagnose("missing-key", { message: "m", notes: [{ message: "write:\na: 1\n  b: 2" }] });
  expect(renderDiagnostics([diagnostic, diagnostic]).split("\n\n")[1]).toBe(
    ["error[missing-key]: m", "  = note: write:", "          a: 1", "            b: 2"].join("\n"),
  );
});

test("the carets stand under what is meant, after tabs, wide and invisible characters", () => {
  expect(render("\tkey: x", "key").split("\n").slice(3)).toEqual(["1 |   key: x", "  |   ^^^"]);
  expect(render("日本: 😀 key", "key").split("\n").slice(3)).toEqual(["1 | 日本: 😀 key", "  |          ^^^"]);
  expect(render("e\u0301 key", "key").split("\n").slice(3)).toEqual(["1 | e\u0301 key", "  |   ^^^"]);
  expect(render("a\u202ekey", "key").split("\n").slice(3)).toEqual(["1 | a\\u{202E}key", "  |          ^^^"]);
});

test("a place of no width gets one caret, one of many lines is marked on its first", () => {
  expect(render("key:", "").split("\n").at(-1)).toBe("  | ^");
  expect(render("key: |\n a\n b", "|\n a").split("\n").at(-1)).toBe("  |      ^");
});

test("a wide line is cut around the place", () => {
  const line = `${"x".repeat(500)}HERE${"y".repeat(500)}`;
  const [shown = "", carets = ""] = render(line, "HERE").split("\n").slice(3);
  expect(shown).toBe(`1 | …${"x".repeat(60)}HERE${"y".repeat(40)}…`);
  expect(shown.slice(carets.indexOf("^"), carets.length)).toBe("HERE");
  expect(render(`${"😀".repeat(200)}k`, "k")).not.toContain("\\u{D");
  expect(render("z".repeat(500), "z".repeat(500)).split("\n").at(-1)).toBe(`  | ${"^".repeat(80)}`);
});

test("nothing of a source reaches the terminal as it is", () => {
  const source: Source = { name: "\x1b[2J.worker", text: "\x1b[31mkey\u200b" };
  const diagnostic = diagnose("unknown-key", {
    message: "\x1b]0;title\x07",
    span: { source, start: 0, end: 5 },
    notes: [{ message: "\u202enote" }],
  });
  expect(renderDiagnostic(diagnostic)).not.toMatch(/[\x1b\x07\u202e\u200b]/);
});

test("as JSON it has lines and columns from 1, and an end", () => {
  const text = "a: 1\nbb: 2\n";
  const notes = [{ message: "first", span: spanOf(text, "a") }, { message: "second" }];
  const diagnostic = diagnose("duplicate-key", { message: "twice\u202e", span: spanOf(text, "bb"), notes });
  expect(toJsonDiagnostic(diagnostic)).toEqual({
    code: "duplicate-key",
    severity: "error",
    message: "twice\\u{202E}",
    file: "main.worker",
    line: 2,
    column: 1,
    endLine: 2,
    endColumn: 3,
    notes: [{ message: "first", file: "main.worker", line: 1, column: 1, endLine: 1, endColumn: 2 }, { message: "second" }],
  });
});
