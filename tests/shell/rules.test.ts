import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { ShellConfig, ShellRule } from "../../src/toolsets/shell/config.ts";
import { matchesArgument } from "../../src/toolsets/shell/patterns.ts";
import { allow } from "./rule-sets.ts";
import { createBench, nameOf } from "./shell-bench.ts";

type Case = readonly [line: string, verdict: string];

/** A line is `COMMAND`, or `COMMAND ┃ EFFECTS` with effects as JSON without the outer braces. `[cwd]` may stand before it. */
async function verdictOf(config: ShellConfig, line: string, networkEnabled = true) {
  const [, cwd, text = ""] = /^(?:\[(\w+)\] )?(.*)$/s.exec(line) ?? [];
  const [command = "", effects = ""] = text.split(" ┃ ");
  const { judge } = await createBench(config, { networkEnabled });
  const given = JSON.parse(
    `{${effects.replace(/\w+(?=:)/g, '"$&"').replace(/[\w./]+(?=[\],])(?<!true)/g, '"$&"')}}`,
  ) as JsonObject;
  return judge({ command, ...given, ...(cwd === undefined ? {} : { cwd }) });
}

function check(config: ShellConfig, cases: readonly Case[]): void {
  test.each(cases)("%s: %s", async (line, expected) => {
    const verdict = await verdictOf(config, line);
    expect(nameOf(verdict), verdict.why).toBe(expected);
  });
}

const free = (pattern: string, more: Partial<ShellRule> = {}): ShellRule => ({ pattern, approval_required: false, ...more });

describe("a whitelist of rules blocks everything else", () => {
  check(
    {
      rules: [
        ...allow("git log, ls, wc, ./run.sh, npm run test:*"),
        { pattern: "make" },
        { pattern: "rm", approval_required: true },
      ],
    },
    [
      ["git log -5", "allowed"],
      ["g\"it\" 'log'", "allowed"],
      ["git push", "blocked"],
      ["gitx log", "blocked"],
      ["/usr/bin/git log", "blocked"],
      ["./run.sh a", "allowed"],
      ["npm run test:unit", "allowed"],
      ["npm run build", "blocked"],
      ["make", "ask-default"],
      ["rm x", "ask"],
      ["ls && rm x", "ask"],
      ["ls; evil", "blocked"],
      ["ls | evil", "blocked"],
      ["ls $(evil)", "blocked"],
      ["ls `evil`", "blocked"],
      ["ls <(evil)", "blocked"],
      ["ls & evil", "blocked"],
      ['for f in *.ts; do wc -l "$f"; done', "allowed"],
      ["if ls; then evil; fi", "blocked"],
      ["bash -c 'ls; evil'", "blocked"],
      ["f() { evil; }; f", "blocked"],
      ["ls \u0007", "blocked"],
      ["ls 'a", "blocked"],
      ["git log ┃ writes: [.]", "ask-effects"],
      ["git log > out/x", "ask-effects"],
      ["> out/x", "ask-effects"],
      ["X=1 > out/x", "ask-effects"],
      ["X=1", "ask-default"],
      ["evil ┃ writes: [.]", "blocked"],
    ],
  );
});

describe("a program that needs no rule beside others starts and writes nothing", () => {
  check(
    {
      looks: "allowed",
      rules: [free("touch", { writes: ["."] }), free("curl", { network: true }), { pattern: "rm", blocked: true }],
    },
    [
      ["printf -v 'a[$(perl -e 1)]' x; touch a ┃ writes: [.]", "ask"],
      ["printf -vPATH %s ./evil; touch a ┃ writes: [.]", "ask"],
      ["printf '-va[$(perl -e 1)]' x; touch a ┃ writes: [.]", "ask"],
      ["[ -v 'a[$(rm x)]' ] && touch a ┃ writes: [.]", "ask"],
      ["test -v 'a[`rm x`]'; touch a ┃ writes: [.]", "ask"],
      ["x='a[$(rm x)]'; [ -v \"$x\" ]; touch a ┃ writes: [.]", "ask"],
      ["o=-v; [ $o 'a[$(rm x)]' ]; touch a ┃ writes: [.]", "ask"],
      ["cd q && test * ; touch a ┃ writes: [.]", "ask"],
      ["[ -n * ] && touch a ┃ writes: [.]", "ask"],
      ["x='-v a[$(rm x)]'; test $x; touch a ┃ writes: [.]", "ask"],
      ["sort --compress-program=./evil big; touch a ┃ writes: [.]", "blocked"],
      ["sort -uo out big; touch a ┃ writes: [.]", "blocked"],
      ["sort $o big; touch a ┃ writes: [.]", "blocked"],
      ["uniq big out; touch a ┃ writes: [.]", "blocked"],
      ["cat < /dev/tcp/127.0.0.1/1; curl http://x ┃ network: true", "ask"],
      ["cat < $x; curl http://x ┃ network: true", "ask"],
      // The same programs, reading.
      ["printf '%s\\n' \"$x\"; touch a ┃ writes: [.]", "allowed"],
      ['[ "$x" = a ] && [ -n "$y" ] && touch a ┃ writes: [.]', "allowed"],
      ["[ -d out/* ] && touch a ┃ writes: [.]", "allowed"],
      ["sort -t, -k2 big | uniq -c; touch a ┃ writes: [.]", "allowed"],
      ["cat < notes.txt; curl http://x ┃ network: true", "allowed"],
    ],
  );
});

describe("the first rule that gives the effects decides", () => {
  const rules = [
    free("npm test"),
    free("npm run build", { writes: ["out"] }),
    { pattern: "git commit", writes: ["."], opens: [".git"], approval_required: true },
    free("git", { writes: [] }),
    free("npm install", { writes: ["."], opens: ["package.json"], network: true }),
    free("cat", { reads: ["secret"] }),
    { pattern: "rm", blocked: true },
    free("*", { writes: ["free"] }),
  ];
  check({ rules, default: { approval_required: true } }, [
    ["npm test", "allowed"],
    ["npm test ┃ writes: [free]", "allowed"],
    ["npm test ┃ writes: [out]", "ask-effects"],
    ["npm run build ┃ writes: [out]", "allowed"],
    ["npm run build ┃ writes: [out/deep/er]", "allowed"],
    ["npm run build ┃ writes: [.]", "ask-effects"],
    ["npm run build ┃ writes: [src]", "ask-effects"],
    ["npm run build > out/log", "allowed"],
    ["npm run build 2>&1 | tail -20 ┃ writes: [out]", "allowed"],
    ["npm run build | tail -20 > out/log", "ask-effects"],
    ["cd src && npm run build ┃ writes: [out]", "allowed"],
    ["CI=1 npm run build ┃ writes: [out]", "allowed"],
    ["PATH=. npm run build ┃ writes: [out]", "ask"],
    ["timeout 60 npm run build ┃ writes: [out]", "allowed"],
    ["env NODE_ENV=test npm run build ┃ writes: [out]", "allowed"],
    ["env -S 'evil' npm run build ┃ writes: [out]", "ask-effects"],
    ["npm run build; evil ┃ writes: [out]", "ask-effects"],
    ["git log", "allowed"],
    ["git status && git diff", "allowed"],
    ["git push ┃ writes: [.], opens: [.git]", "ask-effects"],
    ["git commit -m x ┃ writes: [.], opens: [.git]", "ask"],
    ["git commit -m x ┃ writes: [.]", "ask"],
    ["git commit -m x", "ask"],
    ["npm install x ┃ writes: [.], opens: [package.json], network: true", "allowed"],
    ["npm install x ┃ network: true", "allowed"],
    ["npm install x ┃ writes: [.], opens: [.git]", "ask-effects"],
    ["cat secret/key.txt", "allowed"],
    ["cat secret/key.txt ┃ network: true", "ask-effects"],
    ["head secret/key.txt", "ask-effects"],
    ["rm x", "blocked"],
    ["rm x ┃ writes: [.]", "blocked"],
    ["/bin/rm x ┃ writes: [free]", "blocked"],
    ["npm test; rm x", "blocked"],
    ["xargs rm < out/old.txt", "blocked"],
    ["find . -exec rm {} +", "blocked"],
    ["npm run env -- rm x", "blocked"],
    ["x86_64 rm x ┃ writes: [free]", "blocked"],
    ["bash -c 'rm x'", "blocked"],
  ]);
});

describe("a line that cannot be taken apart never runs by a rule with effects", () => {
  check({ rules: [free("*", { writes: ["out"] })] }, [
    ['eval "$x" ┃ writes: [out]', "ask"],
    ["$x ┃ writes: [out]", "ask"],
    ["for p in a b; do $p; done ┃ writes: [out]", "ask"],
    ["python3 -c 'import os' ┃ writes: [out]", "ask"],
    ["node -e 1 ┃ writes: [out]", "ask"],
    ["perl -ne 'print' x ┃ writes: [out]", "ask"],
    ["python3 < out/old.txt ┃ writes: [out]", "ask"],
    ["bash < out/old.txt ┃ writes: [out]", "ask"],
    ["source ./env.sh && make ┃ writes: [out]", "ask"],
    ["export PATH=. && make ┃ writes: [out]", "ask"],
    ["make & ┃ writes: [out]", "ask-effects"],
    ["make $(ls) ┃ writes: [out]", "ask-effects"],
    ["make; f() { evil; } ┃ writes: [out]", "ask"],
    ["python3 build.py ┃ writes: [out]", "allowed"],
    ["bash scripts/build.sh ┃ writes: [out]", "allowed"],
    ["bash -c 'make all' ┃ writes: [out]", "allowed"],
    ["export CI=1 && make ┃ writes: [out]", "allowed"],
    ['make "$X" ┃ writes: [out]', "allowed"],
    ["ls $(ls)", "allowed"],
    ['eval "$x"', "ask"],
    ["make 'a", "blocked"],
  ]);
});

describe("what asks for a command of git holds for its other spellings", () => {
  check({ rules: [{ pattern: "git commit", approval_required: true }, free("*", { writes: ["."], opens: [".git"] })] }, [
    ["git-commit -m x ┃ writes: [.], opens: [.git]", "ask"],
    ["/usr/lib/git-core/git-commit -m x ┃ writes: [.], opens: [.git]", "ask"],
    ["/usr/bin/git -C . commit ┃ writes: [.], opens: [.git]", "ask"],
    ["git -c alias.z=commit z ┃ writes: [.], opens: [.git]", "ask"],
    ["A=commit git --config-env=alias.z=A z ┃ writes: [.], opens: [.git]", "ask"],
    ["git --config-env alias.z=A z ┃ writes: [.], opens: [.git]", "ask"],
    ["builtin eval x ┃ writes: [.], opens: [.git]", "ask"],
    ["git -c user.name=x add a ┃ writes: [.], opens: [.git]", "allowed"],
    ["git log --grep alias.z ┃ writes: [.], opens: [.git]", "allowed"],
    ["git-lfs ls-files ┃ writes: [.], opens: [.git]", "allowed"],
  ]);
});

describe("looks: allowed", () => {
  const rules = [
    free("npm test", { writes: ["out"] }),
    { pattern: "make", writes: ["out"], approval_required: true },
    { pattern: "npm publish", approval_required: true },
    { pattern: "rm", blocked: true },
    { pattern: "curl" },
  ];
  check({ looks: "allowed", rules }, [
    ['for f in src/*.ts; do wc -l "$f"; done', "allowed"],
    ["find . -name '*.ts' -exec wc -l {} +", "allowed"],
    ["diff <(sort a) <(sort b)", "allowed"],
    ['eval "$x"', "allowed"],
    ["python3 -c 'print(1)'", "allowed"],
    ["make", "allowed"],
    ["git status & git log", "allowed"],
    ["ls 'a", "allowed"],
    ["npm publish", "ask"],
    ["curl x", "ask-default"],
    ["rm x", "blocked"],
    ["echo a | xargs rm", "blocked"],
    ["$'\\x72m' x", "blocked"],
    ["builtin command rm x", "blocked"],
    ["npm test ┃ writes: [out]", "allowed"],
    ["make ┃ writes: [out]", "ask"],
    ["ls > out/x", "blocked"],
    ["ls ┃ network: true", "blocked"],
    ["cat secret/key.txt", "blocked"],
  ]);
});

describe("the default", () => {
  check({ rules: [free("ls")], default: { approval_required: false } }, [
    ["make", "allowed"],
    ["make ┃ writes: [out]", "ask-effects"],
    ['eval "$x"', "ask"],
  ]);
  check({ rules: [], default: { approval_required: false, writes: ["out"] } }, [
    ["make all ┃ writes: [out/a]", "allowed"],
    ["make all ┃ writes: [.]", "ask-effects"],
    ["make 'a", "ask"],
  ]);
});

describe("programs that need no rule", () => {
  check({ rules: [...allow("ls"), { pattern: "tail", approval_required: true }] }, [
    ["cd src && ls | wc -l", "allowed"],
    ["echo a; ls; true", "allowed"],
    ["echo a", "blocked"],
    ["cat a | wc -l", "blocked"],
    ["cd src", "blocked"],
    ["ls | tail", "ask"],
    ["ls; awk 1 a", "blocked"],
  ]);
});

describe("a rule with effects is meant for the scope in which commands run by default", () => {
  const make = { writes: ["out"] };
  check({ rules: [free("make", make), free("ninja", { ...make, sandbox_paths: ["free"] })] }, [
    ["make ┃ writes: [out]", "allowed"],
    ["[src] make ┃ writes: [out]", "allowed"],
    ["[free] make ┃ writes: [out]", "ask-effects"],
    ["cd free && make ┃ writes: [out]", "ask-effects"],
    ["[free] ninja ┃ writes: [out]", "allowed"],
    ["[free] make", "allowed"],
  ]);
});

describe("comforts are judged on words", () => {
  const rules = [
    free("cat", { sandbox_paths: ["docs"] }),
    free("rm", { sandbox_paths: ["out"], writes: ["out"] }),
    { pattern: "rm", writes: ["."] },
    free("git", { deny_args: ["--force", "-f"], approval_required_if_args: ["--all"] }),
    free("npm test", { writes: ["out"], redirect_paths: ["out/*.log"] }),
  ];
  check({ rules }, [
    ["cat docs/a.md docs/deep/b.md", "allowed"],
    ["cat README.md", "blocked"],
    ["cat docs/../README.md", "blocked"],
    ["cat docs/*.md", "allowed"],
    ["cat $x", "blocked"],
    ["[docs] cat a.md", "allowed"],
    ["rm out/x ┃ writes: [out]", "allowed"],
    ["rm x ┃ writes: [.]", "ask-default"],
    ["git push --forc", "blocked"],
    ["git log --all", "ask"],
    ["git log $x", "ask"],
    ["npm test > out/a.log", "allowed"],
    ["npm test > out/a.txt", "blocked"],
  ]);
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
