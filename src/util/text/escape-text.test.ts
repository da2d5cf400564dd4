import fc from "fast-check";
import { expect, test } from "vitest";
import { escapeControls, escapeText, unescapeText } from "./escape-text.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))).map((units) => units.join("")),
  fc
    .array(
      fc.constantFrom("\\", "\\u{41}", "u{", "}", "\u202e", "\u200b", "\ud800", "\udc00", "\n", "\r", "\t", "\x1b[2J", "é", "😀"),
    )
    .map((parts) => parts.join("")),
);

test("an escaped text reads back as the text", () => {
  fc.assert(fc.property(anyText, (text) => unescapeText(escapeText(text)) === text));
  fc.assert(fc.property(anyText, (text) => unescapeText(escapeText(text, { keepNewlines: true })) === text));
});

test("an escaped text has nothing that a terminal obeys or hides", () => {
  const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
  fc.assert(fc.property(anyText, (text) => !hidden.test(escapeText(text))));
  fc.assert(fc.property(anyText, (text) => !hidden.test(escapeText(text, { keepNewlines: true }).replaceAll("\n", ""))));
});

test.each([
  ["\x1b[2J", "\\u{1B}[2J"],
  ["\x9b", "\\u{9B}"],
  ["a\u202eb", "a\\u{202E}b"],
  ["\u2066", "\\u{2066}"],
  ["\u200b\u2060\ufeff", "\\u{200B}\\u{2060}\\u{FEFF}"],
  ["\u{e0041}", "\\u{E0041}"],
  ["\u3164", "\\u{3164}"],
  ["\u2028", "\\u{2028}"],
  ["\ud800", "\\u{D800}"],
  ["a\nb", "a\\u{A}b"],
  ["e\u0301 \u0338", "e\u0301 \u0338"],
  ["\u20d2-", "\\u{20D2}-"],
  ["\n\u0301x", "\\u{A}\\u{301}x"],
  ["\\\u0338", "\\\\\\u{338}"],
  ["a\u0301\u0302\u0303\u0304\u0305\u0306b", "a\u0301\u0302\u0303\u0304\\u{305}\\u{306}b"],
  ["\u0e17\u0e35\u0e48", "\u0e17\u0e35\u0e48"],
  ["C:\\x", "C:\\\\x"],
  ["naïve 日本 😀", "naïve 日本 😀"],
])("%j is shown as %j", (text, shown) => {
  expect(escapeText(text)).toBe(shown);
});

test("line feeds and backslashes can stay", () => {
  expect(escapeText("a\r\n\\b", { keepNewlines: true, keepBackslashes: true })).toBe("a\\u{D}\n\\b");
});

test("control characters alone can be shown", () => {
  expect(escapeControls("a\tb\r\n\r\x1b[2J\x9b\x7f\u202e \\ \u{1f469}\u200d\u{1f469}\n")).toBe(
    "a\tb\r\n\\u{D}\\u{1B}[2J\\u{9B}\\u{7F}\u202e \\ \u{1f469}\u200d\u{1f469}\n",
  );
});
