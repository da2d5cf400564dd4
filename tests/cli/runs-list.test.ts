import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runsIn } from "../records.ts";
import { runCli, script, temporaryFolder } from "./run-cli.ts";

/** Two programs in folders of one user. */
async function twoPrograms(): Promise<string> {
  const folder = join(await temporaryFolder(), "work");
  for (const name of ["one", "two"]) {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, "main.worker"), "---\ndescription: Answers.\n---\nAnswer.\n");
    await writeFile(join(folder, name, "s.json"), script({ main: ["an answer"] }));
  }
  return folder;
}

const run = (name: string, prompt: string, cwd: string) =>
  runCli([name, prompt, "--model", `scripted:${name}/s.json`, "--price", "scripted:*=1,1"], { cwd });

const list = async (args: readonly string[], cwd: string) => {
  const { stdout } = await runCli(["runs", "list", ...args, "--json"], { cwd });
  return JSON.parse(stdout);
};

describe("llm-do runs", () => {
  it("lists the latest runs wherever their programs are, and `last` is the last", async () => {
    const cwd = await twoPrograms();
    for (const [name, prompt] of [["one", "first"], ["two", "second"], ["one", "third"], ["two", "fourth"]] as const) // biome-ignore format: pairs
      expect(await run(name, prompt, cwd)).toMatchObject({ exitCode: 0 });
    const alone = await runCli(["runs", "-n", "2"], { cwd });
    expect(alone).toEqual(await runCli(["runs", "list", "-n", "2"], { cwd }));
    expect(alone.stdout.match(/^\d/gm)).toHaveLength(2);
    const { v, runs } = await list([], cwd);
    expect(v).toBe(1);
    expect(runs.map(({ prompt }: { prompt: string }) => prompt)).toEqual(["first", "second", "third", "fourth"]);
    expect(runs[3]).toEqual({
      runId: expect.stringMatching(/^\d{8}-\d{6}-\w{6}$/),
      folder: join(cwd, "two"),
      outcome: "done",
      summary: expect.stringContaining("done, 1 request"),
      program: "two",
      entry: "main",
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      milliseconds: expect.any(Number),
      model: "scripted:s.json",
      prompt: "fourth",
      usage: expect.objectContaining({ requests: 1, usd: 0 }),
      denied: 0,
    });
    expect((await list(["one"], cwd)).runs).toHaveLength(2);
    expect((await list(["-n", "1"], cwd)).runs).toEqual([runs[3]]);
    const shown = await runCli(["runs", "show", "last"], { cwd });
    expect(shown.stdout).toContain(`run ${runs[3].runId} of two`);
    expect((await runCli(["runs", "show", runs[0].runId], { cwd })).stdout).toContain(`run ${runs[0].runId} of one`);
  });

  it("says that calls were denied, also of a run that came to its end", async () => {
    const cwd = join(await temporaryFolder(), "app");
    await mkdir(cwd);
    await writeFile(join(cwd, "main.worker"), "---\ntoolsets: { filesystem: {} }\n---\nWrite.\n");
    const write = { tool: "write_file", args: { path: "a.txt", content: "a" } };
    await writeFile(join(cwd, "s.json"), script({ main: [{ calls: [write] }, "I could not."] }));
    expect((await runCli([".", "go", "--headless", "--model", "scripted:s.json"], { cwd })).exitCode).toBe(4);
    const { stdout } = await runCli(["runs", "list", "--outcome", "denied"], { cwd });
    expect(stdout).toContain("done, 1 call denied, 2 requests");
    await writeFile(join(cwd, "s.json"), script({ main: ["done"] }));
    expect((await runCli([".", "go", "--model", "scripted:s.json"], { cwd })).exitCode).toBe(0);
    const outcomes = async (...words: string[]) => (await list(["--outcome", ...words], cwd)).runs.length;
    expect(await outcomes("denied")).toBe(1);
    expect(await outcomes("done")).toBe(2);
    expect(await outcomes("failed", "--outcome", "denied")).toBe(1);
    expect(await outcomes("failed", "--outcome", "suspended")).toBe(0);
  });

  it("has nothing that waits without an error", async () => {
    const cwd = await twoPrograms();
    await run("one", "go", cwd);
    const there = { cwd: join(cwd, "one") };
    const said = await runCli(["approvals"], there);
    expect(said).toEqual({
      exitCode: 0,
      stdout: `nothing waits for an answer in a run of the program in ${there.cwd}\n`,
      stderr: "",
    });
    expect((await runCli(["approvals", "--json"], there)).stdout).toBe('{"v":1,"questions":[]}\n');
  });

  it("finds runs again whose index is gone, and those of a program that is gone", async () => {
    const cwd = await twoPrograms();
    for (const name of ["one", "two"]) await run(name, "go", cwd);
    const before = (await list([], cwd)).runs;
    expect(before).toHaveLength(2);
    for (const name of ["one", "two"]) await rm(join(runsIn(join(cwd, name), join(dirname(cwd), "state")), "index.jsonl"));
    expect((await list([], cwd)).runs).toEqual(before);
    await rm(join(cwd, "one"), { recursive: true });
    expect((await list([], cwd)).runs).toEqual(before);
  });

  it("lists a run with a damaged journal, and one that is too old", async () => {
    const cwd = await twoPrograms();
    await run("one", "x", cwd);
    const [{ runId }] = (await list([], cwd)).runs;
    const journal = join(runsIn(join(cwd, "one"), join(dirname(cwd), "state")), runId, "journal.jsonl");
    const text = await readFile(journal, "utf8");
    // A list reads the journal of a run that its index does not have.
    const index = join(dirname(dirname(journal)), "index.jsonl");
    await rm(index);
    await writeFile(journal, text.replace('"program":"one"', '"program":7'));
    expect((await list([], cwd)).runs).toMatchObject([{ runId, outcome: "unreadable" }]);
    await writeFile(journal, text.replaceAll('"v":2', '"v":1'));
    expect((await list([], cwd)).runs).toMatchObject([{ outcome: "old", summary: expect.stringContaining("too old") }]);
    await rm(index);
    await writeFile(journal, "no JSON\n");
    expect((await list([], cwd)).runs).toMatchObject([{ outcome: "unreadable", summary: expect.stringContaining("not JSON") }]);
    expect(await runCli(["runs", "list"], { cwd })).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("finds runs by program, time, outcome, model and text, and removes all but the newest of each program", async () => {
    const cwd = await twoPrograms();
    await run("one", "about Lisbon", cwd);
    await run("two", "about Oslo", cwd);
    await run("one", `about ${"x".repeat(9000)} Faro`, cwd);
    const prompts = async (...args: string[]) => (await list(args, cwd)).runs.map(({ prompt }: { prompt: string }) => prompt);
    expect(await prompts("--search", "FARO", "--since", "1h")).toHaveLength(1);
    expect(await prompts("--program", "two", "--outcome", "done", "--model", "scripted:")).toEqual(["about Oslo"]);
    const costs = (await runCli(["runs", "show", "last", "--costs", "--messages"], { cwd })).stdout;
    expect(costs).toMatch(/by turn.*\n {2}main@1: 1 request/);
    expect(costs).toMatch(/--- main, answer 1\n {2}\| an answer\n/);
    expect((await runCli(["runs", "prune", "--all", "--keep", "1", "--yes"], { cwd })).stdout).toMatch(/^\S+\n$/);
    expect(await prompts("--search", "about")).toEqual(["about Oslo", expect.stringContaining("bytes")]);
  });
});
