import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ShellConfig, ShellRule } from "../../src/toolsets/shell/config.ts";
import { shellWarnings } from "../../src/toolsets/shell/warnings.ts";
import { allow } from "./rule-sets.ts";
import { createBench, nameOf } from "./shell-bench.ts";

/*
 * Rules as they were written before rules had effects, with lines that they let run. `check` has a hint for each; with the lines of the
 * hints pasted, they let run the same lines, which name what they write.
 */

interface Older {
  readonly title: string;
  readonly rules: readonly ShellRule[];
  readonly config?: Omit<ShellConfig, "rules">;
  readonly lines: readonly (readonly [command: string, effects?: JsonObject])[];
  /** Lines that did not run unasked, and do not now. */
  readonly others: readonly (readonly [command: string, verdict: string, effects?: JsonObject])[];
}

const writing = { writes: ["."] };
const lists: readonly Older[] = [
  {
    title: "readers of a folder",
    rules: allow("ls, wc, grep, head, sort").map((rule) => ({ ...rule, sandbox_paths: ["docs"] })),
    lines: [["ls docs"], ["grep -rn x docs | sort | head -5"], ["wc -l docs/a.md"]],
    others: [
      ["cat docs/a.md", "blocked"],
      ["ls src", "blocked"],
      ["ls docs; rm docs/a.md", "blocked"],
    ],
  },
  {
    title: "looking with git",
    rules: [{ pattern: "git push", approval_required: true }, ...allow("git, head")],
    lines: [["git status"], ["git log --oneline -20 | head -3"], ["git diff HEAD~1 -- src"]],
    others: [
      ["git push", "ask"],
      ["git -C . push", "ask"],
      ["git log; make", "blocked"],
    ],
  },
  {
    title: "scripts of a package",
    rules: allow("npm test, npm run test:*, npm run build"),
    lines: [
      ["npm test", writing],
      ["npm run test:unit -- -u", writing],
      ["cd src && npm run build 2>&1 | tail -5", writing],
    ],
    others: [
      ["npm publish", "blocked"],
      ["npm run env -- rm x", "blocked"],
    ],
  },
  {
    title: "writers in one scope",
    rules: allow("mkdir, cp, touch").map((rule) => ({ ...rule, sandbox_paths: ["out"] })),
    lines: [
      ["mkdir -p out/a", { writes: ["out"] }],
      ["cp out/old.txt out/b", { writes: ["out"] }],
    ],
    others: [
      ["cp README.md out/b", "blocked", { writes: ["out"] }],
      ["touch x", "blocked", writing],
    ],
  },
  {
    title: "everything, but for some",
    rules: [{ pattern: "rm", approval_required: true }, { pattern: "curl", approval_required: true }, ...allow("*")],
    lines: [["make all", writing], ["ls | wc -l"], ["node scripts/x.js", writing]],
    others: [
      ["rm x", "ask"],
      ["/bin/rm x", "ask", writing],
      ["find . -exec rm {} +", "ask"],
      ["ls; curl x", "ask"],
    ],
  },
  {
    title: "a default that allows",
    rules: [{ pattern: "git push", approval_required: true }],
    config: { default: { approval_required: false } },
    lines: [["ls"], ["git log"], ["cat README.md | sort"]],
    others: [["git push origin", "ask"]],
  },
  {
    title: "a default that asks",
    rules: allow("ls, cargo test"),
    config: { default: { approval_required: true } },
    lines: [["ls -la"], ["cargo test", writing]],
    others: [
      ["cargo run", "ask"],
      ["ls && make", "ask"],
    ],
  },
  {
    title: "arguments that are denied",
    rules: [{ pattern: "git", approval_required: false, deny_args: ["--force", "-f"], approval_required_if_args: ["--amend"] }],
    lines: [["git commit -m x", { writes: ["."], opens: [".git"] }], ["git status"]],
    others: [
      ["git push --forc", "blocked"],
      ["git commit --amend", "ask"],
    ],
  },
  {
    title: "programs of the project",
    rules: allow("./scripts/*, python3 *.py, make"),
    lines: [
      ["./scripts/build.sh", writing],
      ["python3 tools.py -v", writing],
      ["make -j4 all", writing],
    ],
    others: [
      ["./run.sh", "blocked"],
      ["python3 -cimport os", "blocked"],
      ["./scripts/../x", "blocked"],
    ],
  },
  {
    title: "rules that ask, and a tool that is pre-approved",
    rules: [{ pattern: "npm" }, { pattern: "git", approval_required: true }],
    lines: [],
    others: [
      ["npm test", "ask-default"],
      ["git log", "ask"],
      ["ls", "blocked"],
    ],
  },
];

const rights = { readable: [".", "docs", "out"], writable: ["."], networkEnabled: false };

/** What the hints say to add: `writes`, with what git needs besides. */
function paste(rules: readonly ShellRule[], places: readonly string[]): readonly ShellRule[] {
  const { writable } = { ...rights, writable: places };
  const hints = shellWarnings({ rules }, { ...rights, writable }).filter(({ isHint }) => isHint);
  return rules.map((rule, index) => {
    const hint = hints.find(({ path }) => path[1] === index);
    const named = [...(hint?.message.matchAll(/`writes: \[([^\]]+)\]`/g) ?? [])].flatMap(([, name]) => name ?? []);
    if (named.length === 0) return rule;
    return { ...rule, writes: named, ...(rule.pattern === "git" ? { opens: [".git"] } : {}) };
  });
}

describe.each(lists)("$title", ({ rules, config = {}, lines, others }) => {
  const places = rules.some(({ sandbox_paths: paths }) => paths?.includes("out")) ? ["out"] : ["."];
  const pasted = { ...config, rules: paste(rules, places) };

  test("has no hint any more", () => {
    const told = shellWarnings(pasted, { ...rights, writable: places });
    expect(told.filter(({ isHint, isError }) => isHint || isError)).toEqual([]);
  });

  test("does what it did", async () => {
    const { judge } = await createBench(pasted);
    for (const [command, effects] of lines) {
      const verdict = await judge({ command, ...effects });
      expect(nameOf(verdict), `${command}: ${verdict.why}`).toBe("allowed");
    }
    for (const [command, expected, effects] of others) {
      const verdict = await judge({ command, ...effects });
      expect(nameOf(verdict), `${command}: ${verdict.why}`).toBe(expected);
    }
  });
});
