import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noWall } from "../../host/command-bench.ts";
import { type PlayedRow, ShellAttacks, type ShellRow } from "./shell-attacks.ts";

/*
 * Repositories in which a git that only looks, or that does what a rule spells out, starts a program that nobody looked at. Played
 * with nobody to ask, the program must not have run. Given to bash, the same line runs it, or the row would prove nothing.
 */

const start = "git init -q -b main . && git add a.txt && git commit -qm one";
const attributes = (folder: string, what: string) =>
  `g=$(git -C ${folder} rev-parse --absolute-git-dir); mkdir -p $g/info; echo '* ${what}' > $g/info/attributes`;
/** A filter that is the script, for all files of a repository. */
const filter = (folder: string) => `git -C ${folder} config filter.x.clean "$EVIL"; ${attributes(folder, "filter=x")}`;
/** The same for what shows a difference. */
const textconv = (folder: string) => `git -C ${folder} config diff.x.textconv "$EVIL"; ${attributes(folder, "diff=x")}`;
const repository = (folder: string) =>
  `git init -q ${folder}; echo b > ${folder}/b.txt; git -C ${folder} add b.txt; git -C ${folder} commit -qm b`;
const edited = `${filter(".")}; echo two > a.txt`;
const bare = "git init -q --bare evil.git; cp evil.sh evil.git/hooks/pre-receive";
/** In the history, and in no index. */
const past = `${repository("nested")}; git add nested; git commit -qm n; echo c > nested/b.txt; git -C nested commit -qam c; git add nested; git commit -qm n2; git rm -q --cached nested; git commit -qm n3`;
const staged = `${repository("staged")}; ${filter("staged")}; echo c > staged/b.txt`;
const long = "a-folder-with-a-long-name-nested";

const attacks: readonly ShellRow[] = [
  // A `.git` that git passes over.
  { title: "an empty `.git` below", setup: `mkdir -p sub/.git; ${edited}`, command: "git status", cwd: "sub" },
  { title: "the same two folders below", setup: `mkdir -p sub/.git sub/x; ${edited}`, command: "git diff", cwd: "sub/x" },
  {
    title: "one without references",
    setup: `mkdir -p sub/.git; cp -r .git/objects .git/HEAD sub/.git; ${edited}`,
    command: "cd sub && git diff",
  },
  {
    title: "one whose HEAD is no reference",
    setup: `mkdir -p sub/.git/objects sub/.git/refs; echo 'ref: x' > sub/.git/HEAD; ${edited}`,
    command: "git diff --stat",
    cwd: "sub",
  },
  {
    title: "one whose HEAD is a folder",
    setup: `mkdir -p sub/.git/objects sub/.git/refs sub/.git/HEAD; ${edited}`,
    command: "git status -s",
    cwd: "sub",
  },
  {
    title: "one whose references are a file",
    setup: `mkdir -p sub/.git/objects; cp .git/HEAD sub/.git; touch sub/.git/refs; ${edited}`,
    command: "git status -s",
    cwd: "sub",
  },
  // Submodules that no index names.
  {
    title: "a submodule of the history, in a log",
    setup: `${past}; ${textconv("nested")}`,
    command: "git log -p --submodule=diff",
  },
  { title: "in a difference", setup: `${past}; ${textconv("nested")}`, command: "git diff --submodule=diff HEAD~2 HEAD~1" },
  { title: "in one commit", setup: `${past}; ${textconv("nested")}`, command: "git show --submodule=diff HEAD~1" },
  {
    title: "behind another program",
    setup: `${past}; ${textconv("nested")}`,
    command: "timeout 9 git -C . log -p --submodule=diff",
  },
  // Configuration that git reads otherwise.
  {
    title: "a format that only another configuration has",
    setup: `${repository(long)}; git mv a.txt another-file-with-a-long-name; git add ${long}; git commit -qm n; ${filter(long)}; echo c > ${long}/b.txt; printf '[extensions]\\nobjectFormat = sha256\\n' > .git/config.worktree`,
    command: "git status",
  },
  {
    title: "a work tree elsewhere, and the right one in a configuration that does not count",
    setup: `mkdir other; ${repository("other/nested")}; cp -r other/nested .; git add nested; git commit -qm n; rm -rf nested; echo one > other/a.txt; ${filter("other/nested")}; echo c > other/nested/b.txt; git config core.worktree ../other; printf '[core]\\nworktree = ..\\n' > .git/config.worktree`,
    command: "git status",
  },
  {
    title: "a section behind another on one line",
    setup: `printf '[core] abbrev = 8\\n[user][FILTER "x"] clean = "%s"\\n' "$EVIL" >> .git/config; ${attributes(".", "filter=x")}; echo two > a.txt`,
    command: "git diff",
  },
  {
    title: "a value that goes on behind a backslash, with carriage returns",
    setup: `printf '[core]\\r\\nabbrev = 8 ; \\\\\\r\\n[filter "x"]\\r\\nclean = %s\\r\\n' "$EVIL" >> .git/config; ${attributes(".", "filter=x")}; echo two > a.txt`,
    command: "git diff",
  },
  {
    title: "a byte-order mark, and a name in capitals",
    setup: `{ printf '\\357\\273\\277'; cat .git/config; printf '[Filter "x"]\\nCLEAN = %s\\n' "$EVIL"; } > c; mv c .git/config; ${attributes(".", "filter=x")}; echo two > a.txt`,
    command: "git diff",
  },
  {
    title: "an included file",
    setup: `printf '[filter "x"]\\nclean = %s\\n' "$EVIL" > .git/more; git config include.path more; ${attributes(".", "filter=x")}; echo two > a.txt`,
    command: "git diff",
  },
  {
    title: "a driver for differences, in attributes of the folder",
    setup: `git config diff.x.command "$EVIL"; echo '* diff=x' > .gitattributes; echo two > a.txt`,
    command: "git diff",
  },
  {
    title: "a driver that merges, where merges are shown again",
    setup: `git config merge.x.driver "$EVIL"; echo '* merge=x' > .gitattributes; git add .gitattributes; git commit -qm attributes; git checkout -qb t; echo t > a.txt; git commit -qam t; git checkout -q main; echo m > a.txt; git commit -qam m; git merge -q -s ours t -m merge`,
    command: "git log --diff-merges=remerge -1",
  },
  {
    title: "a program that checks signatures",
    setup: `git config gpg.program "$EVIL"; git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n -----END PGP SIGNATURE-----' > c; git update-ref HEAD $(git hash-object -t commit -w c)`,
    command: "git log '--format=%G?' -1",
  },
  // Parts of a line that come before git looks.
  { title: "a copy", setup: staged, command: "cp -r staged nested && git -C nested status" },
  {
    title: "a copy in words of another kind",
    setup: `mkdir sub; ${staged}`,
    command: "cp --archive staged/. sub && git -C sub status",
  },
  {
    title: "an archive",
    setup: `${staged}; mv staged nested; tar -cf n.tar nested; rm -rf nested`,
    command: "tar -xf n.tar && git -C nested diff",
  },
  {
    title: "a copy by a script",
    setup: staged,
    command: "bash -c 'cp -R staged nested && git -C nested status'",
  },
  // Work that was begun.
  {
    title: "a rebase with a command in its list",
    setup:
      "git checkout -qb t; echo t > t; git add t; git commit -qm t; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i main; echo 'exec ./evil.sh' >> .git/rebase-merge/git-rebase-todo",
    command: "git rebase --continue",
  },
  {
    title: "its short name, and blanks before it",
    setup:
      "git checkout -qb t; echo t > t; git add t; git commit -qm t; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i main; printf '\\t x ./evil.sh\\n' >> .git/rebase-merge/git-rebase-todo",
    command: "git rebase --skip",
  },
  // Repositories that serve.
  { title: "the repository behind a value", setup: bare, command: "git push --receive-pack git-receive-pack ./evil.git HEAD:x" },
  {
    title: "an abbreviated option with a value",
    setup: `${bare}; git config push.default current`,
    command: "git push --rep evil",
  },
  { title: "in quotes and escapes", setup: bare, command: "git push ev'il'.g\\it HEAD:x" },
  { title: "a glob", setup: bare, command: "git push ./evil.g?t HEAD:x" },
  { title: "from a folder below", setup: `${bare}; mkdir sub`, command: "git push ./evil HEAD:x", cwd: "sub" },
];

const honest: readonly ShellRow[] = [
  { title: "a repository in another", setup: repository("sub"), command: "git status", cwd: "sub", prints: "nothing to commit" },
  { title: "a detached HEAD", setup: "git checkout -q --detach", command: "git status", prints: "HEAD detached" },
  { title: "a folder below", setup: "mkdir -p x/y; echo two > a.txt", command: "git diff --stat", cwd: "x/y", prints: "a.txt" },
  { title: "submodules of the history", setup: past, command: "git log -p --submodule=diff -2", prints: "Submodule nested" },
  { title: "a list of submodules", setup: past, command: "git diff --submodule HEAD~2 HEAD~1", prints: "Submodule nested" },
  {
    title: "SHA-256 with a configuration of the work tree",
    setup:
      "rm -rf .git; git init -q -b main --object-format=sha256 .; git add a.txt; git commit -qm one; git config extensions.worktreeConfig true; git config --worktree core.sparseCheckout false",
    command: "git status",
    prints: "On branch main",
  },
  { title: "a copy of a file", command: "cp a.txt b.txt && git status --short", prints: "b.txt" },
  {
    title: "a list of an archive",
    setup: "tar -cf a.tar a.txt",
    command: "tar -tf a.tar && git status",
    prints: "On branch main",
  },
  {
    title: "a rebase that stopped",
    setup:
      "git checkout -qb t; echo t > t; git add t; git commit -qm t; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i main",
    command: "git rebase --continue",
    prints: 'exit_code":0',
  },
  { title: "a signature's state, of none", command: "git log '--format=%G?' -1", prints: "N" },
];

const rules = "git push, git fetch, git rebase, git, cp, tar -xf, tar, cd, timeout, bash".split(", ");

describe.skipIf(noWall !== "")("git", () => {
  describe("starts no program that nobody looked at:", () => {
    const play = usePlayed(attacks);
    test.each(attacks.map((row, index) => ({ ...row, index })))("$title", ({ index }) => {
      const { table, hasRun } = play(index);
      expect(hasRun).toBe(false);
      table.bash(index);
      expect(table.hasRun(index)).toBe(true);
    });
  });

  describe("does not ask where there is none:", () => {
    const play = usePlayed(honest);
    test.each(honest.map((row, index) => ({ ...row, index })))("$title", ({ index, prints }) => {
      const { outcome, text } = play(index);
      expect(outcome).toBe("ran");
      expect(text).toContain(prints);
    });
  });
});

function usePlayed(rows: readonly ShellRow[]): (index: number) => PlayedRow & { readonly table: ShellAttacks } {
  let table: ShellAttacks | undefined;
  let played: readonly PlayedRow[] = [];
  beforeAll(async () => {
    table = new ShellAttacks({ rules, rows: rows.map((row) => ({ ...row, setup: `${start}\n${row.setup ?? ""}` })) });
    played = await table.play();
  }, 60_000);
  afterAll(() => table?.remove());
  return (index) => {
    const row = played[index];
    if (table === undefined || row === undefined) throw new Error("the rows were not played");
    return { ...row, table };
  };
}
