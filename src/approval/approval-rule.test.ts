import { describe, expect, test } from "vitest";
import type { ApprovalRule } from "../protocol/approval.ts";
import { parseRule, readRules, ruleOn } from "./approval-rule.ts";

describe("what a rule says", () => {
  test.each([
    ["write_file", "*", "write_file", []],
    ["main/write_file", "main", "write_file", []],
    ["workers/b/*", "workers/b", "*", []],
    ["*/shell(git log*)", "*", "shell", [{ name: undefined, glob: "git log*" }]],
    ["shell( a b )", "*", "shell", [{ name: undefined, glob: "a b" }]],
    ["shell(echo (x))", "*", "shell", [{ name: undefined, glob: "echo (x)" }]],
    ["write_file(path=reports/*)", "*", "write_file", [{ name: "path", glob: "reports/*" }]],
    [
      "f(path=a, b, content=x=y)",
      "*",
      "f",
      [
        { name: "path", glob: "a, b" },
        { name: "content", glob: "x=y" },
      ],
    ],
  ])("%s", (text, worker, tool, args) => {
    expect(parseRule(text)).toEqual({ worker, tool, args });
  });

  test.each(["", " ", "/", "main/", "/write_file", "(x)", "f()", "f( )", "f(x", "f)x", "two words", "f(x) more"])(
    "%j is none",
    (text) => {
      expect(() => parseRule(text)).toThrow();
    },
  );
});

/** The command line of a shell is two texts here: one for each command in it. */
const call = {
  workers: ["main", "workers/main"],
  tool: "shell",
  first: ["command"],
  args: new Map([
    ["command", ["git log", "git diff"]],
    ["timeout", ["30"]],
    ["cwd", []],
  ]),
};

describe("what rules make of a call", () => {
  const cases: readonly (readonly [rules: readonly string[], effect: string | undefined])[] = [
    [[], undefined],
    [["allow shell"], "allow"],
    [["allow other/shell"], undefined],
    [["allow workers/*/shell"], "allow"],
    [["allow main/sh?ll"], "allow"],
    [["allow shell(git*)"], "allow"],
    [["allow shell(git log*)"], undefined],
    [["ask shell(git log*)"], "ask"],
    [["block shell(git diff)"], "block"],
    [["block shell(git)"], undefined],
    [["allow shell(command=git*, timeout=30)"], "allow"],
    [["allow shell(command=git*, timeout=40)"], undefined],
    [["block shell(command=git log, timeout=40)"], undefined],
    [["allow shell(cwd=*)"], undefined],
    [["block shell(cwd=*)"], undefined],
    [["allow shell(nothing=*)"], undefined],
    [["block shell(GIT*)"], undefined],
    [["allow shell", "ask shell", "allow main/shell"], "ask"],
    [["block shell", "ask shell", "allow shell"], "block"],
  ];
  test.each(cases)("%j: %s", (written, effect) => {
    const rules = written.map((text): ApprovalRule => {
      const [first = "", ...rest] = text.split(" ");
      return { effect: first as ApprovalRule["effect"], rule: rest.join(" ") };
    });
    expect(ruleOn(readRules(rules), call)?.effect).toBe(effect);
  });

  test("the reason names the rule and where it is written", () => {
    const rules = readRules([{ effect: "block", rule: "shell(git diff)", source: "llm-do.yaml:4" }]);
    expect(ruleOn(rules, call)?.why).toBe("the rule `shell(git diff)` of llm-do.yaml:4 blocks");
  });
});
