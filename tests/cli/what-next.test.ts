import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, script, writeProgram } from "./run-cli.ts";

const write = { calls: [{ tool: "write_file", args: { path: "out.txt", content: "new" } }] };
const files = {
  "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
  "model.yaml": script({ main: [write, "done"] }),
};

/** Returns the next step that stderr names. */
const nextOf = (stderr: string) => /(?:^llm-do: |; )(`llm-do .*?)$/m.exec(stderr)?.[1];

describe("every command says the same of what can be done next with a run", { timeout: 60_000 }, () => {
  it("with an imported and an adopted one, until it is done", async () => {
    const cwd = await writeProgram(files);
    const { stdout } = await runCli([".", "--hold", "--json"], { cwd });
    const { runId } = JSON.parse(stdout);
    expect((await runCli(["runs", "export", runId, "-o", "../run.json"], { cwd })).exitCode).toBe(0);
    const env = { LLM_DO_STATE_DIR: join(dirname(cwd), "state of another") };
    const said = async (...words: string[]) => runCli(words, { cwd, env });
    expect((await said("runs", "import", "../run.json")).exitCode).toBe(0);

    const adopts = `\`llm-do runs adopt ${runId}\` takes over what happened, and then it can go on`;
    const looked = await said("approvals", runId);
    expect(looked.stdout).toContain(adopts);
    expect(looked.stdout).not.toMatch(/approve|resume/);
    for (const words of [
      ["runs", "show", runId],
      ["runs", "list"],
    ])
      expect(nextOf((await said(...words)).stderr)).toBe(adopts);

    const adopted = await said("runs", "adopt", runId, "--yes");
    const resumes = `\`llm-do resume ${runId}\` goes on with it`;
    const next = nextOf(adopted.stderr);
    expect(next).toBe(resumes);
    for (const words of [
      ["approve", runId, "1"],
      ["approve", "last"],
      ["approvals"],
      ["approvals", runId],
      ["runs", "show"],
      ["runs", "list"],
    ])
      expect({ words, next: nextOf((await said(...words)).stderr) }).toEqual({ words, next });

    expect((await said("resume", runId)).exitCode).toBe(4);
    for (const words of [
      ["runs", "show"],
      ["runs", "list"],
    ])
      expect(nextOf((await said(...words)).stderr)).toBe(
        `\`llm-do approve ${runId}\` asks what waits for an answer, and ${resumes}`,
      );
    expect((await said("approve", "last", "1")).exitCode).toBe(0);
    expect(nextOf((await said("runs", "show")).stderr)).toBe(resumes);
    expect((await said("resume")).exitCode).toBe(0);
    for (const words of [["runs", "show"], ["runs", "list"], ["approvals"]]) expect((await said(...words)).stderr).toBe("");
  });

  it("with one that ended at a limit, of the run and of the worker's file", async () => {
    const cwd = await writeProgram(files);
    const limited = await runCli([".", "--limit", "turns=1", "--approve-all"], { cwd });
    const next = nextOf(limited.stderr)?.replace(" --approve-all", "");
    expect(next).toMatch(/^`llm-do resume \S+ --limit turns=2` goes on with it$/);
    for (const words of [["approve", "last"], ["approvals"], ["runs", "show"], ["runs", "list"]])
      expect({ words, next: nextOf((await runCli(words, { cwd })).stderr) }).toEqual({ words, next });
    const own = await writeProgram({
      ...files,
      "main.worker": files["main.worker"].replace("input:", "limits: { turns: 1 }\ninput:"),
    });
    expect((await runCli(["."], { cwd: own })).exitCode).toBe(6);
    expect((await runCli(["runs", "show"], { cwd: own })).stderr).toMatch(
      /^llm-do: raise `turns` under `limits` of main\.worker to 2; then /,
    );
  });
});
