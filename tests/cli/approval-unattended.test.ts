import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTerminal } from "./open-terminal.ts";
import { bin, cleanEnvironment, copyExample, runCli, script, scripted, watch, writeProgram } from "./run-cli.ts";

const run = [".", "--model", scripted];
const configuration = "  in main: toolsets: { filesystem: { _approval_config: { write_file: { pre_approved: true } } } }\n";

async function reports(cwd: string): Promise<string[]> {
  return readdir(join(cwd, "evaluations")).catch(() => []);
}

describe("a run without a terminal", () => {
  it("ends with 4, and lists what was needed and what to write", async () => {
    const cwd = await copyExample();
    const { exitCode, stdout, stderr } = await runCli(run, { cwd });
    expect(exitCode).toBe(4);
    expect(stdout).toContain("Reports written: 0. Reports not written: 3.");
    const lines = stderr.split("\n");
    expect(lines[0]).toBe("llm-do: 3 calls needed approval, and nobody could be asked:");
    expect(lines.slice(1, 4).sort()).toEqual([
      "  main: Write 1,103 characters to reports/parcelmoth.md (new file)",
      "  main: Write 1,286 characters to reports/brindle-robotics.md (new file)",
      "  main: Write 2,216 characters to reports/tidewell-sensors.md (new file)",
    ]);
    expect(lines.slice(4, 7)).toEqual([
      "To answer, run at a terminal, or pass --hold and answer later; to allow this, pass --approve-all, or:",
      "  --approve 'main/write_file(reports/*)'",
      "Or write:",
    ]);
    expect(stderr).toContain(configuration);
    expect(await reports(cwd)).toEqual([]);
  });

  it("gets by with the lines that it was told to write", async () => {
    const cwd = await copyExample();
    const path = join(cwd, "main.worker");
    const lines = "  filesystem: { _approval_config: { write_file: { pre_approved: true } } }";
    await writeFile(path, (await readFile(path, "utf8")).replace("  filesystem: {}", lines));
    expect(await runCli(run, { cwd })).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await reports(cwd)).toHaveLength(3);
  });

  it("gets by with the rule that it was told to pass", async () => {
    const cwd = await copyExample();
    expect(await runCli([...run, "--approve", "main/write_file(reports/*)"], { cwd })).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await reports(cwd)).toHaveLength(3);
  });

  it("says the same with --json", async () => {
    const cwd = await copyExample();
    const { exitCode, stdout } = await runCli([...run, "--json"], { cwd });
    const result = JSON.parse(stdout);
    expect([exitCode, result.exitCode]).toEqual([4, 4]);
    expect(result).toMatchObject({ v: 1, stopReason: "done" });
    expect(result.denied).toHaveLength(3);
    expect(result.denied[0]).toMatchObject({ worker: "main", tool: "write_file", source: "nobody" });
    expect(configuration).toContain(result.denied[0].allow);
  });

  it("takes nothing from a pipe for an answer", async () => {
    const cwd = await copyExample();
    for (const answer of ["a\n", "y\n"]) {
      const { exitCode } = await runCli([...run, "all of them"], { cwd, input: answer.repeat(1000) });
      expect(exitCode).toBe(4);
    }
    expect(await reports(cwd)).toEqual([]);
  });

  it("takes no answer from `yes |`, though stderr is a terminal, where no terminal controls the process", async () => {
    const cwd = await copyExample();
    const command = `yes a | setsid --wait $LLM_DO . "all of them" --model ${scripted} > out.txt; echo "code \${PIPESTATUS[1]}"`;
    const terminal = openTerminal([], { cwd, command });
    await terminal.waitFor("code 4");
    expect(terminal.screen()).toContain("needed approval, and nobody could be asked");
    expect(await reports(cwd)).toEqual([]);
  });

  it("asks nothing with --headless, even at a terminal", async () => {
    const cwd = await copyExample();
    const terminal = openTerminal([...run, "--headless"], { cwd });
    expect(await terminal.exitCode).toBe(4);
    expect(terminal.screen()).not.toContain("Approval");
  });

  it("ends with 0 where --reject-all denies, and the model finishes", async () => {
    const cwd = await copyExample();
    const { exitCode, stdout, stderr } = await runCli([...run, "--reject-all"], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("not written (denied): `write_file` was denied: this run rejects everything that asks");
    expect(await reports(cwd)).toEqual([]);
  });

  it("stops at the first denial with --on-denied stop: 5, or 4 where nobody could be asked", async () => {
    const cwd = await copyExample();
    const rejected = await runCli([...run, "--reject-all", "--on-denied", "stop"], { cwd });
    expect(rejected).toMatchObject({ exitCode: 5, stdout: "" });
    expect(rejected.stderr).toContain("was denied: this run rejects everything that asks, and the run stops for it");
    const unattended = await runCli([...run, "--on-denied", "stop", "--json"], { cwd });
    expect(unattended.exitCode).toBe(4);
    expect(JSON.parse(unattended.stdout)).toMatchObject({
      output: null,
      stopReason: "denied",
      error: { code: "denied" },
      exitCode: 4,
    });
  });

  it("never runs what is blocked, whatever the flag", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ntoolsets: { filesystem: {} }\n---\nRewrite yourself.\n",
      "model.yaml": script({ main: [{ calls: [{ tool: "write_file", args: { path: "main.worker", content: "x" } }] }, "done"] }),
    });
    const before = await readFile(join(cwd, "main.worker"), "utf8");
    const { exitCode, stderr } = await runCli([".", "go", "--approve-all", "-v"], { cwd });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("main > write_file#0 failed (blocked)");
    expect(await readFile(join(cwd, "main.worker"), "utf8")).toBe(before);
  });
});

describe("the prompt", () => {
  const echo = async () =>
    writeProgram({
      "main.worker": "---\nmodel: scripted:model.mjs\ninput: { input?: string }\n---\nSay it.\n",
      "model.mjs": 'export default (request) => "<" + request.lastUserText() + ">";\n',
    });
  const trusted = ["--trust", "--no-journal"];

  it("is an argument, stdin for `-`, stdin where there is none, or what follows `--`", async () => {
    const cwd = await echo();
    const of = async (args: readonly string[], input?: string | Uint8Array) =>
      (await runCli([...trusted, ".", ...args], { cwd, ...(input === undefined ? {} : { input }) })).stdout;
    expect(await of(["from argv"], "from stdin")).toBe("<from argv>\n");
    expect(await of(["-"], "from stdin\n")).toBe("<from stdin>\n");
    expect(await of([], "two\nlines\n")).toBe("<two\nlines>\n");
    expect(await of([], "")).toBe("<(no input)>\n");
    expect(await of([])).toBe("<(no input)>\n");
    expect(await of(["--", "rewrite", "main.worker"], "from stdin")).toBe("<rewrite main.worker>\n");
    expect(await of(["--", "--help"])).toBe("<--help>\n");
    expect(await of(["--", "-"], "from stdin")).toBe("<->\n");
    const long = `${"long ".repeat(2000)}.ts`;
    expect(await of([long])).toBe(`<${long}>\n`);
    expect(await of(["look at nowhere.worker"])).toBe("<look at nowhere.worker>\n");
  });

  it("is refused where it is not one", async () => {
    const cwd = await echo();
    const refused = async (args: readonly string[], input?: string | Uint8Array) => {
      const { exitCode, stdout, stderr } = await runCli([...args], { cwd, ...(input === undefined ? {} : { input }) });
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      return stderr;
    };
    expect(await refused([".", "main.worker"])).toBe(
      "llm-do: `main.worker` is a file, and stands after `.`, which is not one; what follows `--` is the prompt\n",
    );
    expect(await refused(["main.worker", "go", "model.mjs"])).toContain("`model.mjs` is a file, and stands after the prompt");
    expect(await refused([".", "say", "two", "words"])).toContain('put it in quotes: "say two words"');
    expect(await refused([".", "say", "--", "two"])).toContain("`say` stands before `--`");
    expect(await refused([".", "-"], new Uint8Array([0xff, 0xfe, 0x00]))).toContain("the prompt cannot be read from stdin");
    expect(await refused([".", "-"], "x".repeat(11_000_000))).toContain("longer than 10,000,000 bytes");
  });

  it("is not waited for in silence, and Ctrl-C ends the waiting", async () => {
    const cwd = await echo();
    const child = spawn(process.execPath, [bin, ...trusted, "."], {
      cwd,
      env: cleanEnvironment(cwd),
      stdio: ["pipe", "pipe", "pipe"],
    });
    const { stderrHolds, result } = watch(child);
    await stderrHolds("llm-do: reading the prompt from stdin; where there is none, add < /dev/null\n");
    child.kill("SIGINT");
    expect((await result).exitCode).toBe(130);
  });
});
