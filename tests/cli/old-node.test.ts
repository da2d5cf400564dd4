import { execFileSync, spawn } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  bin,
  cleanEnvironment,
  copyExample,
  runCli,
  scripted,
  slowScripted,
  startCli,
  temporaryFolder,
  watch,
} from "./run-cli.ts";

/** A Node 20 of this machine, if it has one. */
function findOldNode(): string | undefined {
  return ["/usr/bin/node", "/usr/local/bin/node", "/opt/homebrew/opt/node@20/bin/node"].find((path) => {
    try {
      return /^v20\./.test(execFileSync(path, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    } catch {
      return false;
    }
  });
}

const node = findOldNode() ?? "";

describe.skipIf(node === "")("on Node 20", () => {
  it("runs itself on the newer Node beside it; output and exit codes pass through", async () => {
    const cwd = await copyExample();
    const run = [".", "--model", scripted];
    const done = await runCli([...run, "--approve-all", "-q"], { cwd, node });
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(done.stdout).toContain("Reports written: 3.");
    expect((await runCli(run, { cwd, node })).exitCode).toBe(4);
    expect((await runCli(["--nothing"], { cwd, node })).exitCode).toBe(2);
    expect((await runCli([".", "-", "--model", scripted, "--reject-all"], { cwd, node, input: "look" })).exitCode).toBe(0);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("passes %s on, once", async (signal, code) => {
    const cwd = await copyExample();
    const args = [".", "--model", slowScripted, "--approve-all", "-v"];
    const running = startCli(args, { cwd, node, env: { SLOW_MILLISECONDS: "1500" } });
    await running.stderrHolds("main starts");
    running.child.kill(signal);
    const { exitCode, stderr } = await running.result;
    expect(exitCode).toBe(code);
    expect(stderr).toContain("llm-do: the run was aborted");
  });

  it("takes the Ctrl-C that a terminal sends to both processes for one", async () => {
    const cwd = await copyExample();
    const args = [bin, ".", "--model", slowScripted, "--approve-all", "-v"];
    const env = { ...cleanEnvironment(cwd), SLOW_MILLISECONDS: "1500" };
    const child = spawn(node, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const { stderrHolds, result } = watch(child);
    await stderrHolds("main starts");
    process.kill(-(child.pid ?? 0), "SIGINT");
    const { exitCode, stderr } = await result;
    expect(exitCode).toBe(130);
    expect(stderr).toContain("llm-do: the run was aborted: interrupted");
  });

  it("says what is needed in one line where there is no newer one, and ends with 2", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "package"));
    await cp(dirname(bin), join(folder, "package/bin"), { recursive: true });
    await writeFile(join(folder, "package/package.json"), '{ "type": "module" }');
    const copy = join(folder, "package/bin/llm-do.js");
    const { exitCode, stdout, stderr } = await runCli(["run", "it's $HOME"], { cwd: join(folder, "package"), node, bin: copy });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^llm-do needs Node 22\.18 or newer, and this is 20\.[\d.]+\. Run: npx .* run 'it'\\''s \$HOME'\n$/);
  });
});
