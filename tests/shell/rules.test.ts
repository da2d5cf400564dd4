import { describe, expect, test } from "vitest";
import type { ScopeDeclaration } from "../../src/host/scopes.ts";
import type { ShellConfig, ShellRule } from "../../src/toolsets/shell/config.ts";
import { matchesArgument } from "../../src/toolsets/shell/patterns.ts";
import { createBench, nameOf } from "./shell-bench.ts";

const free = (pattern: string, more: Partial<ShellRule> = {}): ShellRule => ({ pattern, approval_required: false, ...more });

/** The project is read-only, and calls write to `out` without a question. */
const fixed: readonly ScopeDeclaration[] = [
  { name: ".", root: "/work", mode: "ro" },
  { name: "docs", root: "/work/docs", mode: "ro" },
  { name: "out", root: "/work/out", mode: "rw", writeApproval: false },
  { name: "notes", root: "/work/out/notes", mode: "rw", suffixes: [".md"] },
];

async function verdictOf(config: ShellConfig, line: string, scopes?: readonly ScopeDeclaration[]): Promise<string> {
  const [, cwd, command = ""] = /^(?:\[(\w+)\] )?(.*)$/s.exec(line) ?? [];
  const { judge } = await createBench(config, scopes ? { scopes } : {});
  return nameOf(await judge({ command, ...(cwd === undefined ? {} : { cwd }) }));
}

describe("a rule holds for the folder that it was written for", () => {
  const rules = [free("bash scripts/build.sh"), free("make"), free("./run.sh"), free("node scripts/*"), free("cat"), free("cd")];

  test.each([
    ["bash scripts/build.sh", "allowed"],
    ["[out] bash scripts/build.sh", "ask"],
    ["cd out && bash scripts/build.sh", "ask"],
    ["[out] ./run.sh", "ask"],
    ["[src] ./run.sh", "allowed"],
    ["[out] node scripts/x.js", "ask"],
    ["make", "allowed"],
    ["[src] make", "allowed"],
    ["[docs] make", "allowed"],
    ["[out] make", "ask"],
    ["cd out && make", "ask"],
    ["[out] cat old.txt", "allowed"],
  ])("%s: %s", async (line, verdict) => {
    expect(await verdictOf({ rules }, line, fixed)).toBe(verdict);
  });

  test("where calls can write anyway, programs find what they run everywhere, and a rule can name the scope", async () => {
    expect(await verdictOf({ rules }, "[out] make")).toBe("allowed");
    for (const pattern of ["make", "./run.sh"]) {
      const named = [free(pattern, { sandbox_paths: ["out"] })];
      expect(await verdictOf({ rules: named }, `[out] ${pattern}`, fixed)).toBe("allowed");
    }
  });
});

describe("what restricts a program restricts it by its path", () => {
  const open = { approval_required: false };

  test.each([
    ["/bin/rm notes.txt", [{ pattern: "rm", approval_required: true }], "ask"],
    ["timeout 5 /bin/rm notes.txt", [free("timeout"), { pattern: "rm", approval_required: true }], "ask"],
    ["/usr/bin/git log -p", [free("git", { deny_args: ["-p"] })], "blocked"],
    ["/usr/bin/git log", [free("git", { deny_args: ["-p"] })], "allowed"],
    ["/bin/rm x", [free("rm"), { pattern: "rm", approval_required: true }], "allowed"],
    ["/bin/rm x", [free("/bin/rm"), { pattern: "rm", approval_required: true }], "allowed"],
  ] satisfies [string, ShellRule[], string][])("%s", async (command, rules, verdict) => {
    expect(await verdictOf({ rules, default: open }, command)).toBe(verdict);
  });
});

describe("sandbox_paths", () => {
  const rules = "tar -xf, gcc, rg, grep, find, cat, tee, rm, mytool"
    .split(", ")
    .map((one) => free(one, { sandbox_paths: ["docs", "out"] }));

  test.each([
    ["tar -xf out/a.tar", "blocked"],
    ["[out] tar -xf a.tar", "allowed"],
    ["gcc out/x.c", "blocked"],
    ["rg -f docs/a.md", "blocked"],
    ["rg x docs", "allowed"],
    ["grep -rf docs/a.md", "blocked"],
    ["grep -f docs/a.md out/old.txt", "allowed"],
    ["find -newer docs/a.md", "blocked"],
    ["find docs -newer docs/a.md", "allowed"],
    ["cat docs/a.md - < README.md", "blocked"],
    ["cat docs/a.md - < out/old.txt", "allowed"],
    ["mytool docs/a.md", "allowed"],
  ])("%s: %s", async (line, verdict) => {
    expect(await verdictOf({ rules }, line)).toBe(verdict);
  });

  test("files that are not there yet have the suffixes of their scope", async () => {
    const ofNotes = { rules: [free("tee", { sandbox_paths: ["notes"] }), free("mkdir", { sandbox_paths: ["notes"] })] };
    expect(await verdictOf(ofNotes, "tee out/notes/x.md", fixed)).toBe("allowed");
    expect(await verdictOf(ofNotes, "tee out/notes/x.sh", fixed)).toBe("blocked");
    expect(await verdictOf(ofNotes, "mkdir out/notes/x", fixed)).toBe("allowed");
  });

  test("a rule that asks matches whatever the rights of the scope", async () => {
    const asking = { rules: [{ pattern: "rm", sandbox_paths: ["notes"], approval_required: true }, free("rm")] };
    expect(await verdictOf(asking, "rm out/notes/a.txt", fixed)).toBe("ask");
    const fixedDocs = {
      rules: [{ pattern: "rm", sandbox_paths: ["docs"], approval_required: true }],
      default: { approval_required: false },
    };
    expect(await verdictOf(fixedDocs, "rm docs/a.md", fixed)).toBe("ask");
    expect(await verdictOf(asking, "rm out/old.txt", fixed)).toBe("allowed");
    expect(await verdictOf(asking, "rm out/old.txt out/notes/a.md", fixed)).toBe("ask");
  });

  test("what a rule restricts, it restricts wherever a path could lie in its scopes", async () => {
    const docs = { sandbox_paths: ["docs"] };
    const asking = { rules: [{ pattern: "cat", ...docs, approval_required: true }, free("cat")] };
    expect(await verdictOf(asking, "[out] cat old.txt", fixed)).toBe("allowed");
    expect(await verdictOf(asking, "[out] cat ../docs/a.md", fixed)).toBe("ask");
    const denying = { rules: [free("rm", { sandbox_paths: ["notes"], deny_args: ["-f"] }), free("rm")] };
    expect(await verdictOf(denying, "rm -f out/notes/a.txt", fixed)).toBe("blocked");
    expect(await verdictOf(denying, "rm -f out/old.txt", fixed)).toBe("allowed");
  });
});

test.each([
  ["-out", "--out", true],
  ["-auto-approve", "--auto-approve", true],
  ["--check", "--Check", true],
  ["--check", "--CHE", true],
  ["--check", "--c", true],
  ["-o*", "-no", true],
  ["-f", "--file", false],
  ["--force", "-f", false],
  ["--out", "--input", false],
  ["--no-*", "--No-Verify", true],
])("deny_args: %s means %s: %s", (glob, value, expected) => {
  expect(matchesArgument(glob, { kind: "static", value, head: value, print: value })).toBe(expected);
});
