import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { cliRuns, readJournal } from "../records.ts";
import { copyExample, runCli, scripted, slowScripted, startCli } from "./run-cli.ts";

/** The same delays in every run of the test (mulberry32). */
function delays(count: number, longest: number): number[] {
  let state = 20_260_101;
  return Array.from({ length: count }, () => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * longest;
  });
}

const kills = Number(process.env["LLM_DO_KILL_RUNS"] ?? 8);

/** Wherever they lie. */
async function temporariesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".tmp"));
}

describe("kill -9 at any moment", { timeout: 60_000 + kills * 3000 }, () => {
  it("leaves a journal that reads back, reports that are whole or absent, and nothing else after the next run", async () => {
    const cwd = await copyExample();
    const whole = join(await copyExample());
    await runCli([".", "--model", scripted, "--approve-all"], { cwd: whole });
    const read = (folder: string, name: string) => readFile(join(folder, "evaluations", name), "utf8");
    const env = { SLOW_MILLISECONDS: "60" };
    const unfinished: string[] = [];
    for (const delay of delays(kills, 700)) {
      const running = startCli([".", "--model", slowScripted, "--approve-all", "-v"], { cwd, env });
      await running.stderrHolds("main starts");
      await setTimeout(delay / 2);
      running.child.kill("SIGKILL");
      const { exitCode } = await running.result;
      const runs = (await readdir(cliRuns(cwd))).filter((name) => /^\d/.test(name));
      const last = runs.sort().at(-1) ?? "";
      const { entries } = await readJournal(createNodeHost(), join(cliRuns(cwd), last));
      expect(entries[0]).toMatchObject({ type: "run-start" });
      if (exitCode === null) unfinished.push(last);
      for (const name of await readdir(join(cwd, "evaluations")).catch(() => []))
        if (!name.startsWith(".")) expect(await read(cwd, name)).toBe(await read(whole, name));
    }
    expect(unfinished.length).toBeGreaterThan(kills / 2);
    const shown = await runCli(["runs", "show", unfinished[0] ?? ""], { cwd });
    expect(shown).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^llm-do: `llm-do resume [^`]+` goes on with it\n$/),
    });
    expect(shown.stdout).toMatch(/still running, or killed: no end after \d+ entries\n/);
    expect(shown.stdout).toContain("\nunder way at the last entry:\n");
    const list = await runCli(["runs", "list", "."], { cwd });
    expect(list.stdout.match(/^\d/gm)).toHaveLength(kills);
    expect((await runCli([".", "--model", scripted, "--approve-all"], { cwd })).exitCode).toBe(0);
    expect(await readdir(join(cwd, "evaluations"))).toEqual(await readdir(join(whole, "evaluations")));
    expect(await temporariesIn(cwd)).toEqual([]);
  });
});
