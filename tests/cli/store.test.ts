import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runsIn } from "../records.ts";
import { runCli, script, temporaryFolder, writeProgram } from "./run-cli.ts";

const writes = (path: string) =>
  script({ main: [{ calls: [{ tool: "write_file", args: { path, content: "new" } }] }, "finished"] });
const worker = "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { filesystem: {} }\n---\nWrite.\n";
const plain = { "main.worker": worker, "model.yaml": writes("out.txt"), "out.txt": "old" };

/** Two programs beside one another, with one state folder. */
async function twoPrograms() {
  const folder = await temporaryFolder();
  for (const name of ["a", "b"]) {
    mkdirSync(join(folder, name, "deep"), { recursive: true });
    for (const [path, text] of Object.entries(plain)) writeFileSync(join(folder, name, path), text);
  }
  const env = { LLM_DO_STATE_DIR: join(folder, "state") };
  return { folder, env, run: (cwd: string, ...args: readonly string[]) => runCli(args, { cwd: join(folder, cwd), env }) };
}

describe("a command without an id", () => {
  test("means the newest run to which it applies, and lists what there is where there is no program", async () => {
    const { run } = await twoPrograms();
    expect((await run("a", ".", "one", "--hold")).exitCode).toBe(4);
    expect((await run("a", ".", "two", "--approve-all")).exitCode).toBe(0);
    expect((await run("a", "approvals", "--json")).stdout).toContain('"questions":[{');
    const resumed = await run("a/deep", "resume", "--approve-all");
    expect(resumed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("going on with the run") });
    const shown = await run(".", "runs", "show", "last");
    expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("of a, entry main") });
    expect((await run(".", "resume")).stderr).toMatch(/name one of your runs:\n {2}\S+ {2}\/.*\/a\n/);
  });

  test("names the worker file above that makes the folder a part of a program without runs", async () => {
    const { folder, run } = await twoPrograms();
    expect((await run("a", ".", "one", "--approve-all")).exitCode).toBe(0);
    writeFileSync(join(folder, "main.worker"), worker);
    mkdirSync(join(folder, "c"));
    for (const command of [["runs", "show", "last"], ["view"], ["resume"], ["undo"]]) {
      const { exitCode, stderr } = await run("c", ...command);
      expect({ command, exitCode }).toEqual({ command, exitCode: 2 });
      expect(stderr).toContain(`${join(folder, "main.worker")} makes ${join(folder, "c")} a part of it`);
      expect(stderr).toMatch(/name one of your runs:\n {2}\S+ {2}\/.*\/a\n/);
    }
  });
});

describe("the state folder", () => {
  test.each([[0o002], [0], [0o077]])("is its owner's alone with the mask %o", async (mask) => {
    const cwd = await writeProgram(plain);
    const state = join(cwd, "../state");
    const old = process.umask(mask);
    const { exitCode } = await runCli([".", "go", "--approve-all"], { cwd, env: { NODE_COMPILE_CACHE: "" } }).finally(() =>
      process.umask(old),
    );
    expect(exitCode).toBe(0);
    for (const path of [state, join(state, "runs")]) expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test("that others may enter is set right, and the run says so", async () => {
    const cwd = await writeProgram(plain);
    mkdirSync(join(cwd, "../state"));
    chmodSync(join(cwd, "../state"), 0o775);
    const { exitCode, stderr } = await runCli([".", "go", "--approve-all", "-v"], { cwd });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/was open to others \(mode 775\)/) });
    expect(statSync(join(cwd, "../state")).mode & 0o777).toBe(0o700);
  });
});

describe("a named store", () => {
  const named = { ...plain, "llm-do.yaml": "name: shared\n" };
  const go = [".", "go", "--approve-all"];

  test("holds the records of a program by its name, for each command, and gives them its own mode", async () => {
    const cwd = await writeProgram(named);
    const store = join(cwd, "../store");
    mkdirSync(store);
    // What others may do in it holds for nothing that is made there: records hold secrets.
    chmodSync(store, 0o775);
    expect((await runCli([...go, "--store", store], { cwd })).exitCode).toBe(0);
    expect(readdirSync(store)).toEqual(["shared"]);
    const [id = ""] = readdirSync(join(store, "shared"));
    for (const path of ["shared", `shared/${id}`]) expect(statSync(join(store, path)).mode & 0o777).toBe(0o770);
    expect(statSync(join(store, "shared", id, "journal.jsonl")).mode & 0o777).toBe(0o660);
    for (const args of [
      ["runs", "show", "last"],
      ["runs", "list", "."],
      ["view", "--no-open"],
      ["undo", "--dry-run"],
      ["replay"],
    ]) {
      const { exitCode, stderr } = await runCli([...args, "--store", store], { cwd });
      expect({ args, exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect((await runCli(args, { cwd, env: { LLM_DO_STORE: store } })).exitCode).toBe(0);
      if (args[0] !== "runs") expect((await runCli(args, { cwd })).exitCode).toBe(2);
    }
    expect((await runCli(["runs", "rm", id, "--store", store], { cwd })).exitCode).toBe(0);
    expect(readdirSync(join(store, "shared")).filter((name) => /^\d/.test(name))).toEqual([]);
  });

  test("takes another folder for the same program when it is told to, and until then does not show its runs", async () => {
    const [one, two] = [await writeProgram(named), await writeProgram(named)];
    const env = { LLM_DO_STORE: join(one, "../store"), LLM_DO_STATE_DIR: join(one, "../state") };
    expect((await runCli(go, { cwd: one, env })).exitCode).toBe(0);
    const refused = await runCli(go, { cwd: two, env });
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/has runs of `shared` from \/.*: --trust takes/),
    });
    expect(readFileSync(join(two, "out.txt"), "utf8")).toBe("old");
    expect((await runCli(["undo", "--yes"], { cwd: two, env })).exitCode).toBe(2);
    expect((await runCli([...go, "--trust"], { cwd: two, env })).exitCode).toBe(0);
    expect((await runCli(go, { cwd: two, env })).exitCode).toBe(0);
    expect((await runCli(["runs", "list", "."], { cwd: two, env })).stdout.match(/^\d/gm)).toHaveLength(3);
  });

  test("that a scope came to lie around is refused by a run that goes on", async () => {
    const cwd = await writeProgram(named);
    const store = join(cwd, "../store");
    expect((await runCli([".", "go", "--hold", "--store", store], { cwd })).exitCode).toBe(4);
    const wide = worker.replace("toolsets", "sandbox: { paths: { all: { root: .., mode: rw } } }\ntoolsets");
    writeFileSync(join(cwd, "main.worker"), wide);
    for (const command of [
      ["resume", "--approve-all"],
      ["fork", "last", "--approve-all"],
    ]) {
      const { exitCode, stderr } = await runCli([...command, "--trust", "--store", store], { cwd });
      expect({ command, exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("lie in one another") });
    }
    expect(readFileSync(join(cwd, "out.txt"), "utf8")).toBe("old");
  });

  test("in which everybody may write to a folder answers nothing", async () => {
    const cwd = await writeProgram(named);
    const store = join(cwd, "../store");
    expect((await runCli([".", "go", "--hold", "--store", store], { cwd })).exitCode).toBe(4);
    const [id = ""] = readdirSync(join(store, "shared")).filter((name) => /^\d/.test(name));
    for (const path of ["shared", `shared/${id}`]) {
      chmodSync(join(store, path), 0o777);
      for (const words of [
        ["approve", id, "1"],
        ["resume", id, "--approve-all"],
      ]) {
        const { exitCode, stderr } = await runCli([...words, "--store", store], { cwd });
        expect({ path, words, exitCode, stderr }).toMatchObject({
          exitCode: expect.any(Number),
          stderr: expect.stringContaining(`everybody may write to ${join(dirname(cwd), "store", path)}`),
        });
      }
      chmodSync(join(store, path), 0o755);
    }
    expect(readFileSync(join(cwd, "out.txt"), "utf8")).toBe("old");
  });

  test("that everybody may write, or that lies in a scope or around one, is refused", async () => {
    const cwd = await writeProgram(named);
    const store = join(cwd, "../store");
    mkdirSync(store);
    chmodSync(store, 0o777);
    const open = await runCli([...go, "--store", store], { cwd });
    expect(open).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("everybody may write to") });
    symlinkSync(cwd, join(cwd, "../link"));
    for (const path of [join(cwd, "records"), dirname(cwd), join(cwd, "../link/records")]) {
      const { exitCode, stderr } = await runCli([...go, "--store", path], { cwd });
      expect({ path, exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("lie in one another") });
    }
    expect(readFileSync(join(cwd, "out.txt"), "utf8")).toBe("old");
  });
});

test("a copied record goes on nowhere", async () => {
  const { folder, env, run } = await twoPrograms();
  expect((await run("a", ".", "go", "--hold")).exitCode).toBe(4);
  const runs = runsIn(join(folder, "a"), env.LLM_DO_STATE_DIR);
  const [id = ""] = readdirSync(runs);
  const { cpSync } = await import("node:fs");
  cpSync(join(runs, id), join(runs, "20990101-000000-copied"), { recursive: true });
  const copy = await run("a", "resume", "20990101-000000-copied", "--approve-all");
  expect(copy).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`is a copy of the run \`${id}\``) });
  cpSync(runs, runsIn(join(folder, "b"), env.LLM_DO_STATE_DIR), { recursive: true });
  const twice = await run("a", "resume", id, "--approve-all");
  expect(twice).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`two records have the id \`${id}\``) });
  expect(readFileSync(join(folder, "a/out.txt"), "utf8")).toBe("old");
});
