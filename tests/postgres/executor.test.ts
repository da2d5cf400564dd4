import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type RunningCli, runCli, script, startCli, temporaryFolder, writeProgram } from "../cli/run-cli.ts";
import { type Cluster, hasPostgres, startCluster } from "./cluster.ts";

const key = "ab".repeat(32);

const program = {
  "llm-do.yaml": "name: desk\n",
  "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { desk: {} }\n---\nFile it.\n",
  "model.yaml": script({ main: [{ calls: [{ tool: "file", args: { text: "A-1" } }] }, "filed"] }),
  "tools.ts": `import { appendFileSync } from "node:fs";
import { tool, toolset } from "llm-do";
const file = tool({ name: "file", input: { type: "object", properties: { text: { type: "string" } } }, run: async ({ text }, runtime) => {
  appendFileSync(new URL("./ledger.txt", import.meta.url), text + "\\n");
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.FILE_MILLISECONDS ?? 0)));
  return "ok";
} });
export const desk = toolset({ name: "desk", tools: () => [file] });
`,
};

// Starts of processes and the end of a lease are waited for.
describe.skipIf(!hasPostgres)("executors (skipped where PostgreSQL is not installed)", { timeout: 300_000 }, () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 120_000);
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  }, 120_000);

  /** A database, and machines that use it. */
  async function team() {
    const name = `t${Math.random().toString(36).slice(2)}`;
    await cluster.psql(`CREATE DATABASE ${name}`);
    const store = cluster.url.replace(/postgres$/, name);
    const machine = async (cwd: string, more: Readonly<Record<string, string>> = {}) => {
      const env = {
        LLM_DO_STORE: store,
        LLM_DO_STORE_KEY: key,
        LLM_DO_STATE_DIR: join(await temporaryFolder(), "state"),
        ...more,
      };
      const execute = async (...args: readonly string[]): Promise<RunningCli> => {
        const started = startCli(["executor", "--programs", ".", "--trust", "--grace", "1", ...args], { cwd, env });
        onTestFinished(() => void started.child.kill("SIGKILL"));
        await started.stderrHolds("llm-do: executes desk in the queue");
        return started;
      };
      const cli = (...args: readonly string[]) => runCli(args, { cwd, env });
      /** Resolves with what a command printed that has to end with 0. */
      const done = async (...args: readonly string[]) => {
        const { exitCode, stdout, stderr } = await cli(...args);
        expect(exitCode, stderr).toBe(0);
        return stdout;
      };
      return { cli, done, execute };
    };
    return { machine, psql: (text: string) => cluster.psql(text) };
  }

  test("a run that was submitted, and whose executor was killed, goes on at another one with its approvals", async () => {
    const { machine } = await team();
    const [here, there] = [await writeProgram(program), await writeProgram(program)];
    const [a, b] = [await machine(here, { FILE_MILLISECONDS: "60000" }), await machine(there)];
    const executor = await a.execute();
    const id = (await a.done("submit", ".", "go")).trim();
    await executor.stderrHolds(`${id}: suspended`);
    await b.done("approve", id, ".", "--all", "--yes");
    await expect.poll(() => readFile(join(here, "ledger.txt"), "utf8").catch(() => ""), { timeout: 60_000 }).toBe("A-1\n");
    executor.child.kill("SIGKILL");
    const other = await b.execute();
    // The call was under way: only a person can say whether it is made again.
    await other.stderrHolds(`${id}: uncertain`);
    expect(await b.done("approvals", id, ".")).toContain("may have run already");
    await b.done("approve", id, ".", "--all", "--yes");
    await other.stderrHolds(`${id}: done`);
    expect(await b.done("runs", "show", id)).toContain("done");
    const exported = join(await temporaryFolder(), "run.json");
    await b.done("runs", "export", id, "--out", exported);
    // A machine without a database.
    const env = { LLM_DO_STATE_DIR: join(await temporaryFolder(), "state") };
    const alone = (...args: readonly string[]) => runCli(args, { cwd: here, env });
    expect(await alone("runs", "import", exported)).toMatchObject({ exitCode: 0 });
    expect(await alone("runs", "adopt", id, ".", "--yes")).toMatchObject({ exitCode: 0 });
    const replayed = await alone("replay", id, ".", "--trust", "--json");
    expect(replayed).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(replayed.stdout)).toEqual(JSON.parse((await b.cli("replay", id, ".", "--trust", "--json")).stdout));
    expect(await readFile(join(there, "ledger.txt"), "utf8")).toBe("A-1\n");
  });

  test("submit --wait ends as a run does, a key is one run, and another input of a key is refused", async () => {
    const { machine } = await team();
    const cwd = await writeProgram(program);
    const { cli, execute } = await machine(cwd);
    await execute("--approve-all");
    expect(await cli("submit", ".", "go", "--key", "monday", "--wait")).toMatchObject({ exitCode: 0, stdout: "filed\n" });
    const again = await cli("submit", ".", "go", "--key", "monday", "--wait", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ output: "filed", stopReason: "done", exitCode: 0 });
    expect(await readFile(join(cwd, "ledger.txt"), "utf8")).toBe("A-1\n");
    const other = await cli("submit", ".", "stop", "--key", "monday");
    expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("the key `monday` was used for another input") });
    const limited = await cli("submit", ".", "go", "--limit", "turns=1", "--wait");
    expect(limited).toMatchObject({ exitCode: 6 });
  });

  test("a run of a program that no executor has waits, is listed with the reason, and is cancelled", async () => {
    const { machine } = await team();
    const cwd = await writeProgram(program);
    const { cli, execute } = await machine(cwd);
    const id = (await cli("submit", ".", "go", "--queue", "night")).stdout.trim();
    const listed = async () => JSON.parse((await cli("runs", "list", "--json")).stdout).runs[0];
    expect(await listed()).toMatchObject({
      runId: id,
      outcome: "waits",
      summary: "waits: no executor has the program desk in the queue night",
    });
    await execute();
    expect(await listed()).toMatchObject({ outcome: "waits" });
    expect(await cli("cancel", id)).toMatchObject({ exitCode: 0 });
    expect(await listed()).toMatchObject({ outcome: "cancelled" });
    expect(await cli("cancel", "20260101-000000-none")).toMatchObject({ exitCode: 2 });
  });

  test("what an executor cannot bind makes the run wait, and bad input is its end", async () => {
    const { machine } = await team();
    const unbound = { ...program, "llm-do.yaml": "name: desk\nsandbox: { paths: { letters: { root: ./letters } } }\n" };
    const { cli, execute } = await machine(await writeProgram(unbound));
    const started = execute("--scope", "letters=./gone");
    const id = (await cli("submit", ".", "go")).stdout.trim();
    await started;
    const listed = async () => JSON.parse((await cli("runs", "list", "--json")).stdout).runs[0].summary;
    await expect.poll(listed, { timeout: 60_000 }).toMatch(/^waits: the root .* of the scope `letters` is not there/);
    expect(id).toMatch(/^\d{8}-/);
  });

  test("a run that fits no input ends with the reason, and submit says how a program is named", async () => {
    const { machine } = await team();
    const { cli, execute } = await machine(await writeProgram(program));
    await execute();
    const bad = await cli("submit", ".", "--input-json", '{"other": 1}', "--wait");
    expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("other") });
    const nameless = await machine(await writeProgram({ "main.worker": program["main.worker"] }));
    expect(await nameless.cli("submit", ".", "go")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("`name:`") });
    const alone = await runCli(["submit", ".", "go"], { cwd: await writeProgram(program) });
    expect(alone).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("this needs a database") });
  });
});
