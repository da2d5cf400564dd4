import type { ShellRule } from "../../src/toolsets/shell/config.ts";
import { allow } from "./rule-sets.ts";

const writers: readonly ShellRule[] = ["touch", "mkdir", "rm", "cp", "mv", "tee"].map((pattern) => ({
  pattern,
  approval_required: false,
  sandbox_paths: pattern === "cp" ? ["docs", "out"] : ["out"],
}));

/** A table of harmless programs, and of writers that have one folder. */
export const tracedRules: readonly ShellRule[] = [
  ...writers,
  ...allow(
    `ls, cat, head, tail, wc, grep, egrep, find, sed, awk, sort, uniq, cut, tr, diff, cmp, nl, tac, stat, du, od, xxd, base64,
    sha256sum, echo, printf, test, basename, dirname, true, false, pwd, seq, date, cd, file, git, tar, timeout, nice, nohup, xargs,
    env, bash, sh, stdbuf`,
  ).map((rule) => ({ ...rule, redirect_paths: ["out/log/*.txt"] })),
];
