import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ApprovalRule, judgeCalls, tool } from "../../src/index.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { play, worker } from "./harness.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 150);

const paths = "{ input: { root: ./input }, private: { root: ./input/private }, out: { root: ./out, mode: rw } }";
const shell =
  "{ rules: [{ pattern: git, approval_required: false }, { pattern: rm }, { pattern: build }], default: { approval_required: true } }";
const files = {
  "main.worker": worker(
    `toolsets: { filesystem: {}, shell: ${shell}, helper: {}, pick: {} }\nsandbox: { paths: ${paths} }\nattachment_policy: { allowed_suffixes: [.txt] }`,
  ),
  "helper.worker": worker(
    "description: Helps.\ninput: { input: string, attachments(array): attachment }\nattachment_policy: { allowed_suffixes: [.txt] }",
  ),
  "input/a.txt": "a",
  "input/open/b.txt": "b",
  "input/private/secret.txt": "s",
  "out/old.md": "old",
};

/** Its schema names no arguments: the order is the caller's. */
const pick = tool({
  input: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" },
  approval: "pre-approved",
  run: () => "picked",
});

interface Call {
  readonly tool: string;
  readonly args: JsonObject;
}

/** Returns the type of a run's verdict on a call by `main`, or of the error where there is none. */
async function verdictOfRun(call: Call, rules: readonly ApprovalRule[]): Promise<string> {
  const { journal, error, model } = await play({
    files,
    tools: { pick },
    machine: { commands: { git: () => "", rm: () => "", build: () => "" } },
    model: ({ worker: name, turn }) => (turn === 1 && name === "main" ? { calls: [call] } : "done"),
    approval: { mode: "prompt", rules },
    request: { input: "go" },
  });
  if (error) throw error;
  const verdict = journal.find((entry) => entry.type === "verdict");
  if (verdict) return verdict.verdict.type;
  const parts = model.requests.at(-1)?.messages.flatMap((message) => (message.role === "tool" ? message.parts : [])) ?? [];
  return parts.map(({ result }) => (result.ok ? "ok" : result.error.type)).join();
}

async function verdictOfJudge(call: Call, rules: readonly ApprovalRule[]): Promise<string> {
  const root = "/program";
  const host = memoryHost({
    commands: { git: () => "", rm: () => "", build: () => "" },
    files: {
      ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`${root}/${name}`, text])),
      [`${root}/tools.ts`]: "export const pick = 0;\n",
    },
    modules: { [`${root}/tools.ts`]: { pick } },
  });
  const before = host.snapshot("/");
  const judge = await judgeCalls({ target: root, host, trust: true, rules, model: "openai:gpt" });
  try {
    const judgement = await judge.judge(call);
    return judgement.type === "refused" ? judgement.error.type : judgement.type;
  } finally {
    await judge.close();
    expect(host.snapshot("/")).toEqual(before);
  }
}

const block = (rule: string): ApprovalRule[] => [{ effect: "block", rule }];
const command = (text: string): Call => ({ tool: "shell", args: { command: text } });

describe("a rule that blocks reaches a call however it is written", () => {
  test.each<[rule: string, tool: string, args: JsonObject]>([
    ["read_file(input/a*)", "read_file", { path: "input:a.txt" }],
    ["read_file(input/a*)", "read_file", { path: "./input/./a.txt" }],
    ["read_file(private/*)", "read_file", { path: "input/private/secret.txt" }],
    ["list_files(input/open/*)", "list_files", {}],
    ["list_files(input/open/*)", "list_files", { path: "input" }],
    ["list_files(input/open/*)", "list_files", { path: "input/open" }],
    ["list_files(input/open/*)", "list_files", { path: "input", pattern: "./open/*.txt" }],
    ["list_files(input/open/*)", "list_files", { path: "input", pattern: "{open,x}/*" }],
    ["list_files(private/*)", "list_files", { path: "input", pattern: "private/*" }],
    ["search_files(private/*)", "search_files", { regex: "s", path: "input" }],
    ["helper(attachments=*input/a.txt*)", "helper", { input: "x", attachments: ["input:a.txt"] }],
    ["helper(attachments=*private/*)", "helper", { input: "x", attachments: ["./input/private/secret.txt"] }],
    ["pick(*bad*)", "pick", { harmless: "x", name: "bad" }],
    ["pick(*bad*)", "pick", { name: "bad", harmless: "x" }],
  ])("%s: %s %j", async (rule, name, args) => {
    expect(await verdictOfRun({ tool: name, args }, block(rule))).toBe("blocked");
  });

  test.each([
    ["rm *", "rm out/x"],
    ["rm *", "r'm'   out/x"],
    ["rm *", "/bin/rm out/x"],
    ["rm *", "git log && rm out/x"],
    ["rm *", "bash -c 'rm out/x'"],
    ["rm *", "git log | xargs rm"],
    ["rm *", "X=rm; $X out/x"],
    ["rm *", "$(echo rm) out/x"],
    ["rm *", 'bash -c "$X"'],
    ["rm *", "echo rm out/x | sh"],
    ["rm *", 'eval "$X"'],
    ["rm *", "env -S 'rm out/x'"],
    ["rm *", `${"nice ".repeat(10)}rm out/x`],
    ["rm *", "taskset 1 rm x"],
    ["rm *", "setarch -R rm x"],
    ["rm *", "script -qc 'rm x' /dev/null"],
    ["rm *", "flock f -c 'rm x'"],
    ["rm *", "trap 'rm x' EXIT"],
    ["rm *", "chrt -o 0 rm x"],
    ["rm *", "prlimit --nofile=100 rm x"],
    ["rm *", "setpriv rm x"],
    ["rm *", "watch 'rm x'"],
    ["rm *", "watch ls ';' rm x"],
    ["rm *", "mapfile -C 'rm x #' -c 1 <<< a"],
    ["rm *", "hash -p /bin/rm ls; ls x"],
    ["rm *", "compgen -C 'rm x #' a"],
    ["rm *", ". ./README.md"],
    ["rm *", "env - rm x"],
    ["rm *", "env PATH=. ls"],
    ["rm *", "PATH=. ls"],
    ["rm *", "PS4='$(rm x)' bash -xc ls"],
    ["rm *", "sudo X=1 rm x"],
    ["rm *", "npx rm x"],
    ["rm *", "npx -c 'rm x'"],
    ["rm *", "npm exec rm x"],
    ["rm *", "docker run a rm x"],
    ["rm *", "uv run rm x"],
    ["rm *", "perf stat rm x"],
    ["rm *", "bwrap --bind / / rm x"],
    ["rm *", "nsenter -t 1 rm x"],
    ["rm *", "numactl -N0 rm x"],
    ["rm *", "ssh h rm x"],
    ["rm *", "parallel 'rm x' ::: 1"],
    ["rm *", "fd -x rm"],
    ["rm *", "bash -c -- 'rm x'"],
    ["git push*", "git -C . push"],
    ["git push*", "git --no-pager push"],
    ["git push*", "/usr/bin/git -C . -P push origin"],
    ["git push*", "timeout 5 git -C . push"],
    ["git push*", "git -c user.name=a push"],
    ["git push*", "git pu$X"],
    ["git push*", "git {push,}"],
    ["cat private/*", "cat *"],
  ])("shell(%s): %s", async (rule, text) => {
    expect(await verdictOfRun(command(text), block(`shell(${rule})`))).toBe("blocked");
  });
});

describe("and no other", () => {
  test.each<[rule: string, tool: string, args: JsonObject]>([
    ["list_files(input/open/*)", "list_files", { path: "out" }],
    ["list_files(input/open/*)", "list_files", { path: "input", pattern: "other/*" }],
    ["search_files(private/*)", "search_files", { regex: "s", path: "input/open" }],
    ["search_files(private/*)", "search_files", { regex: "s", path: "out" }],
    ["shell(git push*)", "shell", { command: 'git log "$X"' }],
    ["shell(rm *)", "shell", { command: "git log" }],
    ...[
      "npx tsc",
      "npm install",
      "docker build .",
      "sed -i s/a/b/ x",
      "sort -o a b",
      "git -C . push",
      "git -c user.name=a commit -m x",
      "git config user.name x",
      "tar -xzf a.tgz",
      "make -C src test",
      "env NODE_ENV=test npm test",
      "NODE_ENV=test npm test",
      "set -euo pipefail",
      "watch -n1 git status",
      "flock f ls",
      "xargs -I{} cp {} out",
      "chmod +x a",
      "rsync -avz a b",
      "scp a h:b",
      "bash scripts/build.sh",
      "python3 -c 'print(1)'",
    ].map((text): [string, string, JsonObject] => ["shell(rm *)", "shell", { command: text }]),
    ["shell(git push*)", "shell", { command: "git -C . log push" }],
    ["shell(git push*)", "shell", { command: "git -C push log" }],
    ["pick(constructor=*)", "pick", {}],
    ["pick(*bad*)", "pick", { name: "good" }],
  ])("%s: %s %j", async (rule, name, args) => {
    expect(await verdictOfRun({ tool: name, args }, block(rule))).not.toBe("blocked");
  });
});

describe("a rule that allows needs all that a line is known to start", () => {
  test.each([
    ["build x", "allowed"],
    ["build x && build y", "ask"],
    ["X=1 build x", "allowed"],
    ["PATH=. build x", "ask"],
    ["build x $(git log)", "ask"],
    ["bash -c 'build x'", "ask"],
    ["/bin/build x", "ask"],
    ["npx build x", "ask"],
    ["git -C . log && build x", "ask"],
  ])("%s: %s", async (text, verdict) => {
    expect(await verdictOfRun(command(text), [{ effect: "allow", rule: "shell(build x)" }])).toBe(verdict);
  });
});

describe("a rule that allows a folder stays in it", () => {
  test.each([
    ["build docs/a", "allowed"],
    ["build docs/../a", "ask"],
    ["build docs/a b", "ask"],
    ["build docs/a && build docs/b", "allowed"],
    ["build docs/deep/a", "allowed"],
  ])("%s: %s", async (text, verdict) => {
    expect(await verdictOfRun(command(text), [{ effect: "allow", rule: "shell(build docs/*)" }])).toBe(verdict);
  });

  test("and one that blocks matches all of it", async () => {
    expect(await verdictOfRun(command("build docs/../a b"), block("shell(build docs/*)"))).toBe("blocked");
  });
});

const somePath = fc.constantFrom(
  "input/a.txt",
  "input:a.txt",
  "./out/new.md",
  "out/old.md",
  "input/private/secret.txt",
  "nowhere/x",
  "input",
  ".",
);
const someCommand = fc.constantFrom(
  "git log",
  "rm out/x",
  "git log && rm out/x",
  "git $X",
  "/bin/rm x",
  "cat *",
  "git log > out/x",
  "(",
  "echo x | sh",
);
const calls: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ tool: fc.constant("read_file"), args: fc.record({ path: somePath }) }),
  fc.record({ tool: fc.constant("write_file"), args: fc.record({ path: somePath, content: fc.constantFrom("x", "draft") }) }),
  fc.record({
    tool: fc.constant("list_files"),
    args: fc.record({ path: somePath, pattern: fc.constantFrom("**/*", "private/*") }, { requiredKeys: [] }),
  }),
  fc.record({ tool: fc.constant("shell"), args: fc.record({ command: someCommand }) }),
  fc.record({
    tool: fc.constant("helper"),
    args: fc.record({ input: fc.constant("x"), attachments: fc.array(somePath, { maxLength: 2 }) }),
  }),
  fc.record({ tool: fc.constant("pick"), args: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("bad", "good")) }),
);
const someRule: fc.Arbitrary<ApprovalRule> = fc.record({
  effect: fc.constantFrom("allow", "ask", "block"),
  rule: fc
    .tuple(
      fc.constantFrom("", "main/", "*/", "m*/"),
      fc.constantFrom("*", "read_file", "*_file", "list_files", "shell", "helper", "pick"),
      fc.constantFrom(
        "",
        "(*)",
        "(input/*)",
        "(out/*)",
        "(*private*)",
        "(rm *)",
        "(git *)",
        "(path=input/*)",
        "(content=dr*)",
        "(attachments=*a.txt*)",
        "(bad)",
      ),
    )
    .map((parts) => parts.join("")),
});

test("what is said of a call beforehand is what a run says of it", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(calls, fc.array(someRule, { maxLength: 4 }), async (call, rules) => {
      const verdict = await verdictOfJudge(call, rules);
      seen.add(verdict);
      expect(await verdictOfRun(call, rules)).toBe(verdict);
    }),
    { numRuns: runs, seed: 20261122 },
  );
  expect([...seen]).toEqual(expect.arrayContaining(["allowed", "ask", "blocked", "path_outside_scope"]));
}, 300_000);

test("the user's own data stays as it is, whatever it looks like: in files, in results, and for the model", async () => {
  const key = `line\nghp_${"aB3d".repeat(9)}`;
  const {
    result,
    files: after,
    journal,
    events,
    model,
  } = await play({
    files: { ...files, "input/a.txt": key },
    tools: { pick },
    model: ({ turn, toolResults }) => {
      if (turn === 1) return { calls: [{ tool: "read_file", args: { path: "input/a.txt" } }] };
      if (turn === 2) return { calls: [{ tool: "write_file", args: { path: "out/copy.txt", content: key } }] };
      return toolResults().length > 0 ? `the key is ${key}` : "nothing";
    },
    approval: { mode: "approve_all" },
    request: { input: "go" },
  });
  expect(result?.output).toBe(`the key is ${key}`);
  expect(after["out/copy.txt"]).toBe(key);
  expect(JSON.stringify(model.requests.at(1)?.messages)).toContain("ghp_");
  expect(JSON.stringify(result?.messages)).toContain("ghp_");
  expect(JSON.stringify([journal, events])).not.toContain("ghp_");
  expect(JSON.stringify([journal, events])).toMatch(/⟦secret:github-token:[0-9a-f]{6}⟧/);
});
