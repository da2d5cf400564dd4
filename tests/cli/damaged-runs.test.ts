import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cliRuns } from "../records.ts";
import { runCli, script, writeProgram } from "./run-cli.ts";

/** A program that has run once, with a state folder of its own. */
async function runOnce(files: Readonly<Record<string, string>>) {
  const cwd = await writeProgram(files);
  const env = { LLM_DO_STATE_DIR: join(cwd, "../state") };
  const whole = await runCli([".", "go", "--approve-all", "--quiet"], { cwd, env });
  expect(whole.exitCode).toBe(0);
  const [id = ""] = await readdir(cliRuns(cwd));
  return { cwd, env, id, whole, journal: join(cliRuns(cwd), id, "journal.jsonl") };
}

const plain = { "main.worker": "---\nmodel: scripted:s.yaml\n---\nGo.\n", "s.yaml": script({ main: [{ text: "done" }] }) };

test("the views of a run leave out its damaged entry", async () => {
  const { cwd, env, id, journal } = await runOnce(plain);
  const text = await readFile(journal, "utf8");
  await writeFile(journal, text.replace(/("type":"result".*?)"outcome":.*$/m, '$1"x":1}'));
  for (const flag of [[], ["--messages"], ["--costs"]]) {
    const shown = await runCli(["runs", "show", id, ".", ...flag], { cwd, env });
    expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
    expect(shown.stdout).toMatch(/\(entry \d+: the field `outcome` of this result entry is missing or damaged\)/);
  }
});

test("a run that was killed before its first entry says so, and its program is not compiled", async () => {
  const { cwd, env, id, journal } = await runOnce(plain);
  await truncate(journal, 0);
  await writeFile(join(cwd, "main.worker"), "---\nmodel: [\n---\n");
  for (const command of [
    ["resume", id, "."],
    ["replay", id, "."],
    ["fork", id],
  ]) {
    const result = await runCli(command, { cwd, env });
    expect(result, command.join(" ")).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toContain(`nothing is recorded of \`${id}\``);
    expect(result.stderr).not.toContain("error[");
  }
});

test("the result of a run that came to its end is given once more, and nothing runs", async () => {
  const { cwd, env, id, whole, journal } = await runOnce(plain);
  const before = await readFile(journal, "utf8");
  const again = await runCli(["resume", id, "."], { cwd, env });
  expect(again).toMatchObject({ exitCode: 0, stdout: whole.stdout });
  expect(again.stderr).toContain("came to its end");
  const json = await runCli(["resume", id, ".", "--json"], { cwd, env });
  expect(JSON.parse(json.stdout)).toMatchObject({ runId: id, output: "done", stopReason: "done", usage: { requests: 1 } });
  expect(await readFile(journal, "utf8")).toBe(before);
});

test("an undo where nothing is kept of what was replaced ends with 1, and names what the run wrote", async () => {
  const calls = [{ tool: "write_file", args: { path: "a.txt", content: "x" } }];
  const { cwd, env, id } = await runOnce({
    "main.worker": "---\nmodel: scripted:s.yaml\ntoolsets: { filesystem: {} }\n---\nGo.\n",
    "s.yaml": script({ main: [{ calls }, { text: "done" }] }),
  });
  for (const name of ["secrets.jsonl", "writes.jsonl"]) await rm(join(cliRuns(cwd), id, name));
  const undone = await runCli(["undo", id, ".", "--yes"], { cwd, env });
  expect(undone.exitCode).toBe(1);
  expect(undone.stdout).toContain("since nothing is kept of what they replaced");
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("x");
});

test("a test whose `expect` is empty is a mistake", async () => {
  const tests = "cases:\n  - name: any\n    script: s.yaml\n    expect: {}\n";
  const cwd = await writeProgram({ ...plain, "main.test.yaml": tests });
  const result = await runCli(["test"], { cwd });
  expect(result.exitCode).toBe(2);
  expect(result.stderr).toContain("`cases.0.expect` is empty: every run that ends would pass");
});
