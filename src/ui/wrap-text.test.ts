import { describe, expect, it } from "vitest";
import { cutText, wrapWords } from "./wrap-text.ts";

describe("wrapWords", () => {
  it("breaks between words, and inside a word that is longer than a line", () => {
    expect(wrapWords("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapWords("a abcdefghij b", 4)).toEqual(["a", "abcd", "efgh", "ij b"]);
    expect(wrapWords("", 4)).toEqual([""]);
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
