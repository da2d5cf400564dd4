import type { ShellConfig, ShellRule } from "../../src/toolsets/shell/config.ts";

/** Rules that allow without a question, one for each pattern. */
export function allow(patterns: string): readonly ShellRule[] {
  return patterns
    .split(",")
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== "")
    .map((pattern) => ({ pattern, approval_required: false }));
}

const readers = `ls, cat, head, tail, wc, grep, egrep, rg, find, sed, awk, gawk, sort, uniq, cut, tr, diff, cmp, jq, tree, file, stat, du, date,
  echo, printf, pwd, true, false, test, [, basename, dirname, which, type, nl, tac, column, md5sum, sha256sum, base64, xxd, od,
  less, more, man, realpath, readlink, id, whoami, uname, ps, tar, unzip, gzip, zcat, seq, sleep, comm, paste, join, printenv`;

const tools = `git, npm, node, python, python3, npx tsc, tsc, cargo, go, make, pip, cd, timeout, nice, nohup, stdbuf, env, xargs,
  time, command, bash, sh, eval, curl, tee, rm, cp, mv, mkdir, touch, perl, ruby, sqlite3, yq, watch, sudo, ssh, dd, export, source,
  trap, exec, builtin, set, hash, alias, read, docker`;

/** Rules that the tables of verdicts call by name. */
export const ruleSets: Readonly<Record<string, ShellConfig>> = {
  none: { rules: [] },
  git: { rules: allow("git add, git commit, git, head, cat, wc") },
  log: { rules: allow("git log, git status") },
  read: { rules: allow(readers) },
  all: { rules: allow(`${readers}, ${tools}`) },
  star: { rules: allow("*") },
  echo: { rules: allow("echo") },
  npm: { rules: allow("npm run test:*, npm test, npm ci, git * --oneline, ./scripts/*") },
  spelt: {
    rules: allow(
      "git push, git add, git commit, git cherry-pick, git rebase, git revert, git branch -d, npm install, tar -xzf, tar xzf, bash scripts/build.sh, npx tsc, cargo run",
    ),
  },
  search: { rules: allow("ag, fd, fdfind, bat, sdiff, diff3, svn, hg, cmake, gcc") },
  /** Names with versions, and of GNU's own programs beside others. */
  versions: {
    rules: allow(
      `gcc-12, g++-12, x86_64-linux-gnu-gcc-12, aarch64-linux-gnu-g++, gfortran-12, clang-15, gtimeout, gcat, gcp, grm, zgrep, touch, ls,
      gnice, ggrep-3.11, python-3.13, psql-15, gperf, ./test1, ./ex1`,
    ),
  },
  pull: { rules: allow("git pull") },
  archive: { rules: allow("git archive") },
  /** Shells, and programs that run their input. */
  inner: {
    rules: allow(
      `echo, cat, wc, true, bash, sh, eval, timeout, env, find, xargs, perl -c, python3, node, sqlite3 -safe -readonly, psql, mysql,
      redis-cli`,
    ),
  },
  /** Globs of file names, and of options. */
  scripts: { rules: allow("python3 *.py, node *.js, perl *.pl, ls -l*") },
  /** Rules that a developer would write for work in a repository. */
  dev: {
    rules: allow(
      `git add, git commit, git stash push, git fetch, git checkout -b, git, npm ci, npm, npx tsc, npx vitest, node, python3, pip, cargo, go, make,
      tar -czf, tar -xzf, mkdir, touch, cp, mv, rm, tee, cd, timeout, bash, time, ${readers}`,
    ),
  },
  asks: { rules: [{ pattern: "git push", approval_required: true }, { pattern: "make" }, ...allow("git, ls")] },
  first: { rules: [...allow("git log"), { pattern: "git", approval_required: true }, ...allow("git status")] },
  deny: {
    rules: [
      {
        pattern: "git",
        approval_required: false,
        deny_args: ["--force", "-f", "--amend", "*secret*"],
        approval_required_if_args: ["--all", "-A"],
      },
      { pattern: "rm", approval_required: false, deny_args: ["-r", "--recursive"] },
      ...allow("xargs, find, timeout, ls, echo"),
    ],
  },
  defaultAsks: { rules: allow("ls, git log"), default: { approval_required: true } },
  defaultAllows: { rules: [{ pattern: "rm", approval_required: true }], default: { approval_required: false } },
  /** Output may go to some paths. */
  redirected: {
    rules: [
      { pattern: "npm test", approval_required: true, redirect_paths: ["out/**"] },
      { pattern: "make", redirect_paths: ["out/**"] },
      { pattern: "wc", approval_required: false, redirect_paths: ["**"] },
      {
        pattern: "echo",
        approval_required: false,
        redirect_paths: ["log.txt", "out/*.log", "free/**", "notes/*", "small/*", "docs/*"],
      },
      ...allow("ls, cd, timeout, cat"),
    ],
  },
  scoped: {
    rules: [
      { pattern: "cat", approval_required: false, sandbox_paths: ["docs"] },
      { pattern: "wc", approval_required: false, sandbox_paths: [".", "docs"] },
      { pattern: "rm", approval_required: false, sandbox_paths: ["out"] },
      { pattern: "rm", approval_required: true },
      { pattern: "grep", approval_required: false, sandbox_paths: ["docs"] },
      { pattern: "ls", approval_required: false, sandbox_paths: ["docs"] },
      { pattern: "mytool", approval_required: false, sandbox_paths: ["docs"] },
      { pattern: "touch", approval_required: false, sandbox_paths: ["docs", "out"] },
      { pattern: "tee", approval_required: false, sandbox_paths: ["out"] },
      { pattern: "cp", approval_required: false, sandbox_paths: ["docs", "out"] },
      { pattern: "strings", approval_required: false, sandbox_paths: ["docs", "out"] },
      { pattern: "git restore", approval_required: false, sandbox_paths: ["out"] },
      { pattern: "git grep", approval_required: false, sandbox_paths: ["out"] },
      ...allow("cd"),
    ],
  },
};
