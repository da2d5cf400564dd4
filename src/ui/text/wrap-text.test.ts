import { describe, expect, it } from "vitest";
import { cutText, wrapLines, wrapWords } from "./wrap-text.ts";

describe("wrapWords", () => {
  it("breaks between words, and inside a word that is longer than a line", () => {
    expect(wrapWords("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapWords("a abcdefghij b", 4)).toEqual(["a", "abcd", "efgh", "ij b"]);
    expect(wrapWords("", 4)).toEqual([""]);
  });
});

describe("wrapLines", () => {
  it("breaks the lines of a message between words, and leaves what fits", () => {
    const message = '"yes, but not the second file" is no answer. Answer with a, r, e, d or s.\n  below\n';
    expect(wrapLines(message, 60)).toEqual([
      '"yes, but not the second file" is no answer. Answer with a,',
      "r, e, d or s.",
      "  below",
    ]);
  });
});

describe("cutText", () => {
  it("loses nothing, and breaks after a space where one is near", () => {
    const text = "evaluate every pitch deck  in-the-input-folder-of-this-program";
    const lines = cutText(text, 20);
    expect(lines).toEqual(["evaluate every ", "pitch deck  ", "in-the-input-folder-", "of-this-program"]);
    expect(lines.join("")).toBe(text);
  });

  it("counts columns, not characters, and keeps characters whole", () => {
    expect(cutText("日本語", 4)).toEqual(["日本", "語"]);
    expect(cutText("👍👍👍", 4)).toEqual(["👍👍", "👍"]);
    expect(cutText("日", 1)).toEqual(["日"]);
  });
});
