// What a verdict costs: arguments checked, the call prepared (files looked at, commands parsed), the rules asked; without rules of
// the run, and with a hundred. `node bench/verdict.ts`.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApprovalRule, judgeCalls } from "../src/index.ts";
import { measure, printRow } from "./timing.ts";

const rounds = 500;
const root = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
mkdirSync(join(root, "a/b/c"), { recursive: true });
writeFileSync(join(root, "a/b/c/x.txt"), "line\n".repeat(1000));
writeFileSync(
  join(root, "main.worker"),
  "---\ntoolsets:\n  filesystem: {}\n  shell: { rules: [{ pattern: git }, { pattern: ls, approval_required: false }, { pattern: grep }] }\n---\nYou help.\n",
);

/** A repository of 2,000 files in 100 folders. */
const repository = join(root, "a/repository");
for (let folder = 0; folder < 100; folder++) {
  mkdirSync(join(repository, `folder-${folder}`), { recursive: true });
  for (let file = 0; file < 20; file++) writeFileSync(join(repository, `folder-${folder}/${file}.txt`), "line\n");
}
const git = (...args: string[]) => execFileSync("git", ["-C", repository, ...args]);
git("init", "-q");
git("add", ".");

const calls: readonly (readonly [what: string, tool: string, args: Readonly<Record<string, string>>])[] = [
  ["read_file", "read_file", { path: "a/b/c/x.txt" }],
  ["write_file, a new file", "write_file", { path: "a/b/c/new.txt", content: "x".repeat(1000) }],
  ["edit_file, 5 kB", "edit_file", { path: "a/b/c/x.txt", old_text: "none", new_text: "some" }],
  ["shell, one command", "shell", { command: "git log --oneline -n 5" }],
  ["shell, git in a repository that it looks at", "shell", { command: "git log --oneline -n 5", cwd: "a/repository" }],
  ["shell, git in a repository that it changes", "shell", { command: "git add .", cwd: "a/repository" }],
  ["shell, a line of ten", "shell", { command: Array(10).fill("grep -rn x a/b").join(" && ") }],
];
const hundred = Array.from({ length: 100 }, (_, index): ApprovalRule => ({ effect: "ask", rule: `*/other_${index}(a*b)` }));

printRow("call", "median ms", "with 100 rules");
printRow("---", "---", "---");
const judges = [await judgeCalls({ target: root, trust: true }), await judgeCalls({ target: root, trust: true, rules: hundred })];
for (const [what, tool, args] of calls) {
  const medians: number[] = [];
  for (const judge of judges) medians.push((await measure(rounds, () => judge.judge({ tool, args }))).median);
  printRow(what, ...medians);
}
for (const judge of judges) await judge.close();
rmSync(root, { recursive: true });
