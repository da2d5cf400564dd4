import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../src/protocol/fact.ts";
import { cliRuns } from "../records.ts";
import { openTerminal } from "./open-terminal.ts";
import { copyExample, runCli, slowScripted, startCli, writeProgram, writeStubborn } from "./run-cli.ts";

const args = [".", "--model", slowScripted, "--approve-all", "-v"];
const slow = { SLOW_MILLISECONDS: "700" };
const goesOnLine = /^llm-do: `llm-do resume (\S+) [^`]*` goes on with it$/m;
const allThree = ["pitch_evaluator#1 starts", "pitch_evaluator#2 starts", "pitch_evaluator#3 starts"];

async function readEntries(cwd: string): Promise<JournalEntry[]> {
  const [run = ""] = (await readdir(cliRuns(cwd)))
    .filter((name) => /^\d/.test(name))
    .sort()
    .slice(-1);
  const text = await readFile(join(cliRuns(cwd), run, "journal.jsonl"), "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as JournalEntry);
}

/** Returns true while a process, or one that it started, exists. */
function isAlive(pid: number | undefined): boolean {
  try {
    process.kill(pid ?? 0, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a signal in the middle of three parallel children", () => {
  for (const [signal, exitCode, word] of [
    ["SIGINT", 130, "interrupted"],
    ["SIGTERM", 143, "terminated"],
    ["SIGHUP", 129, "the terminal is gone"],
  ] as const) {
    it(`${signal} ends the run in good order with ${exitCode}`, async () => {
      const cwd = await copyExample();
      const running = startCli(args, { cwd, env: slow });
      for (const text of allThree) await running.stderrHolds(text);
      const sent = performance.now();
      running.child.kill(signal);
      const { exitCode: code, stdout, stderr } = await running.result;
      expect(performance.now() - sent).toBeLessThan(10_000);
      expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
      expect(stderr).toContain(`llm-do: the run was aborted: ${word}\n`);
      expect(isAlive(running.child.pid)).toBe(false);
      const entries = await readEntries(cwd);
      expect(stderr).toMatch(goesOnLine);
      expect(entries.at(-1)).toMatchObject({ type: "run-end", stopReason: "aborted" });
      const ends = entries.filter((entry) => entry.type === "call-end").map((entry) => [entry.callPath, entry.stopReason]);
      expect(ends).toHaveLength(4);
      expect(ends.at(-1)).toEqual(["main", "aborted"]);
      expect(await readdir(join(cwd, "evaluations")).catch(() => [])).toEqual([]);
    });
  }

  it("names the run, and the line printed goes on with it", async () => {
    const cwd = await copyExample();
    const running = startCli(args, { cwd, env: slow });
    for (const text of allThree) await running.stderrHolds(text);
    running.child.kill("SIGINT");
    const [, runId = ""] = goesOnLine.exec((await running.result).stderr) ?? [];
    const resumed = await runCli(["resume", runId, "--model", slowScripted, "--approve-all"], {
      cwd,
      env: { SLOW_MILLISECONDS: "1" },
    });
    expect(resumed).toMatchObject({ exitCode: 0 });
  });

  it("names no way on for a run without a record", async () => {
    const cwd = await copyExample();
    const running = startCli([...args, "--no-journal"], { cwd, env: slow });
    for (const text of allThree) await running.stderrHolds(text);
    running.child.kill("SIGINT");
    expect((await running.result).stderr).not.toContain("llm-do resume");
  });

  it("says so with --json", async () => {
    const cwd = await copyExample();
    const running = startCli([...args, "--json"], { cwd, env: slow });
    for (const text of allThree) await running.stderrHolds(text);
    running.child.kill("SIGINT");
    const { exitCode, stdout } = await running.result;
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ v: 1, output: null, stopReason: "aborted", error: { code: "aborted" }, exitCode });
  });

  it("Ctrl-C at a terminal does the same", async () => {
    const cwd = await copyExample();
    const terminal = openTerminal(args, { cwd, env: slow });
    for (const text of ["pitch_evaluator#", "pitch_evaluator#", "pitch_evaluator#"]) await terminal.waitFor(text);
    terminal.type("\x03");
    expect(await terminal.exitCode).toBe(130);
    expect(terminal.screen()).toContain("llm-do: stopping; press Ctrl-C again to end at once");
    expect(terminal.screen()).toMatch(/llm-do resume \d{8}-\d{6}-\w+ --model/);
  });
});

describe("a tool that does not listen", () => {
  const deaf = (body: string) =>
    writeProgram({
      "main.worker": "---\nmodel: scripted:model.mjs\ntoolsets: { wait: {} }\n---\nWait.\n",
      "model.mjs": 'export default (request) => (request.turn === 1 ? { calls: [{ tool: "wait" }] } : "waited");\n',
      "tools.ts": `import { tool } from "llm-do";
import { z } from "zod";
export const wait = tool({
  description: "Wait.",
  input: z.object({}),
  approval: "pre-approved",
  run: async () => {
    ${body}
    return "waited";
  },
});
`,
    });

  it("holds up neither the end of the run nor the process", async () => {
    const cwd = await deaf('console.log("it waits"); await new Promise((resolve) => setTimeout(resolve, 60_000));');
    const running = startCli([".", "go", "--trust", "-v"], { cwd });
    await running.stderrHolds("it waits");
    running.child.kill("SIGINT");
    expect((await running.result).exitCode).toBe(130);
    expect((await readEntries(cwd)).at(-1)).toMatchObject({ type: "run-end", stopReason: "aborted" });
  });

  it("does not keep the process of a run that is done", async () => {
    const cwd = await deaf("setInterval(() => undefined, 1000);");
    const { exitCode, stdout } = await runCli([".", "go", "--trust"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "waited\n" });
  });

  it("is ended by a second Ctrl-C while the first one's work is held up", async () => {
    const cwd = await writeStubborn();
    const running = startCli([".", "go", "--trust", "-v"], { cwd });
    await running.stderrHolds("asked");
    running.child.kill("SIGINT");
    await running.stderrHolds("press Ctrl-C again to end at once");
    await running.stderrHolds("closing");
    expect(running.child.exitCode).toBe(null);
    running.child.kill("SIGINT");
    expect((await running.result).exitCode).toBe(130);
  });

  it("is a failure where it waits for what can never happen", async () => {
    const cwd = await deaf("await new Promise(() => undefined);");
    const { exitCode, stdout, stderr } = await runCli([".", "go", "--trust"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("nothing is left to wait for");
  });
});
