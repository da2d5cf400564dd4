import { describe, expect, test } from "vitest";
import type { ApprovalRule } from "../../protocol/approval.ts";
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

  test.each<[rule: string, text: string, allowed: boolean]>([
    ["docs/*", "docs/a", true],
    ["docs/*", "docs/deep/my file.md", true],
    ["docs/*", "docs/..a/v1..2/...", true],
    ["docs/*", "docs/../../etc/passwd", false],
    ["docs/*", "docs/..", false],
    ["docs/*", "docs/a/../b", false],
    ["docs/*", "docs/..\\a", false],
    ["docs/.*", "docs/../a", false],
    ["docs/*./a", "docs/../a", false],
    ["docs/??/a", "docs/../a", false],
    ["docs*/a", "docs/../a", false],
    ["docs/**", "docs/../a", false],
    ["https://a.com/x/*", "https://a.com/x/y?z=1", true],
    ["https://a.com/x/*", "https://a.com/x/%2E./y", false],
    ["https://a.com/x/*", "https://a.com/x/..?y", false],
    ["../docs/*", "../docs/a", true],
    ["../docs/*", "../docs/../a", false],
    ["../*", "../../a", false],
    ["*", "../a", true],
    ["docs*", "docs/../a", true],
    ['["docs/*"]', '["docs/a"]', true],
    ['["docs/*"]', '["docs/a","/etc/passwd"]', false],
    ["*docs/*", '["docs/a"]', true],
    ["*docs/*", '["docs/a","/etc/passwd"]', false],
  ])("allow f(%s) of %j: %s", (rule, text, allowed) => {
    const read = { workers: ["main"], tool: "f", first: ["path"], args: new Map([["path", [text]]]) };
    const rules = (effect: ApprovalRule["effect"]) => readRules([{ effect, rule: `f(${rule})` }]);
    expect(ruleOn(rules("allow"), read)?.effect).toBe(allowed ? "allow" : undefined);
    expect(ruleOn(rules("block"), read)?.effect).toBe("block");
    expect(ruleOn(readRules([{ effect: "allow", rule: `f(path=${rule})` }]), read) !== undefined).toBe(allowed);
  });

  test.each<[rule: string, command: string, allowed: boolean]>([
    ["cat docs/*", "cat docs/a", true],
    ["cat docs/*", "cat docs/deep/a", true],
    ["cat docs/*", "cat docs/*.md", true],
    ["cat docs/*", "cat docs/../README.md", false],
    ["cat docs/*", "cat docs/a README.md /etc/hostname", false],
    ["cat docs/*", "cat docs/$X", false],
    ["cat docs/*", "cat docs/'a b'", false],
    ["cat docs/* docs/*", "cat docs/a docs/b", true],
    ["cat docs/* *", "cat docs/a README.md", true],
    ["cp docs/* out/*", "cp docs/a out/x", true],
    ["cp docs/* out/*", "cp docs/../README.md out/../src/x", false],
    ["cp * out/*", "cp a b out/c out/d", true],
    ["cp * out/*", "cp a out/c d", false],
    ["* docs/*", "cat docs/a b docs/c", true],
    ["*/build *", "rm -r x/build y", false],
    ["npm test*", "npm test -- ../a b/../c", true],
    ["git *", "git diff a/b..c/d -- ../x", true],
    ["git log *", "git log origin/a..origin/b", true],
    ["git log origin/*", "git log origin/a..origin/b", true],
  ])("allow shell(%s) of %s: %s", (rule, command, allowed) => {
    const read = { workers: ["main"], tool: "shell", first: ["command"], args: new Map([["command", [command]]]) };
    const rules = (effect: ApprovalRule["effect"]) => readRules([{ effect, rule: `shell(${rule})` }]);
    expect(ruleOn(rules("allow"), read)?.effect).toBe(allowed ? "allow" : undefined);
    expect(ruleOn(rules("ask"), read)?.effect).toBe("ask");
  });

  test("the reason names the rule and where it is written", () => {
    const rules = readRules([{ effect: "block", rule: "shell(git diff)", source: "llm-do.yaml:4" }]);
    expect(ruleOn(rules, call)?.why).toBe("the rule `shell(git diff)` of llm-do.yaml:4 blocks");
  });
});
