import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyExample, runCli, script, scripted, slowScripted, startCli, writeProgram } from "./run-cli.ts";

async function reportsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(join(folder, "evaluations"))).filter((name) => !name.startsWith("."));
  const texts = names.map(async (name) => [name, await readFile(join(folder, "evaluations", name), "utf8")]);
  return Object.fromEntries(await Promise.all(texts));
}

test("a process goes on with the run of one that was killed, and one that is stopped keeps its run", async () => {
  const [cwd, undisturbed] = [await copyExample(), await copyExample()];
  const whole = await runCli([".", "--model", scripted, "--approve-all"], { cwd: undisturbed });
  const env = { SLOW_MILLISECONDS: "300" };
  const running = startCli([".", "--model", slowScripted, "--approve-all", "-v"], { cwd, env });
  await running.stderrHolds("pitch_evaluator");
  running.child.kill("SIGSTOP");
  const refused = await runCli(["resume", "--approve-all", "--quiet", "--trust"], { cwd, env });
  expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
  expect(refused.stderr).toContain("another process executes this run");
  running.child.kill("SIGKILL");
  await running.result;
  const resumed = await runCli(["resume", "--approve-all", "--json", "--trust"], { cwd, env });
  expect(resumed.exitCode).toBe(0);
  expect(resumed.stderr).toMatch(/^llm-do: going on with the run \d{8}-\d{6}-\w+ of \//m);
  expect(JSON.parse(resumed.stdout).output).toBe(whole.stdout.trimEnd());
  expect(await reportsOf(cwd)).toEqual(await reportsOf(undisturbed));
  const again = await runCli(["resume"], { cwd });
  expect(again).toMatchObject({ exitCode: 2, stdout: "" });
  expect(again.stderr).toContain("there is no run that did not end");
  const replayed = await runCli(["replay", "last", ".", "--model", slowScripted, "--trust"], { cwd, env });
  expect(replayed.stdout).toMatch(/does the same\n$/);
});

test("a run that goes on names the files that are not as they were when it began", async () => {
  const files = {
    "llm-do.yaml": "name: desk\n",
    "main.worker": "---\nmodel: scripted:s.yaml\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
    "s.yaml": script({ main: [{ calls: [{ tool: "write_file", args: { path: "a.txt", content: "x" } }] }, "written"] }),
  };
  const cwd = await writeProgram(files);
  expect((await runCli([".", "go", "--hold"], { cwd })).exitCode).toBe(4);
  expect((await runCli(["approve", "last", "--all", "--yes"], { cwd })).exitCode).toBe(0);
  await writeFile(join(cwd, "llm-do.yaml"), "name: other\n");
  await writeFile(join(cwd, "s.yaml"), files["s.yaml"].replace("written", "done"));
  const { stderr } = await runCli(["resume"], { cwd });
  expect(stderr.match(/changed since the run began: .*/g)).toEqual(["changed since the run began: llm-do.yaml, s.yaml"]);
});
