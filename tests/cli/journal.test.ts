import { spawn, spawnSync } from "node:child_process";
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliRuns } from "../records.ts";
import { bin, cleanEnvironment, copyExample, runCli, scripted, watch } from "./run-cli.ts";

const args = [".", "--model", scripted, "--approve-all", "-q"];
const nobody = 65_534;
const hasBubblewrap = spawnSync("bwrap", ["--bind", "/", "/", "true"]).status === 0;

async function runsOf(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

describe("the journal", () => {
  it("is the owner's alone, leaves nothing in the program's folder, and is not written with --no-journal", async () => {
    const cwd = await copyExample();
    const before = await readdir(cwd);
    await runCli([...args, "--no-journal"], { cwd });
    expect(await runsOf(join(dirname(cwd), "state/runs"))).toEqual([]);
    await runCli(args, { cwd });
    const [run = ""] = await runsOf(cliRuns(cwd));
    expect((await stat(join(cliRuns(cwd), run))).mode & 0o777).toBe(0o700);
    expect((await stat(join(cliRuns(cwd), run, "journal.jsonl"))).mode & 0o777).toBe(0o600);
    expect((await readdir(cwd)).filter((name) => !before.includes(name))).toEqual(["evaluations"]);
  });

  it("keeps the values of its secrets in a folder of the owner's, and replays the same with and without it", async () => {
    const cwd = await copyExample();
    const token = `ghp_${"aB3d".repeat(9)}`;
    const { exitCode, stderr } = await runCli([".", `all of them, with ${token}`, ...args.slice(1)], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [run = ""] = await runsOf(cliRuns(cwd));
    const folder = join(cliRuns(cwd), run);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, "secrets.jsonl"))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, "secrets.jsonl"), "utf8")).toContain(token);
    expect(await readFile(join(cliRuns(cwd), run, "journal.jsonl"), "utf8")).not.toContain(token);
    const replay = () => runCli(["replay", "last", ".", "--model", scripted, "--json"], { cwd });
    const whole = await replay();
    expect(whole.stdout).not.toContain(token);
    await rm(join(folder, "secrets.jsonl"));
    for (const { stdout } of [whole, await replay()]) expect(JSON.parse(stdout)).toMatchObject({ same: true });
  });

  it("goes to the user's state folder where the program's is read-only, and `runs` finds it there", async () => {
    const cwd = await copyExample();
    const asNobody = process.getuid?.() === 0 ? { uid: nobody } : {};
    await mkdir(join(cwd, "evaluations"), { mode: 0o777 });
    await chmod(join(cwd, "evaluations"), 0o777);
    for (const folder of ["home", "state"]) {
      await mkdir(join(dirname(cwd), folder));
      if (asNobody.uid !== undefined) await chown(join(dirname(cwd), folder), nobody, nobody);
    }
    await chmod(dirname(cwd), 0o755);
    await chmod(cwd, 0o555);
    try {
      const { exitCode, stderr } = await runCli(args, { cwd, ...asNobody });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(await runsOf(join(cwd, ".llm-do"))).toEqual([]);
      expect(await runsOf(join(dirname(cwd), "state/runs"))).toHaveLength(1);
      const list = await runCli(["runs", "list"], { cwd, ...asNobody });
      expect(list.stdout).toMatch(/ done, 7 requests/);
    } finally {
      await chmod(cwd, 0o755);
    }
  });

  it.skipIf(!hasBubblewrap)("goes there on a disk that is mounted read-only, too", async () => {
    const cwd = await copyExample();
    await mkdir(join(cwd, "evaluations"));
    const state = join(dirname(cwd), "state");
    await mkdir(state);
    const mounts = [
      "--bind",
      "/",
      "/",
      "--dev",
      "/dev",
      "--ro-bind",
      cwd,
      cwd,
      "--tmpfs",
      join(cwd, "evaluations"),
      "--chdir",
      cwd,
    ];
    const child = spawn("bwrap", [...mounts, process.execPath, bin, ...args], {
      env: cleanEnvironment(cwd),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { exitCode, stderr } = await watch(child).result;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(await runsOf(join(state, "runs"))).toHaveLength(1);
  });

  it("stops the run where it cannot be written: 2, before anything has its effect; --no-journal is the way out", async () => {
    const cwd = await copyExample();
    await mkdir(join(dirname(cwd), "state"));
    await writeFile(join(dirname(cwd), "state/runs"), "a file where the folder should be");
    const { exitCode, stdout, stderr } = await runCli(args, { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(
      /^llm-do: the run cannot be recorded: .*; --store FOLDER records it elsewhere, and --no-journal not at all\n$/,
    );
    expect(await runsOf(join(cwd, "evaluations"))).toEqual([]);
    expect((await runCli([...args, "--no-journal"], { cwd })).exitCode).toBe(0);
  });

  it("stops the run where the disk is full", async () => {
    const cwd = await copyExample();
    // A limit on the size of files stands in for a full disk: writing fails where it is reached.
    const command = `trap '' XFSZ; ulimit -f 8; exec ${process.execPath} ${bin} ${args.join(" ")}`;
    const child = spawn("bash", ["-c", command], { cwd, env: cleanEnvironment(cwd), stdio: ["ignore", "pipe", "pipe"] });
    const { exitCode, stdout, stderr } = await watch(child).result;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("the journal cannot be written: EFBIG");
    expect(await runsOf(join(cwd, "evaluations"))).toEqual([]);
    const list = await runCli(["runs", "list"], { cwd });
    expect(list).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`--model ${scripted}\` goes on with it\n`) });
  });

  it("shows on 80 columns", async () => {
    const cwd = await copyExample();
    await runCli(args, { cwd });
    const list = await runCli(["runs", "list"], { cwd });
    expect(list.stdout).toMatch(
      /^\d{8}-\d{6}-\w{6} {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}done, 7 requests, [\d,]+ tokens\n {2}pitchdeck_eval, scripted:scripted\.ts, [\d.]+ s from start to end, \$0\.00\n$/,
    );
    const show = await runCli(["runs", "show", "last"], { cwd });
    for (const line of [...list.stdout.split("\n"), ...show.stdout.split("\n")]) expect(line.length).toBeLessThanOrEqual(80);
    expect(show.stdout).toContain("  main > write_file#4 approved by approve_all\n");
    const entries = await runCli(["runs", "show", "last", "--json"], { cwd });
    expect(
      entries.stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).n),
    ).toEqual([...Array(44).keys()]);
  });
});
