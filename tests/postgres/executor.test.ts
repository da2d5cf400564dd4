import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, temporaryFolder, writeProgram } from "../cli/run-cli.ts";
import { hasPostgres, useCluster } from "./cluster.ts";
import { desk, machinesOf } from "./machines.ts";

// Starts of processes and the end of a lease are waited for.
describe.skipIf(!hasPostgres)("executors (skipped where PostgreSQL is not installed)", { timeout: 300_000 }, () => {
  const cluster = useCluster();
  const team = async () => machinesOf(await cluster.create());

  test("a run that was submitted, and whose executor was killed, goes on at another one with its approvals", async () => {
    const machine = await team();
    const [here, there] = [await writeProgram(desk), await writeProgram(desk)];
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

  test("a run that writes in a folder of one machine goes on there only, unless the scope is said to be shared", async () => {
    const machine = await team();
    const files = {
      ...desk,
      "llm-do.yaml": "name: desk\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\n",
      "out/a.txt": "",
    };
    const [here, there] = [await writeProgram(files), await writeProgram(files)];
    const [a, b] = [await machine(here), await machine(there)];
    const suspend = async (...args: readonly string[]) => {
      const executor = await a.execute(...args);
      const id = (await a.done("submit", ".", "go")).trim();
      await executor.stderrHolds(`${id}: suspended`);
      executor.child.kill("SIGTERM");
      await executor.result;
      return { id, said: executor.stderrSoFar() };
    };
    const own = await suspend();
    expect(own.said).toContain("gone on with here only: out may be this machine's alone");
    const shared = await suspend("--shared", "out");
    expect(shared.said).not.toContain("here only");
    for (const { id } of [own, shared]) await a.done("approve", id, ".", "--all", "--yes");
    const other = await b.execute();
    await other.stderrHolds(`${shared.id}: done`);
    const summaryOf = async (id: string) => {
      const { runs } = JSON.parse((await b.cli("runs", "list", "--json")).stdout);
      return runs.find(({ runId }: { readonly runId: string }) => runId === id).summary;
    };
    expect(await summaryOf(own.id)).toContain(`:${await realpath(here)}, where no executor runs`);
    const first = await a.execute();
    await first.stderrHolds(`${own.id}: done`);
    const unknown = await a.cli("executor", "--programs", ".", "--trust", "--shared", "outt");
    expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("they write in out") });
  });

  test("submit --wait ends as a run does, a key is one run, and another input of a key is refused", async () => {
    const machine = await team();
    const cwd = await writeProgram(desk);
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
    const latest = async () => JSON.parse((await cli("runs", "list", "--json", "-n", "1")).stdout).runs[0];
    const { runId, outcome } = await latest();
    expect(outcome).toBe("limit");
    expect(await cli("cancel", runId)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("had ended already: limit"),
    });
    expect(await latest()).toMatchObject({ runId, outcome: "limit" });
  });

  test("a run of a program that no executor has waits, is listed with the reason, and is cancelled", async () => {
    const machine = await team();
    const cwd = await writeProgram(desk);
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
    const waiting = await cli("submit", ".", "go", "--wait");
    expect(waiting).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("llm-do approve") });
  });

  test("what an executor cannot bind makes the run wait, and bad input is its end", async () => {
    const machine = await team();
    const unbound = { ...desk, "llm-do.yaml": "name: desk\nsandbox: { paths: { letters: { root: ./letters } } }\n" };
    const { cli, done, execute } = await machine(await writeProgram(unbound));
    // Three processes make the tables of an empty database.
    const [, id] = await Promise.all([
      execute("--scope", "letters=./gone"),
      done("submit", ".", "go", "--key", "monday"),
      done("submit", ".", "go", "--key", "monday"),
    ]);
    const listed = async () => JSON.parse((await cli("runs", "list", "--json")).stdout).runs[0].summary;
    await expect.poll(listed, { timeout: 60_000 }).toMatch(/^waits: the root .* of the scope `letters` is not there/);
    expect(id.trim()).toMatch(/^\d{8}-/);
  });

  test("an executor without the key executes no sealed run, and says why it waits", async () => {
    const machine = await team();
    const [here, there] = [await writeProgram(desk), await writeProgram(desk)];
    const [without, withKey] = [await machine(here, { LLM_DO_STORE_KEY: "" }), await machine(there)];
    await without.execute("--approve-all");
    await withKey.done("submit", ".", "go");
    const listed = async () => JSON.parse((await withKey.cli("runs", "list", "--json")).stdout).runs[0].summary;
    await expect.poll(listed, { timeout: 60_000 }).toContain("was submitted with LLM_DO_STORE_KEY");
    await expect(readFile(join(here, "ledger.txt"))).rejects.toThrow("ENOENT");
    // Without a key on both sides nothing is sealed.
    expect(await without.done("submit", ".", "go", "--wait")).toBe("filed\n");
  });

  test("a run that fits no input ends with the reason, and submit says how a program is named", async () => {
    const machine = await team();
    const { cli, execute } = await machine(await writeProgram(desk));
    await execute();
    const bad = await cli("submit", ".", "--input-json", '{"other": 1}', "--wait");
    expect(bad).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("other") });
    const nameless = await machine(await writeProgram({ "main.worker": desk["main.worker"] }));
    expect(await nameless.cli("submit", ".", "go")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("`name:`") });
    const alone = await runCli(["submit", ".", "go"], { cwd: await writeProgram(desk) });
    expect(alone).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("this needs a database") });
  });
});
