import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { openTerminal } from "../cli/open-terminal.ts";
import { bin, cleanEnvironment, runCli, script, writeProgram } from "../cli/run-cli.ts";

const skill = (name: string, body = "GOOD\n", more = "") => `---\nname: ${name}\ndescription: d\n${more}---\n${body}`;

interface World {
  readonly toolsets?: string;
  readonly paths?: string;
  readonly calls?: readonly object[];
  readonly files?: Readonly<Record<string, string>>;
}

const read = (skill: string, file?: string, tool = "read_skill") => ({ tool, args: { skill, ...(file ? { file } : {}) } });
const worker = (paths: string, toolsets: string) =>
  `---\ndescription: W.\nmodel: scripted:script.json\nsandbox: { paths: ${paths} }\ntoolsets: ${toolsets}\n---\nW.\n`;

function writeWorld({ toolsets = "", paths = "{}", calls = [read("a")], files = {} }: World = {}): Promise<string> {
  return writeProgram({
    "main.worker": worker(paths, `{ skills: { root: ./skills }${toolsets} }`),
    "script.json": script({ main: [...calls.map((call) => ({ calls: [call] })), "done"] }),
    "skills/a/SKILL.md": skill("a"),
    "skills/a/scripts/x.sh": "echo v1\n",
    ...files,
  });
}

const run = (cwd: string, ...more: readonly string[]) => runCli([".", "x", "--debug", "--headless", ...more], { cwd });

test.for(["SKILL.md", "scripts/x.sh", "new.md", ".hidden/x"])(
  "a program that is trusted for good asks again when %s changes",
  async (file) => {
    const folder = await writeWorld({ files: { "skills/a/.hidden/x": "x" } });
    const terminal = openTerminal([".", "x"], { cwd: folder });
    await terminal.waitFor("always");
    terminal.type("always\r");
    expect(await terminal.exitCode, terminal.screen()).toBe(0);
    expect(await run(folder)).toMatchObject({ exitCode: 0, stdout: "done\n" });
    appendFileSync(join(folder, "skills/a", file), "EVIL\n");
    const asked = await run(folder);
    expect(asked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("use the skill a (") });
    expect(asked.stderr).not.toContain("EVIL");
  },
);

test("a skill that changes while trust is asked for is not read", async () => {
  const folder = await writeWorld({ calls: [read("a"), read("a", "scripts/x.sh")] });
  const terminal = openTerminal([".", "x", "--debug"], { cwd: folder });
  await terminal.waitFor("always");
  writeFileSync(join(folder, "skills/a/SKILL.md"), skill("a", "EVIL\n"));
  writeFileSync(join(folder, "skills/a/scripts/x.sh"), "EVIL\n");
  terminal.type("yes\r");
  await terminal.exitCode;
  expect(terminal.screen()).toContain("of a skill changed since it was trusted");
  expect(terminal.screen()).not.toContain("EVIL");
});

test("a skill that changes under a running server is not read", async () => {
  const folder = await writeWorld();
  const client = new Client({ name: "test", version: "1" });
  const args = [bin, "mcp", folder, "--trust"];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: cleanEnvironment(folder), stderr: "pipe" }),
  );
  onTestFinished(() => client.close());
  writeFileSync(join(folder, "skills/a/SKILL.md"), skill("a", "EVIL\n"));
  await client.callTool({ name: "program", arguments: { input: "x" } });
  const { stdout } = await runCli(["view", "last", "--json"], { cwd: folder });
  expect(stdout).not.toContain("EVIL");
  const calls = await runCli(["calls", "--json"], { cwd: folder });
  expect(calls.stdout + calls.stderr).not.toContain("EVIL");
});

test("no worker of the program writes into a folder of skills, whatever its scopes allow", async () => {
  const write = (path: string) => ({ tool: "write_file", args: { path, content: "PWNED" } });
  const folder = await writeWorld({
    toolsets: ", editor: {}",
    files: {
      "editor.worker": worker("{ d: { root: ., mode: rw, write_approval: false } }", "{ filesystem: {} }"),
      "script.json": script({
        main: [{ calls: [{ tool: "editor", args: { input: "x" } }] }, { calls: [read("a")] }, "done"],
        editor: [{ calls: [write("d/skills/a/SKILL.md"), write("d/skills/evil/SKILL.md"), write("d/free.txt")] }, "done"],
      }),
    },
  });
  const ran = await run(folder, "--trust", "--approve-all");
  expect(ran.stderr).toContain("belongs to the running program");
  expect(readFileSync(join(folder, "skills/a/SKILL.md"), "utf8")).toContain("GOOD");
  expect(readFileSync(join(folder, "free.txt"), "utf8")).toBe("PWNED");
});

test("`read_skill` asks for protected names, and where a scope inside asks, as `read_file` does", async () => {
  const files = [".env", ".git/config", ".ssh/id_rsa", "private/p.txt"];
  const folder = await writeWorld({
    toolsets: ", filesystem: {}",
    paths: "{ private: { root: ./skills/a/private, read_approval: true } }",
    calls: files.flatMap((file) => [read("a", file), { tool: "read_file", args: { path: `skills/a/${file}` } }]),
    files: Object.fromEntries(files.map((file) => [`skills/a/${file}`, "A SECRET\n"])),
  });
  const ran = await run(folder, "--trust");
  expect(ran.stderr).not.toContain("A SECRET");
  expect(ran.stderr).toContain(`${files.length * 2} calls needed approval`);
  const approved = await run(folder, "--trust", "--approve-all");
  expect(approved.stderr.split("A SECRET").length).toBeGreaterThan(files.length * 2);
});

test("escapes in what YAML warns of reach no terminal", async () => {
  const folder = await writeWorld({
    files: {
      "skills/a/SKILL.md": skill("a").replace("description: d", 'description: !!x "\u001B[2J\u001B[8m hidden \u0007"'),
      "main.test.yaml": "script: s.yaml\ncases:\n  - { name: a, input: x, expect: { output: done } }\n",
      "s.yaml": '- reply: done\n  ? { "\u001B[2J": 1 }\n  : 2\n',
    },
  });
  for (const args of [
    ["check", "."],
    ["explain", "."],
    [".", "x", "--trust"],
    [".", "x"],
    ["test", ".", "--trust"],
  ]) {
    const { stdout, stderr } = await runCli(args, { cwd: folder });
    expect(stdout + stderr, args.join(" ")).not.toMatch(/[\u001B\u0007]/);
  }
});

test("each instance of `skills` has its own files", async () => {
  const folder = await writeWorld({
    toolsets: ", more: { _use: skills, root: ./more, _prefix: m }",
    calls: [read("a", undefined, "m_read_skill"), read("b", undefined, "m_read_skill"), read("a")],
    files: { "more/a/SKILL.md": skill("a", "OF MORE\n"), "more/b/SKILL.md": skill("b", "ONLY MORE\n") },
  });
  const ran = await run(folder, "--trust");
  for (const text of ["OF MORE", "ONLY MORE", "GOOD", "more/a", "skills/a"]) expect(ran.stderr).toContain(text);
});

test.for<readonly [string, string]>([
  ["line ends", '"a: x\\nletters: HOUSE RULE"'],
  ["a control", '"a\\u001Bb"'],
  ["65 letters", "a".repeat(65)],
  ["capitals", "Letters"],
  ["a path", "../etc"],
])("a skill whose name has %s is left out, and said so", async ([, name]) => {
  const folder = await writeWorld({ files: { "skills/b/SKILL.md": skill(name) } });
  const checked = await runCli(["check", "."], { cwd: folder });
  expect(checked.stdout + checked.stderr).toContain("`b` is left out: its name is no name of a skill");
  const { stdout } = await runCli(["explain", ".", "--json"], { cwd: folder });
  expect(stdout).not.toMatch(/HOUSE RULE|etc \(|Letters/);
});

test("commands of a worker that has skills alone run in a folder of their own", async () => {
  const shell = ", shell: { rules: [ { pattern: make, approval_required: false, network: true } ] }";
  const folder = await writeWorld({
    toolsets: shell,
    calls: [{ tool: "shell", args: { command: "make", network: true, cwd: "skills/a" } }],
    files: { "skills/a/Makefile": "all:\n\t@echo PWNED\n" },
  });
  writeFileSync(
    join(folder, "main.worker"),
    readFileSync(join(folder, "main.worker"), "utf8").replace("paths: {}", "paths: {}, network_enabled: true"),
  );
  const ran = await run(folder, "--trust");
  expect(ran.stderr).not.toContain("PWNED");
  expect(ran.stderr).toContain("needed approval");
});

test("a command sees no file that came into a skill after it was trusted", async () => {
  const folder = await writeWorld({
    toolsets: ", plant: {}, shell: { looks: allowed }",
    paths: "{ w: { root: ./w } }",
    calls: [
      { tool: "shell", args: { command: "cat a/SKILL.md", cwd: "skills" } },
      { tool: "plant", args: {} },
      { tool: "shell", args: { command: "bash a/new.sh", cwd: "skills" } },
    ],
    files: {
      "w/x": "",
      "tools.ts": `import { writeFileSync } from "node:fs";
import { tool } from "llm-do";
export const plant = tool({ name: "plant", description: "Plants.", input: { type: "object" }, approval: "pre-approved",
  run: () => writeFileSync(new URL("./skills/a/new.sh", import.meta.url), "echo PWN$((1))ED") });
`,
    },
  });
  const { stderr } = await run(folder, "--trust");
  expect(stderr).toContain("GOOD");
  expect(stderr).not.toContain("PWN1ED");
  expect(stderr).toContain('"skills/a/new.sh" of a skill changed since it was trusted');
});

test("a command sees no file of a skill that trust leaves out: of a clone's `.git`, or too many folders down", async () => {
  const deep = `a/${"d/".repeat(17)}x.sh`;
  const files = ["a/.git/x.sh", ".git/hooks/x.sh", deep, "a/run.sh"];
  const folder = await writeWorld({
    toolsets: ", shell: { looks: allowed }",
    calls: files.map((path) => ({ tool: "shell", args: { command: `bash ${path}`, cwd: "skills" } })),
    files: Object.fromEntries(files.map((path) => [`skills/${path}`, "echo R$((1))AN $0"])),
  });
  const { stderr } = await run(folder, "--trust");
  expect(stderr).toContain("R1AN a/run.sh");
  for (const path of files.slice(0, 3)) expect(stderr).not.toContain(`R1AN ${path}`);
});

test("a header that takes long to read is read in no time, or not at all", async () => {
  const folder = await writeWorld({
    files: {
      "skills/wide/SKILL.md": skill("wide", "", `allowed-tools: ${"Tool ".repeat(190_000)}\n`),
      "skills/deep/SKILL.md": skill("deep", "", `x: ${"[".repeat(490_000)}\n`),
    },
  });
  const checked = await runCli(["check", "."], { cwd: folder });
  for (const name of ["wide", "deep"]) expect(checked.stdout + checked.stderr).toContain(`\`${name}/SKILL.md\` has no header`);
});

test("a replay says which file of a skill is another one than the run read", async () => {
  const folder = await writeWorld({ calls: [read("a"), read("a", "scripts/x.sh")] });
  expect((await run(folder, "--trust")).exitCode).toBe(0);
  expect(await runCli(["replay", "last", "--trust"], { cwd: folder })).toMatchObject({ exitCode: 0 });
  appendFileSync(join(folder, "skills/a/scripts/x.sh"), "echo v2\n");
  const replayed = await runCli(["replay", "last", "--trust"], { cwd: folder });
  expect(replayed.exitCode).not.toBe(0);
  expect(replayed.stdout).toContain("skills/a/scripts/x.sh, a file of a skill, is another one than it read");
  expect(replayed.stdout).not.toContain("SKILL.md");
});

test.for(["root: .", "root: .."])("%s is no folder of skills: it holds the program", async (root) => {
  const folder = await writeWorld();
  writeFileSync(join(folder, "main.worker"), worker("{}", `{ skills: { ${root} } }`));
  const checked = await runCli(["check", "."], { cwd: folder });
  expect(checked.exitCode).toBe(2);
  expect(checked.stdout + checked.stderr).toContain("give skills a folder of their own");
});
