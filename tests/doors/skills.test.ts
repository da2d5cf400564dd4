import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { readBlocks } from "../../scripts/check-docs.ts";
import { parseSkillFile } from "../../src/language/skill-file.ts";
import { runCli, script, writeProgram } from "../cli/run-cli.ts";

const repository = resolve(import.meta.dirname, "../..");

const skill = (description: string, more = "") =>
  `---\nname: letters\ndescription: ${description}\n${more}---\nClose with Yours.\n`;

function writeSkilled(files: Readonly<Record<string, string>>, calls: readonly object[]): Promise<string> {
  return writeProgram({
    "main.worker":
      "---\ndescription: Writes.\nmodel: scripted:model.json\nsandbox: { paths: {} }\ntoolsets: { skills: { root: ./skills } }\n---\nWrite.\n",
    "model.json": script({ main: [{ calls }, "done"] }),
    ...files,
  });
}

test("a model reads the text and the files of a skill, and nothing outside of it", async () => {
  const paths = ["SKILL.md", "forms/a.md", "../../secret.txt", "/etc/passwd", "link.txt"];
  const calls = paths.map((file) => ({ tool: "read_skill", args: { skill: "letters", file } }));
  const folder = await writeSkilled(
    { "skills/letters/SKILL.md": skill("How to write."), "skills/letters/forms/a.md": "the form", "secret.txt": "a secret text" },
    calls,
  );
  await symlink(join(folder, "secret.txt"), join(folder, "skills/letters/link.txt"));
  const ran = await runCli([".", "x", "--trust", "--debug", "--headless"], { cwd: folder });
  expect(ran).toMatchObject({ exitCode: 0, stdout: "done\n" });
  expect(ran.stderr).toContain("Close with Yours.");
  expect(ran.stderr).toContain("the form");
  expect(ran.stderr).not.toContain("a secret text");
  expect(ran.stderr).not.toContain("root:");
});

test("a skill is asked for trust, and asked again when one is added or changed", async () => {
  const folder = await writeSkilled({ "skills/letters/SKILL.md": skill("How to write.") }, []);
  const untrusted = await runCli([".", "x"], { cwd: folder });
  expect(untrusted.exitCode).toBe(2);
  expect(untrusted.stderr).toContain("use the skill letters");
});

test("`check` says which tools a skill wishes, and what is no skill; a skill gets no tool", async () => {
  const folder = await writeSkilled(
    {
      "skills/letters/SKILL.md": skill("How to write.", "allowed-tools: Bash(git *), Write\n"),
      "skills/empty/SKILL.md": "no header\n",
      "skills/notes.txt": "x",
    },
    [{ tool: "shell", args: { command: "id" } }],
  );
  const { stdout, stderr } = await runCli(["check", "."], { cwd: folder });
  const said = stdout + stderr;
  expect(said).toContain("`letters` asks for `Bash(git *)`, `Write`");
  expect(said).toContain("`empty/SKILL.md` has no header with a `description`");
  const ran = await runCli([".", "x", "--trust", "--approve-all"], { cwd: folder });
  expect(ran.stderr).toContain("shell");
  expect(ran.exitCode).not.toBe(0);
});

/** Ten skills of our own, written as those are that authors publish. */
const fixtures = join(import.meta.dirname, "fixtures/skills");

test("skills as authors write them are listed and read, with their files", async () => {
  const files = [
    ["mail-archive", "scripts/find.sh", "grep -rn"],
    ["long-review", "evals/evals.json", "Review it"],
    ["职位-knowledge", "examples/anzeige-größe.txt", "机械工程师"],
    ["thesis-check", "install.sh", "echo installed"],
    ["redraw", "agents/openai.yaml", "display_name"],
    ["pattern-art", "templates/viewer.html", "<title>viewer"],
    ["till", "src/cli.js", "process.stdout"],
    ["ideas", "SKILL.md", "HARD-GATE"],
    ["answer-comments", "scripts/fetch_comments.py", "print"],
    ["house-composition-patterns", "rules/slots.md", "Prefer slots."],
  ] as const;
  const calls = files.flatMap(([skill, file]) => [{ skill }, { skill, file }].map((args) => ({ tool: "read_skill", args })));
  const folder = await writeSkilled({}, calls);
  await cp(fixtures, join(folder, "skills"), { recursive: true, verbatimSymlinks: true });
  const checked = await runCli(["check", "."], { cwd: folder });
  expect(checked.exitCode).toBe(0);
  const said = checked.stdout + checked.stderr;
  const explained = (await runCli(["explain", ".", "--trust"], { cwd: folder })).stdout.replace(/\s+/g, " ");
  expect(explained).toMatch(/use the skill till \([0-9a-f]{12}, about \d+ tokens, asks for `Bash/);
  expect(said).toContain("`till` asks for `Bash(node src/cli.js:*)`, `Read`");
  expect(said).not.toContain("warning[");
  const untrusted = await runCli([".", "x"], { cwd: folder });
  for (const [name] of files) expect(untrusted.stderr).toContain(`use the skill ${name} (`);
  const ran = await runCli([".", "x", "--trust", "--debug", "--headless"], { cwd: folder });
  expect(ran).toMatchObject({ exitCode: 0, stdout: "done\n" });
  for (const [, file, text] of files) expect(ran.stderr, file).toContain(text);
  expect(ran.stderr).not.toContain("failed (");
});

test("a skill that cannot be read is told by `check` and by the run, and the others count", async () => {
  const folder = await writeSkilled(
    {
      "skills/letters/SKILL.md": skill("How to write."),
      "skills/long/SKILL.md": skill("Long.") + "x".repeat(1_000_001),
      "skills/broken/SKILL.md": "---\nname: [\ndescription\n---\nBroken.\n",
      "skills/twin/SKILL.md": skill("The same name."),
      "skills/notes/README.md": "no skill",
      "skills/folder/SKILL.md/x.md": "a folder",
      "skills/.git/config": "hidden",
      "skills/README.md": "About these skills.",
      "outside/SKILL.md": skill("Outside."),
    },
    [{ tool: "read_skill", args: { skill: "letters" } }],
  );
  await symlink(join(folder, "outside"), join(folder, "skills/linked"));
  await mkdir(join(folder, "skills/file-link"));
  await symlink("/etc/passwd", join(folder, "skills/file-link/SKILL.md"));
  await mkdir(join(folder, "skills/pipe"));
  spawnSync("mkfifo", [join(folder, "skills/pipe/SKILL.md")]);
  const warnings = [
    "`long/SKILL.md` is not read: it has more than 1,000,000 bytes",
    "`broken/SKILL.md` has no header with a `description`",
    "`twin` and `letters` are both called `letters`; the first counts",
    "`folder/SKILL.md` is not read: it is a folder",
    "`linked` is not read: it is a link, or no file",
    "`file-link/SKILL.md` is not read: it is a link, or no file",
    "`pipe/SKILL.md` is not read: it is a link, or no file",
  ];
  const checked = await runCli(["check", "."], { cwd: folder });
  const ran = await runCli([".", "x", "--trust"], { cwd: folder });
  expect(ran).toMatchObject({ exitCode: 0, stdout: "done\n" });
  for (const warning of warnings)
    expect([checked.stdout + checked.stderr, ran.stderr], warning).toEqual(
      Array.from({ length: 2 }, () => expect.stringContaining(warning)),
    );
  expect(checked.stdout + checked.stderr).toContain("the folder `notes` has no `SKILL.md`, so it is no skill");
  expect(checked.stdout + checked.stderr).not.toMatch(/README|\.git/);
});

test("a folder that is not there, and a scope of the same name, are errors", async () => {
  const missing = await writeSkilled({}, []);
  expect((await runCli(["check", "."], { cwd: missing })).exitCode).toBe(2);
  const folder = await writeSkilled({ "skills/letters/SKILL.md": skill("x") }, []);
  await writeFile(
    join(folder, "main.worker"),
    "---\ndescription: W.\nsandbox: { paths: { skills: { root: . } } }\ntoolsets: { skills: { root: ./skills } }\n---\nW.\n",
  );
  const clash = await runCli(["check", "."], { cwd: folder });
  expect(clash.exitCode).toBe(2);
  expect(clash.stdout + clash.stderr).toContain("rename the scope");
});

test("`agents: true` sends AGENTS.md, and says so where there is none", async () => {
  const worker = "---\ndescription: W.\nmodel: scripted:model.json\ncontext: { agents: true }\n---\nW.\n";
  const folder = await writeProgram({
    "main.worker": worker,
    "AGENTS.md": "Rules of the house.",
    "model.json": JSON.stringify([{ expect: { system: "Rules of the house" }, reply: "ok" }]),
  });
  expect(await runCli([".", "x"], { cwd: folder })).toMatchObject({ exitCode: 0, stdout: "ok\n" });
  const without = await writeProgram({ "main.worker": worker, "model.json": "[]" });
  const checked = await runCli(["check", "."], { cwd: without });
  expect(checked.stdout + checked.stderr).toContain("there is no `AGENTS.md`");
});

test.for<readonly [string, string, object | undefined]>([
  ["plain", skill("How: to write"), { name: "letters", description: "How: to write", allowedTools: [] }],
  ["a block", "---\ndescription: >\n  Two\n  lines.\n---\n", { name: "folder", description: "Two lines.", allowedTools: [] }],
  ["CRLF and a mark", "\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\n", { name: "a", description: "b", allowedTools: [] }],
  [
    "a list",
    skill("d", "allowed-tools: [Read, Write]\n"),
    { name: "letters", description: "d", allowedTools: ["Read", "Write"] },
  ],
  [
    "by spaces",
    skill("d", "allowed-tools: Read Bash(a b)\n"),
    { name: "letters", description: "d", allowedTools: ["Read", "Bash(a b)"] },
  ],
  ["quotes", skill('"a: b"'), { name: "letters", description: "a: b", allowedTools: [] }],
  ["unknown keys", skill("d", "license: MIT\nmetadata: { a: 1 }\n"), { name: "letters", description: "d", allowedTools: [] }],
  ["no description", "---\nname: x\n---\n", undefined],
  ["no header", "# A skill\n", undefined],
  ["no end", "---\nname: x\ndescription: y\n", undefined],
])("the header of a skill: %s", ([, text, expected]) => {
  expect(parseSkillFile(text, "folder")).toEqual(expected);
});

test("the text for models is one program that `check` and `test` accept, and the skill has the same text", async () => {
  const text = readFileSync(join(repository, "docs/llms.txt"), "utf8");
  expect(text.length / 4).toBeLessThan(6000);
  expect(readFileSync(join(repository, "skills/write-workers/SKILL.md"), "utf8").endsWith(text)).toBe(true);
  const [worker = "", tools = "", tests = "", played = ""] = readBlocks(text).map((block) => block.text);
  const folder = await writeProgram({
    ...{ "main.worker": worker, "tools.ts": tools, "main.test.yaml": tests, "script.yaml": played },
    "notes/monday.md": "Ada orders the parts by Friday.\n",
  });
  expect(await runCli(["check", "."], { cwd: folder })).toMatchObject({ exitCode: 0 });
  expect(await runCli(["test", ".", "--trust"], { cwd: folder })).toMatchObject({ exitCode: 0 });
  expect((await runCli(["docs", "--llms"], { cwd: folder })).stdout).toBe(text);
});
