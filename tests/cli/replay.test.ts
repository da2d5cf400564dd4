import { spawn, spawnSync } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { cliRuns } from "../records.ts";
import { bin, cleanEnvironment, copyExample, runCli, scripted, watch, writeProgram } from "./run-cli.ts";

const files = {
  "main.worker": "---\nmodel: scripted:model.mjs\ntoolsets: { filesystem: {}, shout: {} }\n---\nYou write.\n",
  "model.mjs": `export default ({ turn }) =>
  turn === 1
    ? { calls: [{ tool: "write_file", args: { path: "a.txt", content: "hello" } }, { tool: "shout", args: { text: "x" } }] }
    : "written";
`,
  "tools.ts": `import { appendFileSync } from "node:fs";
import { tool } from "llm-do";
export const shout = tool({
  input: { type: "object", properties: { text: { type: "string" } } },
  run: ({ text }: { text: string }) => {
    appendFileSync("effects.log", text);
    return text.toUpperCase();
  },
});
`,
};

async function record(): Promise<string> {
  const cwd = await writeProgram(files);
  expect((await runCli([".", "go", "--trust", "--approve-all"], { cwd })).exitCode).toBe(0);
  return cwd;
}

describe("llm-do replay", () => {
  it("plays the last run again, and does nothing of it", async () => {
    const cwd = await record();
    await writeFile(join(cwd, "a.txt"), "changed since");
    const { exitCode, stdout } = await runCli(["replay", "--trust"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining("does the same") });
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("changed since");
    expect(await readFile(join(cwd, "effects.log"), "utf8")).toBe("x");
  });

  it("says which request is different with the program of today, and exits with 1", async () => {
    const cwd = await record();
    await writeFile(join(cwd, "main.worker"), files["main.worker"].replace("You write.", "You write much."));
    const { exitCode, stdout } = await runCli(["replay", "last", ".", "--trust"], { cwd });
    expect(exitCode).toBe(1);
    const change = 'the instructions changed: "You write much." was "You write."';
    expect(stdout).toContain(`\n  main.worker:5: main, turn 1: ${change}; also 1 later request of it\n`);
    const json = await runCli(["replay", "--trust", "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({
      v: 1,
      same: false,
      drifts: [{ callPath: "main", key: "model 1.1", place: { file: "main.worker", line: 5 } }, {}],
    });
  });

  it("reports the request beyond the record where a run that a limit ended goes on today", async () => {
    const worker = (turns: number) =>
      `---\nmodel: scripted:model.mjs\nlimits: { turns: ${turns} }\ntoolsets: { filesystem: {} }\n---\nYou list.\n`;
    const model =
      'export default ({ turn, tools }) => (tools.length > 0 ? { calls: [{ tool: "list_files", args: {} }] } : "so far");\n';
    const cwd = await writeProgram({ "main.worker": worker(2), "model.mjs": model });
    expect((await runCli([".", "go", "--trust"], { cwd })).exitCode).toBe(6);
    await writeFile(join(cwd, "main.worker"), worker(4));
    const { exitCode, stdout, stderr } = await runCli(["replay", "--trust"], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: "" });
    expect(stdout).toContain("the program of today does something else");
  });

  it("compiles the program with the flags of the run, and over them with those of today", async () => {
    const model = "export default () => 'hello';\n";
    const cwd = await writeProgram({
      "main.worker": "---\n---\nYou go.\n",
      "side.worker": "---\n---\nYou greet.\n",
      "model.mjs": model,
      "none.mjs": model,
    });
    expect((await runCli(["side.worker", "go", "--model", "scripted:model.mjs", "--trust"], { cwd })).exitCode).toBe(0);
    expect(await runCli(["replay", "--trust"], { cwd })).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await runCli(["replay", "last", "side.worker", "--trust"], { cwd })).toMatchObject({ exitCode: 0 });
    const other = await runCli(["replay", "last", ".", "--model", "scripted:none.mjs", "--trust"], { cwd });
    expect(other).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("something else") });
  });

  it("names a run that is not there, a blob that is gone and a damaged entry", async () => {
    const cwd = await record();
    expect(await runCli(["replay", "nope"], { cwd })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("there is no run `nope`;"),
    });
    const { stdout } = await runCli(["runs", "list", "--json"], { cwd });
    const journal = join(cliRuns(cwd), JSON.parse(stdout).runs[0].runId, "journal.jsonl");
    const lines = (await readFile(journal, "utf8")).split("\n");
    await writeFile(journal, lines.map((line) => line.replace('"denied":0', '"denied":"x"')).join("\n"));
    const { exitCode, stderr } = await runCli(["replay", "--trust"], { cwd });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/journal\.jsonl:\d+: the field `denied` of this run-end entry is missing or damaged/);
  });
});

/** Runs the command where there is no network, if this machine can do that. */
function runOffline(args: readonly string[], cwd: string) {
  const command = [process.execPath, bin, ...args];
  const wall = ["bwrap", "--unshare-net", "--dev-bind", "/", "/"];
  const isWalled = spawnSync("bwrap", [...wall.slice(1), "true"]).status === 0;
  const [program = "", ...rest] = isWalled ? [...wall, ...command] : command;
  return watch(spawn(program, rest, { cwd, env: cleanEnvironment(cwd), stdio: ["ignore", "pipe", "pipe"] })).result;
}

test("replays a run of the pitch decks without its secrets and without a network", async () => {
  const cwd = await copyExample();
  expect((await runCli([".", "--model", scripted, "--approve-all", "-q"], { cwd })).exitCode).toBe(0);
  const [id = ""] = await readdir(cliRuns(cwd));
  await rm(join(cliRuns(cwd), id, "secrets.jsonl"), { force: true });
  const replayOffline = () => runOffline(["replay", "last", ".", "--model", scripted, "--trust"], cwd);
  const same = await replayOffline();
  expect(same).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/the program of today does the same\n$/) });
  const worker = join(cwd, "pitch_evaluator.worker");
  const text = await readFile(worker, "utf8");
  const word = text.lastIndexOf("the ");
  await writeFile(worker, `${text.slice(0, word)}each ${text.slice(word + 4)}`);
  const line = text.slice(0, word).split("\n").length;
  const { exitCode, stdout } = await replayOffline();
  expect(exitCode).toBe(1);
  expect(stdout.split("\n")[1]).toContain(`pitch_evaluator.worker:${line}: main/`);
  expect(stdout.split("\n")[1]).toMatch(/turn 1: the instructions changed: ".*\beach\b.*" was ".*\bthe\b.*"/);
});
