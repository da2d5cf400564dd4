import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { cliRuns, runsIn } from "../records.ts";
import { cleanEnvironment, runCli, temporaryFolder, writeProgram } from "./run-cli.ts";

it("takes no older run for the last one where the newest cannot be read", async () => {
  const write = { tool: "write_file", args: { path: "out/a.txt", content: "a" } };
  const cwd = await writeProgram({
    "main.worker":
      "---\nmodel: scripted:model.mjs\ntoolsets: { filesystem: {} }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\n---\nWrite.\n",
    "model.mjs": `export default ({ turn }) => (turn === 1 ? { calls: [${JSON.stringify(write)}] } : "done");\n`,
  });
  const held = await runCli([".", "go", "--hold", "--trust", "-v"], { cwd });
  expect(held).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("write_file#0 waits until the run goes on") });
  expect(held.stderr).not.toContain("failed");
  const runs = cliRuns(cwd);
  const [runId = ""] = readdirSync(runs);
  expect((await runCli([".", "go", "--hold", "--trust"], { cwd })).exitCode).toBe(4);
  const damaged = readdirSync(runs).find((name) => /^\d/.test(name) && name !== runId) ?? "";
  writeFileSync(join(runs, damaged, "journal.jsonl"), "{}\n{\n");
  for (const command of [
    ["approve", "last", ".", "1"],
    ["approvals", "last", "."],
    ["resume", "last", "."],
  ]) {
    const { exitCode, stderr } = await runCli(command, { cwd });
    expect({ command, exitCode }).toEqual({ command, exitCode: 2 });
    expect(stderr).toMatch(new RegExp(`the run ${damaged} of .* cannot be read: .*:1: .*; name the run that you mean`));
  }
  expect((await runCli(["approve", runId, ".", "1"], { cwd })).exitCode).toBe(0);
  const { stdout } = await runCli(["approvals", runId, "--json"], { cwd });
  expect(JSON.parse(stdout).questions).toMatchObject([{ answer: { type: "approve" } }]);
});

it("goes on with the run that was answered, also from the folder beside", async () => {
  const write = { tool: "write_file", args: { path: "out/a.txt", content: "a" } };
  const files = {
    "main.worker":
      "---\nmodel: scripted:model.yaml\ntoolsets: { filesystem: {} }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\n---\nWrite.\n",
    "model.yaml": `- reply: { calls: [${JSON.stringify(write)}] }\n- reply: done\n`,
  };
  const beside = await writeProgram(Object.fromEntries(Object.entries(files).map(([name, text]) => [`mine/${name}`, text])));
  const first = await runCli(["mine", "go", "--hold", "--json"], { cwd: beside });
  const { runId } = JSON.parse(first.stdout);
  expect((await runCli(["mine", "go", "--hold"], { cwd: beside })).exitCode).toBe(4);
  expect((await runCli(["approve", runId, "1"], { cwd: beside })).exitCode).toBe(0);
  const resumed = await runCli(["resume"], { cwd: beside });
  expect(resumed).toMatchObject({
    exitCode: 0,
    stdout: "done\n",
    stderr: expect.stringContaining(`going on with the run ${runId}`),
  });
  // The other one is the newest that waits.
  expect((await runCli(["approve", "last", "1"], { cwd: beside })).exitCode).toBe(0);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(beside, "other"), { recursive: true });
    writeFileSync(join(beside, "other", name), text);
  }
  expect((await runCli(["other", "go", "--hold"], { cwd: beside })).exitCode).toBe(4);
  await expectUnclear(beside);
});

it("takes back what the run of the only program below wrote, and of no folder elsewhere", async () => {
  const calls = ["a.txt", "b.txt"].map((path) => ({ tool: "write_file", args: { path: `out/${path}`, content: "a" } }));
  const files = {
    "main.worker":
      "---\nmodel: scripted:model.yaml\ntoolsets: { filesystem: {} }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\n---\nWrite.\n",
    "model.yaml": `- reply: { calls: ${JSON.stringify(calls)} }\n- reply: done\n`,
  };
  const beside = await writeProgram(Object.fromEntries(Object.entries(files).map(([name, text]) => [`mine/${name}`, text])));
  expect((await runCli(["mine", "go", "--approve-all"], { cwd: beside })).exitCode).toBe(0);
  const [first, second] = [join(beside, "mine/out/a.txt"), join(beside, "mine/out/b.txt")];
  // The folder of the program becomes a link to one that is elsewhere.
  renameSync(join(beside, "mine"), join(dirname(beside), "moved"));
  symlinkSync(join(dirname(beside), "moved"), join(beside, "mine"));
  const elsewhere = await runCli(["undo", "last", "--yes"], { cwd: beside });
  expect(elsewhere).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("is in no program") });
  expect(existsSync(first)).toBe(true);
  unlinkSync(join(beside, "mine"));
  renameSync(join(dirname(beside), "moved"), join(beside, "mine"));
  const looked = await runCli(["undo", "last", "--dry-run"], { cwd: beside });
  expect(looked).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("out/b.txt") });
  expect((await runCli(["undo", "last", "--yes"], { cwd: beside })).exitCode).toBe(0);
  expect([first, second].map((path) => existsSync(path))).toEqual([false, false]);
});

async function expectUnclear(beside: string): Promise<void> {
  const unclear = await runCli(["approve", "last", "1"], { cwd: beside });
  expect(unclear).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/`last` could be of .*\/other or of .*\/mine: name the program/),
  });
}

it("is named where the last run wrote nothing that could be taken back", async () => {
  const model = "- reply: { calls: [{ tool: write_file, args: { path: out/a.txt, content: a } }] }\n- reply: done\n";
  const main =
    "---\nmodel: scripted:model.yaml\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { filesystem: {} }\n---\nWrite.\n";
  const cwd = await writeProgram({ "main.worker": main, "model.yaml": model });
  expect((await runCli([".", "go", "--approve", "main/write_file(out/*)"], { cwd })).exitCode).toBe(0);
  const denied = await runCli([".", "go"], { cwd });
  expect(denied).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("--approve 'main/write_file(out/*)'\n") });
  const [wrote = ""] = (await runCli(["runs", "list"], { cwd })).stdout.split(" ");
  const undone = await runCli(["undo", "last", "--yes"], { cwd });
  expect(undone).toMatchObject({
    exitCode: 0,
    stderr: `llm-do: the newest one that did is ${wrote}: \`llm-do undo ${wrote}\`\n`,
  });
  const unasked = await runCli(["undo", wrote], { cwd });
  expect(unasked).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/out\/a\.txt[\s\S]*there is no terminal to ask at: --dry-run/),
  });
  expect((await runCli(["undo", wrote, "--yes"], { cwd })).exitCode).toBe(0);
  const shown = (await runCli(["runs", "show", wrote], { cwd })).stdout;
  expect(shown).toContain("taken back: 0 files restored, 1 removed");
  expect(shown).not.toContain("under way");
});

describe("a run that is looked at", () => {
  const files = { "main.worker": "---\nmodel: scripted:model.yaml\n---\nSay it.\n", "model.yaml": "- reply: said\n" };

  /** The folder of a program, and one below it with a program of its own, whose run is the newest. */
  async function nested() {
    const cwd = await writeProgram({
      ...files,
      "below/main.worker": files["main.worker"],
      "below/model.yaml": files["model.yaml"],
    });
    for (const target of [".", "below"]) expect((await runCli([target, "go"], { cwd })).exitCode).toBe(0);
    const [own = "", below = ""] = [cwd, join(cwd, "below")].map((folder) =>
      readdirSync(runsIn(folder, join(dirname(cwd), "state"))).find((name) => /^\d/.test(name)),
    );
    return { cwd, own, below };
  }

  it("is of the program in this folder, and a newer one of another program is named", async () => {
    const { cwd, own, below } = await nested();
    const shown = await runCli(["runs", "show", "last"], { cwd });
    expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`run ${own}`) });
    expect(shown.stderr).toMatch(new RegExp(`^llm-do: \`last\` is of the program in /.*; ${below} of /.*/below is newer\n$`));
    expect((await runCli(["runs", "show", "last", "below"], { cwd })).stderr).toBe("");
  });

  it("is the newest of all where records alone make the folder a program", async () => {
    const cwd = join(await temporaryFolder(), "app");
    mkdirSync(join(cwd, "below"), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, "below", name), text);
    const library = pathToFileURL(join(import.meta.dirname, "../../dist/index.js")).href;
    const code = `import { run, defineWorker } from "${library}";
      await run({ workers: [defineWorker({ name: "main", instructions: "Say it." })], input: "x", model: "scripted:below/model.yaml", approval: { mode: "approve_all" } });`;
    execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd, env: cleanEnvironment(cwd) });
    for (const command of ["replay", "fork"])
      expect((await runCli([command, "last"], { cwd })).stderr).toContain("are made in code (`main`)");
    expect((await runCli(["below", "go"], { cwd })).exitCode).toBe(0);
    expect((await runCli(["runs", "list"], { cwd })).stdout.match(/^\d/gm)).toHaveLength(2);
    const shown = await runCli(["runs", "show", "last"], { cwd });
    expect(shown).toMatchObject({ exitCode: 0, stderr: "", stdout: expect.stringContaining(" of below, entry main") });
  });

  it("is found by its id from any folder, also to be played again", async () => {
    const { cwd, below } = await nested();
    const elsewhere = await temporaryFolder();
    const env = { LLM_DO_STATE_DIR: join(cwd, "../state") };
    expect(await runCli(["replay", below], { cwd: elsewhere, env })).toMatchObject({ exitCode: 0 });
  });

  it.each([
    [["replay", "below", "last"], "`below` is no run, and the run comes before its program: `last below`"],
    [["runs", "show", "below"], "`below` is no run, and the run comes before its program: `last below`"],
    [
      ["runs", "show", "20260101-000000-abcdef", "below"],
      "there is no run `20260101-000000-abcdef` of `below`; name one of your runs:\n  ",
    ],
    [
      ["runs", "list", "empty"],
      "no runs of empty, which is no program: go into the folder of one, or name it at the end of the line; `llm-do runs list` lists those of all programs",
    ],
  ])("%j says how to name it", async (args, message) => {
    const { cwd } = await nested();
    mkdirSync(join(cwd, "empty"));
    expect((await runCli(args, { cwd })).stderr).toContain(message);
  });
});
