import { describe, expect, test } from "vitest";
import { findLookAlikes, findMixedWords } from "./look-alikes.ts";

const marked = (line: string, isCommand = false) =>
  findLookAlikes(line, isCommand).map(({ character, like }) => `${character}${like}`);

describe("look-alikes are found", () => {
  test.each([
    ["a Latin word with a letter of another script", "g\u0456t status", ["\u0456i"]],
    [
      "a word of such letters alone",
      "if (\u0455\u0441\u043e\u0440\u0435 == 1) // \u043f\u0440\u0438\u0432\u0435\u0442",
      ["\u0455s", "\u0441c", "\u043eo", "\u0440p", "\u0435e"],
    ],
    ["Greek letters in a Latin word", "n\u03bfne", ["\u03bfo"]],
    ["fullwidth letters", "\uff47\uff49\uff54 push", ["\uff47g", "\uff49i", "\uff54t"]],
    ["mathematical letters", "\u{1d42b}\u{1d426} x", ["\u{1d42b}r", "\u{1d426}m"]],
  ])("in %s", (_, line, found) => {
    expect(marked(line)).toEqual(found);
  });

  test.each([
    ["curly quotes", "echo a\u2019; rm x; echo \u2019b", ["\u2019'", "\u2019'"]],
    ["fullwidth signs", "echo \uff1b rm x \uff03", ["\uff1b;", "\uff03#"]],
    ["a dash", "rm \u2014force", ["\u2014-"]],
    ["a space that parts no words", "rm\u00a0x", ["\u00a0a space"]],
    [
      "the name of a program, whatever it is given",
      "ls; \u0441\u0440 \u043f\u0440\u0438\u0432\u0435\u0442",
      ["\u0441c", "\u0440p"],
    ],
  ])("in a command: %s", (_, line, found) => {
    expect(marked(line, true)).toEqual(found);
  });
});

describe("honest text is left alone", () => {
  test.each([
    [
      "Russian",
      "\u0410 \u0443 \u043d\u0430\u0441 \u0440\u043e\u0441\u0430, \u0438 \u0441 \u043d\u0435\u0439 API-\u043a\u043b\u044e\u0447",
    ],
    ["Greek", "\u03c4\u03bf \u03bd\u03ad\u03bf \u03c3\u03c0\u03af\u03c4\u03b9"],
    ["accents", "na\u00efve caf\u00e9 \u0130stanbul"],
    ["Japanese with Latin letters", "T\u30b7\u30e3\u30c4\u3068\uff21\uff22\uff23\u4f1a\u793e"],
    ["units and symbols", "5 \u03bcm, 3 k\u03a9, \u0394t, TNF\u03b1"],
    ["typographic signs of a text", "\u201cit\u2019s\u201d \u2014 \u4f60\u597d\uff1b"],
  ])("%s", (_, line) => {
    expect(marked(line)).toEqual([]);
  });

  test("Chinese signs beside Chinese words of a command", () => {
    expect(marked('git commit -m "\u4fee\u590d\uff1a\u767b\u5f55"', true)).toEqual([]);
  });
});

describe("in prose", () => {
  test.each([
    ["a Latin word with a letter of another script", "log in at p\u0430ypal.com", ["\u0430"]],
    ["a name in code", "`read_\u0441onfig()`", ["\u0441"]],
    ["words of one script", "\u0410 \u0443 \u043d\u0430\u0441 API-\u043a\u043b\u044e\u0447", []],
    ["symbols", "k\u03c1, 5 \u03bcm, \u{1d42b} and \uff21\uff22", []],
  ])("%s", (_, text, found) => {
    expect(findMixedWords(text).map(({ character }) => character)).toEqual(found);
  });
});
