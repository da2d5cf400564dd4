import * as fc from "fast-check";
import { linesOf } from "./random-scripts.ts";

/*
 * Command lines of real programs, as a model writes them and as an attacker would: each program with its own options,
 * harmless and harmful ones, its own little language, and words in every kind of quotes. `canary` is what an attack writes.
 */

interface ProgramWords {
  /** Arguments of ordinary use, each a piece of a command line with blanks between its words. */
  readonly usual: readonly string[];
  /** Arguments that write, run or change something. */
  readonly harmful?: readonly string[];
}

const files = [
  "README.md",
  "notes.txt",
  "src/index.ts",
  "docs/a.md",
  "out/old.txt",
  ".",
  "src",
  "docs",
  "missing",
  "./x",
  "a.tar",
];
const odd = ["/etc/passwd", ".env", ".git/config", "../outside/file", "docs/../README.md", "-x", "--", "link", "main.worker"];
const dynamic = [
  "$x",
  '"$x"',
  "${y}",
  "*.md",
  "*",
  "src/*.ts",
  "~/x",
  "{a,b}",
  "$(touch canary)",
  "`touch canary`",
  "<(touch canary)",
];

const texts = (...list: string[]) => list.map((text) => `'${text}'`);

const programs: Readonly<Record<string, ProgramWords>> = {
  ls: { usual: ["-l", "-la", "-1", "--color=never", "-R"] },
  cat: { usual: ["-n", "-A", "--number"] },
  head: { usual: ["-n 2", "-5", "-c 10", "--lines=3"] },
  tail: { usual: ["-n 2", "-5", "-c 10"] },
  wc: { usual: ["-l", "-w", "-c"], harmful: ["--files0-from=notes.txt"] },
  grep: {
    usual: [
      "-n x",
      "-rn x",
      "-E 'a|b'",
      "-c y",
      "-v '^#'",
      "-q x",
      "-o '[a-z]*'",
      "-l -e x -e y",
      "--include='*.md' -r x",
      "-A1 x",
    ],
    harmful: ["-f /etc/passwd", "--file=../outside/file x"],
  },
  egrep: { usual: ["-n 'x|y'"] },
  find: {
    usual: [
      "-name '*.md'",
      "-type f",
      "-maxdepth 1",
      "-not -path './.git/*'",
      "-newer notes.txt",
      "-print0",
      "-printf '%p\\n'",
      "-size +1k",
      "-o -name a",
    ],
    harmful: [
      "-delete",
      "-exec touch canary \\;",
      "-execdir touch canary \\;",
      "-fprint canary",
      "-fls canary",
      "-exec sh -c 'touch canary' \\;",
      "-ok rm {} \\;",
      "-fprintf canary x",
    ],
  },
  sed: {
    usual: [
      ...texts("s/x/y/", "s/x/y/g;s|a|b|", "1,2p", "/x/d", "$!d", "y/ab/cd/", ":a;N;$!ba;s/\\n/ /g", "1q"),
      "-n '1,2p'",
      "-E 's/(x)/\\1/'",
      "-e p -e d",
    ],
    harmful: [
      ...texts("w canary", "s/x/y/w canary", "1e touch canary", "s/x/touch canary/e", "r /etc/passwd", "1W canary"),
      "-i s/x/y/",
      "-n -i.bak p",
      "--in-place p",
      "-f script",
      "-e 'w canary'",
      "-s -ne 'w canary'",
    ],
  },
  awk: {
    usual: [
      ...texts("{print $1}", "NR>1", "{s+=$1} END {print s}", "/x/ {print NR, $0}", 'BEGIN {printf "%s\\n", 1}'),
      "-F: '{print $1}'",
      "-v a=1 '{print a}'",
    ],
    harmful: [
      ...texts(
        '{print > "canary"}',
        'BEGIN{system("touch canary")}',
        '{print | "sh"}',
        '{"touch canary" | getline}',
        'BEGIN{printf "x" >> "canary"}',
      ),
      "-f evil.awk",
    ],
  },
  sort: {
    usual: ["-u", "-rn", "-k2,2", "-t, -k1"],
    harmful: [
      "-o canary",
      "-ocanary",
      "--output=canary",
      "-uo canary",
      "--outp canary",
      "-T out",
      "--compress-program=./evil -S 1",
    ],
  },
  uniq: { usual: ["-c", "-d"], harmful: ["notes.txt canary"] },
  cut: { usual: ["-d: -f1", "-c 1-3", "--fields=1"] },
  tr: { usual: ["a-z A-Z", "-d x", "-s ' '"] },
  diff: { usual: ["-u README.md", "-q notes.txt", "-r src"] },
  cmp: { usual: ["README.md"] },
  nl: { usual: ["-ba"] },
  tac: { usual: [] },
  stat: { usual: ["-c %s", "-t"] },
  du: { usual: ["-sh", "-a"] },
  od: { usual: ["-c", "-An"] },
  xxd: { usual: ["-l 4"], harmful: ["notes.txt canary", "-r notes.txt canary"] },
  base64: { usual: ["-w0", "-d"] },
  sha256sum: { usual: ["-b"] },
  echo: { usual: ["-n", "-e", "hello", "'a; b'", '"x | y"', "x > y".replace(" > ", "-")] },
  printf: { usual: ["'%s\\n' a", "x"], harmful: ["-v 'a[$(touch canary)]' x"] },
  test: { usual: ["-f README.md", "a = b", "-d src"], harmful: ["-v 'a[$(touch canary)]'"] },
  basename: { usual: ["a/b"] },
  dirname: { usual: ["a/b"] },
  true: { usual: [] },
  false: { usual: [] },
  pwd: { usual: [] },
  seq: { usual: ["3"] },
  date: { usual: ["+%Y"], harmful: ["-s 2001-01-01"] },
  cd: { usual: ["src", "docs", "..", "./out"], harmful: [".git", "/tmp", "-"] },
  file: { usual: ["-b"], harmful: ["-C -m x"] },
  "git log": {
    usual: ["--oneline", "-1", "-p", "--stat", "--grep='x'", "--format='%h %s'", "-S x", "-- README.md"],
    harmful: ["--output=canary", "--outp=canary", "--ext-diff -p", "--textconv -p"],
  },
  "git status": { usual: ["--short", "-sb", "--porcelain"] },
  "git diff": {
    usual: ["--stat", "HEAD", "--cached", "-U1 -w", "--name-only"],
    harmful: ["--output canary", "--no-index /etc/passwd README.md", "--ext-diff"],
  },
  "git show": { usual: ["HEAD", "--stat HEAD", "HEAD:README.md"], harmful: ["--output=canary HEAD"] },
  "git grep": { usual: ["-n x", "-e x -- src"], harmful: ["-O./evil x", "--open-files-in-pager=./evil x"] },
  "git branch": { usual: ["-a", "--show-current", "--list 'm*'"], harmful: ["made", "-D main", "-m other"] },
  "git tag": { usual: ["-l"], harmful: ["v1", "-d v1"] },
  "git ls-files": { usual: ["-o --exclude-standard", "'*.md'"] },
  "git rev-parse": { usual: ["HEAD", "--show-toplevel"] },
  "git stash": { usual: ["list"], harmful: ["", "push", "pop"] },
  "git config": { usual: ["--get user.name", "--list"], harmful: ["core.pager ./evil", "alias.x '!touch canary'"] },
  git: {
    usual: ["--version", "--no-pager log -1", "-C src log -1", "remote -v", "cat-file -p HEAD"],
    harmful: [
      "-c core.pager='touch canary' log",
      "-c alias.x='!touch canary' x",
      "-p log",
      "--exec-path=. status",
      "commit --allow-empty -m x",
      "checkout -b y",
      "rm README.md",
      "init new",
      "archive --output=canary HEAD",
      "bisect run ./evil",
    ],
  },
  tar: {
    usual: ["-tf a.tar", "tf a.tar", "--list -f a.tar", "-tvf a.tar README.md"],
    harmful: [
      "-xf a.tar",
      "xf a.tar",
      "-cf canary README.md",
      "-tf a.tar --to-command='touch canary'",
      "-I 'touch canary' -tf a.tar",
      "-cf /dev/null x --checkpoint=1 --checkpoint-action=exec='touch canary'",
      "-tf a.tar --use-compress-program=./evil",
    ],
  },
  timeout: {
    usual: ["2 ls", "2 wc -l", "-s KILL 2 cat"],
    harmful: ["2 touch canary", "2 find . -delete", "2 sh -c 'touch canary'"],
  },
  nice: { usual: ["cat", "-n 5 ls"], harmful: ["-n 5 rm", "sh -c 'touch canary'", "./evil"] },
  nohup: { usual: ["cat"], harmful: ["touch canary"] },
  xargs: { usual: [], harmful: ["rm", "-I{} touch {}", "sh -c 'touch canary'"] },
  env: { usual: [], harmful: ["touch canary", "-S 'touch canary'", "A=1 ls"] },
  "bash -c": {
    usual: texts("ls | wc -l", "cat README.md; echo x", "grep x notes.txt && true"),
    harmful: texts("touch canary", "rm notes.txt", "echo x > canary", "./evil"),
  },
  "sh -c": { usual: texts("ls", "wc -l < notes.txt"), harmful: texts("echo x > canary") },
  touch: {
    usual: ["out/new", "out/old.txt", "-c out/new"],
    harmful: ["canary", "README.md", "../outside/x", "docs/new", "out/../canary", "out/.npmrc"],
  },
  mkdir: { usual: ["-p out/a/b", "out/d"], harmful: ["canary", "-m 777 out/d", ".husky", "docs/d"] },
  rm: {
    usual: ["out/old.txt", "-rf out/a", "-f out/new"],
    harmful: ["README.md", "-rf .", "-rf ./*", "out/../notes.txt", "-r .git"],
  },
  cp: {
    usual: ["docs/a.md out/copy", "-r docs out/docs"],
    harmful: ["README.md canary", "-t . docs/a.md", "notes.txt .npmrc", "-s README.md out/l", "notes.txt link"],
  },
  mv: { usual: ["out/old.txt out/b"], harmful: ["README.md out/b", "out/old.txt canary"] },
  tee: { usual: ["out/log.txt", "-a out/log.txt"], harmful: ["canary", "-a README.md", ".git/config"] },
};

/** Commands that no rule covers. */
const strangers = ["./evil", "touchx canary", "ln -s /etc out/l", "chmod 777 README.md", "dd if=notes.txt of=canary", "python3 -c 'open(\"canary\",\"w\")'", "perl -e 'open(F,\">canary\")'", "eval 'touch canary'", "exec touch canary", "export PATH=.", "alias ls=./evil", "trap 'touch canary' EXIT", "truncate -s 0 README.md", "install README.md canary", "$x canary", "PATH=. evil", "x=1", "source evil", "hash -p ./evil ls", "command touch canary", "builtin echo x"]; // biome-ignore format: one list

const redirects = {
  usual: [
    "2>&1",
    "> /dev/null",
    "2>/dev/null",
    "&>/dev/null",
    "< notes.txt",
    "<<< word",
    "<<'E'\nbody $(touch canary)\nE\n",
    ">&2",
    "> out/log/a.txt",
    ">> out/log/a.txt",
    "2> out/log/b.txt",
  ],
  harmful: [
    "> canary",
    ">> canary",
    ">| canary",
    "&> canary",
    ">& canary",
    "1<> canary",
    "{fd}> canary",
    "<<E\n$(touch canary)\nE\n",
    "> README.md",
    "> out/log/../../canary",
    "> out/log/.npmrc",
    "> $x",
    "> link",
    "> ../outside/file",
    "3> canary",
    "> out/log/a.bin",
    "> out/other.txt",
  ],
};

/** The same word, written another way. */
function disguised(text: string): fc.Arbitrary<string> {
  const isPlain = /^[A-Za-z0-9._/=-]+$/.test(text);
  if (!isPlain) return fc.constant(text);
  const middle = Math.ceil(text.length / 2);
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(text) },
    fc.constantFrom(
      `'${text}'`,
      `"${text}"`,
      `\\${text}`,
      `${text.slice(0, middle)}''${text.slice(middle)}`,
      `${text.slice(0, middle)}\\\n${text.slice(middle)}`,
      `$'${text}'`,
    ),
  );
}

function choose(usual: readonly string[], harmful: readonly string[], weight: number): fc.Arbitrary<string> {
  if (usual.length === 0) return harmful.length === 0 ? fc.constant("") : fc.constantFrom(...harmful);
  if (harmful.length === 0) return fc.constantFrom(...usual);
  return fc.oneof({ weight, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...harmful) });
}

const operand = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom(...files).chain(disguised) },
  { weight: 2, arbitrary: fc.constantFrom(...odd) },
  { weight: 2, arbitrary: fc.constantFrom(...dynamic) },
);

const known = fc
  .constantFrom(...Object.entries(programs))
  .chain(([program, { usual, harmful = [] }]) =>
    fc
      .tuple(
        fc.oneof({ weight: 15, arbitrary: fc.constant(program) }, { weight: 1, arbitrary: disguised(program) }),
        fc.array(choose(usual, harmful, 8), { maxLength: 2 }),
        fc.array(operand, { maxLength: 2 }),
        fc.array(choose(redirects.usual, redirects.harmful, 8), { maxLength: 1 }),
      )
      .map(([name, options, operands, more]) => [name, ...options, ...operands, ...more].filter((one) => one !== "").join(" ")),
  );

const command = fc.oneof({ weight: 25, arbitrary: known }, { weight: 1, arbitrary: fc.constantFrom(...strangers) });

/** Lines of such commands. */
export const commandLine: fc.Arbitrary<string> = linesOf(command);
