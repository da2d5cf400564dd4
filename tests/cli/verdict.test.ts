import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { runCli, writeProgram } from "./run-cli.ts";

const files = {
  "main.worker": `---
sandbox:
  paths:
    notes: { root: ./notes, mode: ro }
    out: { root: ./out, mode: rw }
    kept: { root: ./kept, mode: rw, write_approval: true }
toolsets:
  filesystem: {}
  helper: {}
  shell: { rules: [{ pattern: git }, { pattern: ls, approval_required: false }] }
---
You help.
`,
  "helper.worker": "---\ndescription: Helps.\ntoolsets: { filesystem: { _prefix: fs } }\n---\nYou help.\n",
  "notes/a.md": "a",
  "kept/k.md": "k",
};

async function verdict(call: readonly string[], flags: readonly string[] = []) {
  const cwd = await writeProgram(files);
  const { exitCode, stdout, stderr } = await runCli(["verdict", ".", ...call, "--trust", ...flags], { cwd });
  return { exitCode, stdout: stdout.trimEnd(), stderr, made: (await readdir(cwd)).sort() };
}

const write = (path: string) => ["write_file", JSON.stringify({ path, content: "x" })];
const shell = (command: string) => ["shell", JSON.stringify({ command })];

describe("llm-do verdict", () => {
  it.each([
    ["what is free", ["read_file", '{"path":"notes/a.md"}'], [], /^allowed: /],
    ["what asks", write("out/a.md"), [], /^ask: /],
    [
      "what a rule blocks",
      write("out/a.md"),
      ["--deny", "write_file(path=out/*)"],
      /^blocked: the rule `write_file\(path=out\/\*\)` of --deny/,
    ],
    ["what a rule allows", write("out/a.md"), ["--approve", "main/write_file(out/*)"], /^allowed: the rule .* of --approve/],
    ["what its author made to ask, whatever a rule allows", write("kept/a.md"), ["--approve", "*/*"], /^ask: .*write_approval/],
    ["a worker", ["helper", '{"input":"x"}'], [], /^ask: .*worker/],
    ["a worker's tool", ["helper/fs_read_file", '{"path":"notes/a.md"}'], [], /^allowed: /],
    ["a command whose every program a rule allows", shell("git log && git diff"), ["--approve", "shell(git *)"], /^allowed: /],
    ["a command of which a rule allows a part", shell("git log && git diff"), ["--approve", "shell(git log*)"], /^ask: /],
    ["a command that starts what a rule blocks", shell("ls && env git push x"), ["--deny", "shell(git push*)"], /^blocked: /],
    ["what the toolset blocks, whatever a rule allows", shell("rm x"), ["--approve", "shell"], /^blocked: /],
    ["a path that is not writable", write("notes/x"), [], /^refused: .*\n {2}Writable: out\/, kept\/\.$/],
    ["arguments that do not fit", ["write_file", '{"path":1}'], [], /^refused: .*do not fit/],
    ["an unknown tool", ["writ_file", "{}"], [], /^refused: there is no tool `writ_file`\n {2}did you mean `write_file`/],
    ["an unknown worker", ["helpr/x", "{}"], [], /^refused: there is no worker `helpr`\n {2}did you mean/],
  ])("tells of %s", async (_, call, flags, expected) => {
    const { exitCode, stdout, made } = await verdict(call, flags);
    expect(stdout).toMatch(expected);
    expect(exitCode).toBe(0);
    // A run would make the folder `out`, and a journal.
    expect(made).toEqual(["helper.worker", "kept", "main.worker", "notes"]);
  });

  it("answers a line with a line, in order, and goes on after one that is no call", async () => {
    const cwd = await writeProgram(files);
    const input = [
      '{ "tool": "read_file", "args": { "path": "notes/a.md" } }',
      "nonsense",
      '{ "tool": "write_file", "args": { "path": "out/x", "content": "" } }',
      '{ "args": {} }',
      '{ "tool": "main/read_file", "args": { "path": "kept/none" } }',
    ].join("\n");
    const { exitCode, stdout } = await runCli(["verdict", ".", "-", "--trust"], { cwd, input });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ verdict: word }) => word)).toEqual(["allowed", "refused", "ask", "refused", "refused"]);
    for (const { why } of lines) expect(why).toMatch(/./);
    expect(exitCode).toBe(2);
  });

  it("takes U+2028 in a text for a part of its line", async () => {
    const cwd = await writeProgram(files);
    const input = ["out/a\u2028b", "out/c"].map((path) => JSON.stringify({ args: { path, content: "x" } })).join("\n");
    const { exitCode, stdout } = await runCli(["verdict", ".", "write_file", "-", "--trust"], { cwd, input });
    expect(stdout.match(/"verdict":"\w+"/g)).toEqual(['"verdict":"ask"', '"verdict":"ask"']);
    expect(exitCode).toBe(0);
  });

  it("takes the tool once for all lines", async () => {
    const cwd = await writeProgram(files);
    const input = '{"args":{"command":"ls"}}\n\n{"args":{"command":"rm x"}}\n{"args":{"command":"git log"}}';
    const { exitCode, stdout } = await runCli(["verdict", ".", "shell", "-", "--trust"], { cwd, input });
    expect(stdout.match(/"verdict":"\w+"/g)).toEqual(['"verdict":"allowed"', '"verdict":"blocked"', '"verdict":"ask"']);
    expect(exitCode).toBe(0);
  });

  it.each([
    ["arguments that are no JSON", ["read_file", "{"], /the arguments cannot be read as JSON/],
    ["a rule that is none", ["read_file", "{}", "--deny", "main/"], /error\[approval-rule\][\s\S]*--deny main\//],
  ])("refuses %s", async (_, call, message) => {
    const { exitCode, stdout, stderr } = await verdict(call);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it("warns of a rule that no call can match, as a run does", async () => {
    const { exitCode, stderr } = await verdict(["read_file", '{"path":"notes/a.md"}'], ["--deny", "main/raed_file"]);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/warning\[approval-rule-unused\].*`raed_file`[\s\S]*did you mean `read_file`/);
    const cwd = await writeProgram(files);
    const run = await runCli([".", "x", "--model", "openai:gpt", "--trust", "--deny", "main/raed_file"], { cwd });
    expect(run.stderr).toContain("warning[approval-rule-unused]");
  });

  it("needs trust where the program needs it, and says how to give it", async () => {
    const cwd = await writeProgram(files);
    const { exitCode, stderr } = await runCli(["verdict", ".", "read_file", "{}"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--trust");
  });
});
