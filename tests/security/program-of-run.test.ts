import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runCli, script, writeProgram } from "../cli/run-cli.ts";

const worker = (path: string) => `---\nmodel: scripted:s.yaml\ntoolsets: { filesystem: {} }\n---\nWrite ${path}.\n`;
const program = (path: string) => ({
  "main.worker": worker(path),
  "s.yaml": script({ main: [{ calls: [{ tool: "write_file", args: { path, content: "x" } }] }, `wrote ${path}`] }),
});

/** A program with a run that waits, and another one that nobody started. */
async function twoPrograms(words: readonly string[] = []) {
  const cwd = await writeProgram({ ...program("a.txt"), "llm-do.yaml": "name: shared\n" });
  const other = join(dirname(cwd), "other");
  cpSync(cwd, other, { recursive: true });
  for (const [name, text] of Object.entries(program("b.txt"))) writeFileSync(join(other, name), text);
  const { exitCode, stderr } = await runCli([".", "go", "--hold", ...words], { cwd });
  expect(exitCode, stderr).toBe(4);
  return { cwd, other };
}

function folderIn(store: string): string {
  const [name = ""] = readdirSync(store);
  return join(store, name);
}

/** Leaves of a record its beginning alone: what would tell that the program is another one is gone. */
function cut(run: string): void {
  const journal = join(run, "journal.jsonl");
  writeFileSync(journal, `${readFileSync(journal, "utf8").split("\n").slice(0, 2).join("\n")}\n`);
}

/** The folder that holds both programs, with the records of the first one. */
const beside = (cwd: string) => ({ cwd: dirname(cwd), env: { LLM_DO_STATE_DIR: join(dirname(cwd), "state") } });

const idIn = (folder: string) => readdirSync(folder).find((name) => /^\d{8}-/.test(name)) ?? "";

test("a file beside a run cannot make it another program's", async () => {
  const { cwd, other } = await twoPrograms();
  const runs = folderIn(join(dirname(cwd), "state/runs"));
  const id = idIn(runs);
  writeFileSync(join(runs, "program.json"), JSON.stringify({ v: 1, root: other }));
  cut(join(runs, id));
  for (const words of [
    ["resume", id, "--approve-all"],
    ["fork", id, "--approve-all"],
    ["replay", id],
  ])
    expect({ words, ...(await runCli(words, beside(cwd))) }).toMatchObject({
      ...{ exitCode: 1, stdout: "" },
      stderr: expect.stringContaining("program.json does not name the program"),
    });
  expect((await runCli(["runs", "list", "."], { cwd })).stdout).toContain(id);
  const { exitCode, stderr } = await runCli(["resume", "--approve-all"], { cwd });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringContaining("program.json does not name the program"),
  });
  expect(existsSync(join(other, "b.txt"))).toBe(false);
});

test("a folder of runs that names no program gives its runs to none", async () => {
  const { cwd, other } = await twoPrograms();
  const runs = folderIn(join(dirname(cwd), "state/runs"));
  rmSync(join(runs, "program.json"));
  cpSync(other, runs, { recursive: true });
  cut(join(runs, idIn(runs)));
  const { exitCode, stdout, stderr } = await runCli(["resume", idIn(runs), "--approve-all"], beside(cwd));
  expect({ exitCode, stdout, stderr }).toMatchObject({
    exitCode: 1,
    stdout: "",
    // Not that a scope lies in the state folder: the program in the folder of the runs is not looked at.
    stderr: expect.stringMatching(/program\.json does not name the program of the runs in its folder: remove that folder\n$/),
  });
  expect(existsSync(join(runs, "b.txt"))).toBe(false);
});

test("a named store that does not say whose a name is answers no run of another folder", async () => {
  const { cwd, other } = await twoPrograms(["--store", "../store"]);
  const runs = folderIn(join(dirname(cwd), "store"));
  const journal = join(runs, idIn(runs), "journal.jsonl");
  const before = readFileSync(journal, "utf8");
  rmSync(join(runs, "program.json"));
  for (const words of [
    ["approve", "last", "1"],
    ["resume", "--approve-all"],
  ])
    expect({ words, ...(await runCli([...words, "--store", "../store"], { cwd: other })) }).toMatchObject({ exitCode: 2 });
  expect(readFileSync(journal, "utf8")).toBe(before);
  expect([join(other, "a.txt"), join(other, "b.txt")].filter(existsSync)).toEqual([]);
});
