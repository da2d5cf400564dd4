import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliRuns } from "../records.ts";
import { bin, copyExample, runCli, scripted } from "./run-cli.ts";

/** Text that is in the PDFs, and in no file that a program could copy it from. */
const found = {
  "tidewell-sensors.md": ["$1,837,400", "**Verdict: go**, 28 of 30"],
  "brindle-robotics.md": ["46,312 trees", "**Verdict: watch**, 18 of 30"],
  "parcelmoth.md": ["$917 billion", "**Verdict: pass**, 11 of 30"],
};

describe("llm-do examples/pitchdeck_eval", () => {
  it("evaluates three decks and writes three reports; stdout holds the result and nothing else", async () => {
    const cwd = await copyExample();
    const { exitCode, stdout, stderr } = await runCli([".", "--model", scripted, "--approve-all"], { cwd });
    expect(stderr).toBe("llm-do: --approve-all: everything that would ask runs without a question\n");
    expect(exitCode).toBe(0);
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("| Deck | Company | Verdict | Total | Report |");
    expect(lines.at(-2)).toBe("Reports written: 3. Reports not written: 0. Decks not evaluated: 0.");
    expect(await readdir(join(cwd, "evaluations"))).toEqual(Object.keys(found).sort());
    for (const [name, texts] of Object.entries(found)) {
      const report = await readFile(join(cwd, "evaluations", name), "utf8");
      for (const text of texts) expect(report).toContain(text);
    }
  });

  it("tells at -v what it does: calls, approvals, usage; and at -vv the text as it comes", async () => {
    const cwd = await copyExample();
    const quiet = await runCli([".", "--model", scripted, "--approve-all", "-q"], { cwd });
    const told = await runCli([".", "--model", scripted, "--approve-all", "-v"], { cwd });
    const streamed = await runCli([".", "--model", scripted, "--approve-all", "-vv"], { cwd });
    expect(quiet.stderr).toBe("");
    expect([told.stdout, streamed.stdout]).toEqual([quiet.stdout, quiet.stdout]);
    expect(told.stderr).toContain("main starts on scripted:scripted.ts (--model)\n");
    expect(told.stderr).toContain(
      "main > pitch_evaluator#3 starts on scripted:scripted.ts (--model) with decks/tidewell-sensors.pdf\n",
    );
    expect(told.stderr).toContain("main > write_file#4 approved by approve_all\n");
    expect(told.stderr).toMatch(/\nrun done: 7 requests, [\d,]+ tokens in, [\d,]+ out, \$0\.00\n$/);
    expect(told.stderr).not.toContain("| Deck |");
    expect(streamed.stderr).toContain("| Deck |");
  });

  it("runs from another folder, from a worker file, and one worker alone with an attachment", async () => {
    const cwd = await copyExample();
    const away = await runCli([cwd, "--model", scripted, "--approve-all", "-q"], { cwd: join(cwd, "..") });
    const file = await runCli(["main.worker", "--model", scripted, "--approve-all", "-q"], { cwd });
    expect(away.exitCode).toBe(0);
    expect(file).toEqual(away);
    const deck = ["-a", "input/parcelmoth.pdf"];
    const alone = await runCli(["pitch_evaluator.worker", ...deck, "--model", scripted, "-q", "--no-journal"], { cwd });
    expect(alone).toMatchObject({ exitCode: 0, stderr: "" });
    expect(alone.stdout).toContain("$917 billion");
  });

  it("gives one JSON object with --json", async () => {
    const cwd = await copyExample();
    const { exitCode, stdout } = await runCli([".", "--model", scripted, "--approve-all", "--json"], { cwd });
    const result = JSON.parse(stdout);
    expect(exitCode).toBe(0);
    expect(Object.keys(result)).toEqual(["v", "runId", "output", "stopReason", "usage", "artifacts", "denied", "exitCode"]);
    expect(result).toMatchObject({ v: 1, stopReason: "done", denied: [], exitCode: 0, usage: { requests: 7 } });
    expect(result.output).toContain("Reports written: 3.");
    expect(await readdir(cliRuns(cwd))).toEqual([result.runId, "index.jsonl", "program.json"]);
  });

  it("takes a reader that goes away for no failure", async () => {
    const cwd = await copyExample();
    const { spawnSync } = await import("node:child_process");
    const command = `${process.execPath} ${bin} . --model ${scripted} --reject-all -v 2>/dev/null | head -c 10; echo " \${PIPESTATUS[0]}"`;
    const { stdout } = spawnSync("bash", ["-c", command], { cwd, encoding: "utf8" });
    expect(stdout).toBe("| Deck | C 0\n");
  });
});
