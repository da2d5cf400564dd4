import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { templates } from "../../src/cli/programs/init-templates.ts";
import { writeNewFiles } from "../../src/host/files/new-files.ts";
import { bin, cleanEnvironment, runCli, temporaryFolder } from "../cli/run-cli.ts";
import { noWall } from "../host/command-bench.ts";

const root = join(import.meta.dirname, "../..");
const made = [
  ".gitignore",
  "llm-do.yaml",
  "main.test.yaml",
  "main.worker",
  "notes/monday.md",
  "schema/manifest.schema.json",
  "schema/test.schema.json",
  "schema/worker.schema.json",
  "script.yaml",
];

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    )
    .sort();
}

function shell(line: string, cwd: string) {
  const script = `llm-do() { '${process.execPath}' '${bin}' "$@"; }\n${line}`;
  return spawnSync("bash", ["-c", script], { cwd, encoding: "utf8", input: "", env: cleanEnvironment(cwd) });
}

test("what it makes is without mistakes, and runs at once", async () => {
  const cwd = await temporaryFolder();
  const init = await runCli(["init", "harbour"], { cwd });
  expect(init).toMatchObject({ exitCode: 0, stderr: "" });
  expect(filesIn(join(cwd, "harbour"))).toEqual(made);
  expect(init.stdout).toContain("\n  llm-do harbour\n");

  const check = await runCli(["check", "harbour"], { cwd });
  expect(check).toMatchObject({ exitCode: 0, stdout: "" });
  expect(check.stderr).toBe("llm-do: harbour: no errors, no warnings or hints\n");

  const tested = await runCli(["test", "harbour"], { cwd });
  expect(tested).toMatchObject({ exitCode: 0, stderr: "" });
  expect(tested.stdout).toMatch(
    /^ok {4}harbour\/main\.test\.yaml: writes the list, and asks before it does\n1 passed, 0 failed, in /,
  );

  const run = await runCli(["harbour", "--approve-all"], { cwd });
  expect(run).toMatchObject({ exitCode: 0, stdout: "I am done with the notes.\n" });
  expect(readFileSync(join(cwd, "harbour/out/list.md"), "utf8")).toBe("Who orders the parts?\n");
  expect(filesIn(join(cwd, "harbour"))).toEqual([...made, "out/list.md"].sort());
});

test.each(Object.entries(templates))("the template %s: the lines to change are there", async (template, { changes }) => {
  const cwd = await temporaryFolder();
  const { stdout } = await runCli(["init", "mine", "--template", template], { cwd });
  for (const [path, begins, meaning] of changes) {
    const [, line = ""] = new RegExp(`^  mine/${path}:(\\d+) +${meaning}$`, "m").exec(stdout) ?? [];
    const text = readFileSync(join(cwd, "mine", path), "utf8").split("\n")[Number(line) - 1];
    expect(text?.trimStart().slice(0, begins.length || 1), path).toBe(begins || text?.[0]);
  }
});

test.each([
  ["notes", 4, "I am done with the notes"],
  ["words", 0, "3"],
  ["letters", 4, "Two letters."],
  ["review", 0, "not awaited"],
  ["triage", 4, "Two messages, one of them urgent."],
  ["invoice", 0, '"total": 250'],
  // Where nothing isolates commands, each of them asks.
  ["commands", noWall === "" ? 0 : 4, "One line stood there twice"],
])("the template %s: each line that is printed works", async (template, exitCode, answer) => {
  const cwd = await temporaryFolder();
  const folder = "of mine";
  const init = await runCli(["init", folder, "--template", template], { cwd });
  expect(init).toMatchObject({ exitCode: 0, stderr: "" });
  const [run = "", check = "", tests = ""] = init.stdout.split("\n").filter((line) => line.startsWith("  llm-do "));
  expect(shell(run, cwd)).toMatchObject({ status: exitCode, stdout: expect.stringContaining(answer) });
  expect(shell(check, cwd)).toMatchObject({ status: 0, stderr: expect.stringContaining("no errors, no warnings") });
  expect(shell(tests, cwd)).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining(" passed, 0 failed") });
  expect(shell(`${run} --approve-all`, cwd)).toMatchObject({ status: 0, stdout: expect.stringContaining(answer) });
});

test("a template that is none is named, with those that are", async () => {
  const cwd = await temporaryFolder();
  const { exitCode, stderr } = await runCli(["init", "--template", "leters"], { cwd });
  expect({ exitCode, files: filesIn(cwd) }).toEqual({ exitCode: 2, files: [] });
  expect(stderr).toContain("notes, words, letters, review, triage, invoice, commands");
});

test("it works in the working directory, whatever that is called", async () => {
  const cwd = join(await temporaryFolder(), "an odd: name");
  mkdirSync(cwd);
  const init = await runCli(["init"], { cwd });
  expect(init.exitCode).toBe(0);
  expect(init.stdout).toContain("\n  llm-do .\n");
  expect(readFileSync(join(cwd, "llm-do.yaml"), "utf8")).toContain('name: "an odd: name"\n');
  expect(await runCli([".", "--approve-all"], { cwd })).toMatchObject({ exitCode: 0 });
});

test("what it prints can be pasted where npx started it", async () => {
  const cwd = await temporaryFolder();
  const { stdout } = await runCli(["init"], { cwd, env: { npm_command: "exec" } });
  expect(stdout.match(/^ {2}.*llm-do /gm)).toEqual(Array(4).fill("  npx llm-do "));
});

test("in the folder that it names it says where the new one is, and how to run the one that is there", async () => {
  const cwd = join(await temporaryFolder(), "harbour");
  mkdirSync(cwd);
  await runCli(["init"], { cwd });
  const lost = await runCli(["harbour"], { cwd });
  expect(lost).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("the working directory is `harbour` itself: `.` names"),
  });
  const twice = await runCli(["init", "harbour"], { cwd });
  expect(twice).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`the new one is in ${join(cwd, "harbour")}`) });
});

test("a second time it refuses, and changes nothing", async () => {
  const cwd = await temporaryFolder();
  await runCli(["init"], { cwd });
  writeFileSync(join(cwd, "main.worker"), "mine");
  const again = await runCli(["init"], { cwd });
  expect(again).toMatchObject({ exitCode: 2, stdout: "" });
  for (const path of made.filter((name) => name !== ".gitignore")) expect(again.stderr).toContain(`\n  ${join(path)}\n`);
  expect(readFileSync(join(cwd, "main.worker"), "utf8")).toBe("mine");
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe(".llm-do/\n");
});

test.each([
  ["main.worker", "main.worker"],
  ["tools.mjs", "tools.mjs"],
  ["workers/main.worker", "workers/main.worker"],
  ["notes", "notes"],
])("where there is %s, nothing is made", async (path, named) => {
  const cwd = await temporaryFolder();
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), "mine");
  const { exitCode, stderr } = await runCli(["init"], { cwd });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(`\n  ${join(named)}\n`);
  expect(filesIn(cwd)).toEqual([path]);
  expect(readFileSync(join(cwd, path), "utf8")).toBe("mine");
});

test("where something fails on the way, what was made is removed", async () => {
  const folder = join(await temporaryFolder(), "new");
  const files = new Map([["a.txt", "a"], ["b/c.txt", "c"]]); // biome-ignore format: pairs
  const fail = () => Promise.reject(new Error("the disk is full"));
  await expect(writeNewFiles(folder, files, fail)).rejects.toThrow("the disk is full");
  expect(existsSync(folder)).toBe(false);

  mkdirSync(join(folder, "b"), { recursive: true });
  writeFileSync(join(folder, "b/c.txt"), "mine");
  await expect(writeNewFiles(folder, files, () => Promise.resolve())).rejects.toThrow("EEXIST");
  expect(filesIn(folder)).toEqual(["b/c.txt"]);
  expect(readFileSync(join(folder, "b/c.txt"), "utf8")).toBe("mine");
});

test.skipIf(process.platform === "win32")("a broken link is there, and is not written through", async () => {
  const cwd = await temporaryFolder();
  symlinkSync(join(cwd, "elsewhere"), join(cwd, "main.worker"));
  const { exitCode, stderr } = await runCli(["init"], { cwd });
  expect({ exitCode, elsewhere: existsSync(join(cwd, "elsewhere")) }).toEqual({ exitCode: 2, elsewhere: false });
  expect(stderr).toContain("main.worker");
});

test.each([
  ["node_modules/\n", "node_modules/\n.llm-do/\n"],
  ["dist", "dist\n.llm-do/\n"],
  ["a\n/.llm-do\nb\n", "a\n/.llm-do\nb\n"],
])(".gitignore %j", async (before, after) => {
  const cwd = await temporaryFolder();
  writeFileSync(join(cwd, ".gitignore"), before);
  expect((await runCli(["init"], { cwd })).exitCode).toBe(0);
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe(after);
});

test("a name and a model are taken", async () => {
  const cwd = await temporaryFolder();
  const init = await runCli(["init", "--name", "true", "--model", "openai:gpt-5"], { cwd });
  expect(init.stdout).toContain("\n  llm-do . --model scripted:script.yaml\n");
  expect(readFileSync(join(cwd, "llm-do.yaml"), "utf8")).toContain('name: "true"\nmodel: openai:gpt-5\n');
  const check = await runCli(["check"], { cwd });
  expect(check.stderr).toContain("no errors, no warnings or hints");
});

test.each([
  [["--model", "gpt-5"], "provider:name"],
  [["--name", " "], "--name is empty"],
  [["file"], "file is not a folder"],
  [["--", "x"], "takes none"],
])("llm-do init %s is a mistake in usage", async (args, why) => {
  const cwd = await temporaryFolder();
  writeFileSync(join(cwd, "file"), "");
  const { exitCode, stderr } = await runCli(["init", ...args], { cwd });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(why);
  expect(filesIn(cwd)).toEqual(["file"]);
});

test("the TypeScript of templates passes the strictest checks", async () => {
  const cwd = await temporaryFolder();
  const names = ["words", "letters"];
  for (const template of names) await runCli(["init", template, "--template", template], { cwd });
  mkdirSync(join(cwd, "node_modules"));
  writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
  for (const name of ["zod", "@types"])
    symlinkSync(join(root, "node_modules", name), join(cwd, "node_modules", name), "junction");
  const options = { rootDir: "/", noUncheckedIndexedAccess: true, typeRoots: ["node_modules/@types"] };
  const config = { extends: join(root, "tsconfig.json"), compilerOptions: options, include: ["*/*.ts"] };
  writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify(config));
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const checked = spawnSync(process.execPath, [compiler, "-p", cwd, "--pretty", "false", "--listFiles"], {
    cwd,
    encoding: "utf8",
  });
  const lines = checked.stdout.split("\n");
  expect(lines).toEqual(expect.arrayContaining(names.map((template) => join(cwd, template, "tools.ts"))));
  expect(lines.filter((line) => /^(?:words|letters)\/(?:tools|scripted)\.ts/.test(line))).toEqual([]);
});
