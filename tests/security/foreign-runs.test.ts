import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { keepWorld } from "../cli/kept-world.ts";
import { runCli } from "../cli/run-cli.ts";
import { recordWaiting } from "./poisoned-record.ts";

const write = { tool: "write_file", args: { path: "w/.bashrc", content: "planted" } };

/** A record of somebody else who approved a call, in a program that came with it; and a user who never saw either. */
const recordOfAnother = keepWorld(async () => {
  const record = await recordWaiting(write);
  const { root, runId } = record;
  expect((await runCli(["approve", runId, ".", "--all", "--yes"], { cwd: root })).exitCode).toBe(0);
  const brought = join(root, ".llm-do/runs", runId);
  cpSync(record.directory, brought, { recursive: true });
  const exported = join(dirname(root), "run.json");
  expect((await runCli(["runs", "export", runId, "-o", exported], { cwd: root })).exitCode).toBe(0);
  rmSync(join(dirname(root), "state"), { recursive: true });
  const cli = (...args: readonly string[]) => runCli(args, { cwd: root });
  return { root, runId, brought, exported, cli, planted: () => existsSync(join(root, "w/.bashrc")) };
});

describe("a record that a folder brings", () => {
  it("is not there for any command", async () => {
    const { runId, cli, planted } = await recordOfAnother();
    expect((await cli("runs", "list", ".")).stdout).toBe("");
    for (const command of ["resume", "approvals", "replay", "undo", "view"])
      expect((await cli(command, runId, ".")).exitCode).toBe(2);
    expect((await cli("fork", runId)).exitCode).toBe(2);
    expect(planted()).toBe(false);
  });
});

describe.each(["a folder of an older llm-do", "the folder of a record", "a file of runs export"])(
  "a record that is imported from %s",
  (from) => {
    const imported = async () => {
      const made = await recordOfAnother();
      const { root, brought, exported, cli, runId } = made;
      const path = from.startsWith("a file") ? exported : from.startsWith("the") ? brought : root;
      expect(await cli("runs", "import", path)).toMatchObject({ exitCode: 0, stdout: `${runId}\n` });
      return made;
    };

    it("is looked at, and says first that it came from elsewhere", async () => {
      const { root, runId, cli } = await imported();
      expect((await cli("runs", "list", root)).stdout).toContain(`${runId}  from elsewhere: `);
      for (const command of [
        ["runs", "show", runId],
        ["approvals", runId],
        ["view", runId, "--no-open"],
        ["replay", runId, "."],
      ]) {
        const { exitCode, stderr } = await cli(...command);
        expect({ command, exitCode, stderr }).toMatchObject({
          exitCode: 0,
          stderr: expect.stringMatching(/^llm-do: the record of \S+ came from elsewhere/),
        });
      }
      const page = (await cli("view", runId, "--no-open")).stdout.trim();
      expect(readFileSync(page, "utf8")).toContain("This record came from elsewhere: what it says is not vouched for.");
      const called = await cli("calls", "main", "--run", runId, "--all");
      expect(called.stderr).toMatch(/^llm-do: the record of \S+ came from elsewhere/);
    });

    it("is refused by whatever would change something", async () => {
      const { runId, cli, planted } = await imported();
      for (const command of [
        ["resume", runId, "--approve-all"],
        ["approve", runId, "1"],
        ["deny", runId, "1"],
        ["fork", runId, "--approve-all"],
        ["undo", runId, "--yes"],
      ]) {
        const { exitCode, stderr } = await cli(...command);
        expect({ command, exitCode, stderr }).toMatchObject({
          exitCode: 2,
          stderr: expect.stringContaining("nothing in it counts"),
        });
      }
      expect((await cli("resume")).exitCode).toBe(2);
      expect(planted()).toBe(false);
    });

    it("gives what happened where it is adopted, and no answer", async () => {
      const { runId, cli, planted } = await imported();
      expect((await cli("runs", "adopt", runId)).exitCode).toBe(2);
      expect(await cli("runs", "adopt", runId, "--yes")).toMatchObject({ exitCode: 0, stdout: `${runId}\n` });
      expect((await cli("runs", "list", ".")).stdout).not.toContain("from elsewhere");
      expect((await cli("resume", runId, "--hold")).exitCode).toBe(4);
      expect(planted()).toBe(false);
      expect((await cli("approve", runId, "1")).exitCode).toBe(0);
      expect(await cli("resume", runId)).toMatchObject({ exitCode: 0, stdout: "done\n" });
      expect(planted()).toBe(true);
    });
  },
);

it("takes in no record twice, and none under another id", async () => {
  const { root, runId, brought, exported, cli } = await recordOfAnother();
  const copy = join(root, ".llm-do/runs", "20990101-000000-aaaaaa");
  cpSync(brought, copy, { recursive: true });
  expect(await cli("runs", "import", copy)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("is a copy of the run"),
  });
  expect((await cli("runs", "import", exported)).exitCode).toBe(0);
  expect(await cli("runs", "import", exported)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`there is a run \`${runId}\` already`),
  });
  expect((await cli("runs", "rm", runId)).exitCode).toBe(0);
});

it.each([
  ["a link", (path: string) => symlinkSync("/etc/passwd", path)],
  ["a folder", (path: string) => mkdirSync(path)],
  ["half a line", (path: string) => writeFileSync(path, '{"v":2,"n":0,"ti')],
  ["nothing", (path: string) => writeFileSync(path, "")],
])("takes in no journal that is %s", async (_, make) => {
  const { root, brought, cli } = await recordOfAnother();
  rmSync(join(brought, "journal.jsonl"));
  make(join(brought, "journal.jsonl"));
  const { exitCode, stdout } = await cli("runs", "import", brought);
  expect(stdout).toBe("");
  expect([1, 2]).toContain(exitCode);
  expect((await cli("runs", "list", root)).stdout).toBe("");
});

it("checks the names and digests of what a file of runs export holds", async () => {
  const { root, exported, cli } = await recordOfAnother();
  const run = JSON.parse(readFileSync(exported, "utf8"));
  const content = Buffer.from("planted").toString("base64");
  const before = readdirSync(dirname(root), { recursive: true });
  for (const part of [
    { part: "blobs", name: "../../../planted", content },
    { part: "blobs", name: "0".repeat(64), content },
    { part: "results", name: "../planted", content },
    { part: "private", name: "planted", content },
    { part: "pages", name: "view.html", content },
  ]) {
    writeFileSync(exported, JSON.stringify({ ...run, parts: [part] }));
    expect((await cli("runs", "import", exported)).exitCode).toBe(1);
  }
  for (const other of [{ ...run, id: "../../x" }, { ...run, journal: 7 }, { ...run, program: "x" }, 7]) {
    writeFileSync(exported, JSON.stringify(other));
    expect((await cli("runs", "import", exported)).exitCode).toBeGreaterThan(0);
  }
  const after = readdirSync(dirname(root), { recursive: true }).filter((name) => String(name).includes("planted"));
  expect(after).toEqual(before.filter((name) => String(name).includes("planted")));
});

/** Each command with the user's own store, and with one that is named. */
const stores: readonly (readonly string[])[] = [[], ["--store", "../store"]];

it.each(stores.map((store) => ({ store })))(
  "asks anew what waits in an adopted record, and counts no answer of it: $store",
  async ({ store }) => {
    const { root, runId, exported, planted } = await recordOfAnother();
    const cli = (...args: readonly string[]) => runCli([...args, ...store], { cwd: root });
    expect((await cli("runs", "import", exported)).exitCode).toBe(0);
    expect((await cli("runs", "adopt", runId, "--yes")).exitCode).toBe(0);
    expect(existsSync(join(root, "../store"))).toBe(store.length > 0);
    const held = await cli("resume", runId, "--hold");
    expect(held).toMatchObject({ exitCode: 4, stderr: expect.not.stringContaining("it was answered") });
    const { questions } = JSON.parse((await cli("approvals", runId, "--json")).stdout);
    expect(questions).toMatchObject([{ request: { tool: "write_file", args: write.args } }]);
    expect(questions[0]).not.toHaveProperty("answer");
    expect((await cli("deny", runId, "1")).exitCode).toBe(0);
    expect(await cli("resume", runId)).toMatchObject({ exitCode: 0, stdout: "done\n" });
    expect(planted()).toBe(false);
  },
);

it.each([
  ["without a name", ""],
  ["with a name", "name: shared\n"],
])("gives a program that was moved its records in a named store, %s", async (_, manifest) => {
  const { root } = await recordWaiting(write, manifest === "" ? {} : { "llm-do.yaml": manifest });
  const env = { LLM_DO_STORE: join(root, "../store") };
  const moved = join(dirname(root), "elsewhere");
  expect((await runCli([".", "go", "--hold"], { cwd: root, env })).exitCode).toBe(4);
  renameSync(root, moved);
  const cli = (...args: readonly string[]) => runCli(args, { cwd: moved, env });
  expect(await cli("runs", "list", ".")).toMatchObject({ stdout: "", stderr: expect.stringContaining(`${root} is gone`) });
  for (const words of [
    ["resume", "--approve-all"],
    ["approve", "last", "1"],
  ])
    expect({ words, ...(await cli(...words)) }).toMatchObject({ exitCode: 2 });
  expect((await cli("runs", "move", root, ".", "--yes")).exitCode).toBe(0);
  expect((await cli("runs", "list", ".")).stdout.match(/^\d/gm)).toHaveLength(1);
  expect((await cli("resume", "--reject-all")).exitCode).toBe(0);
});

it("gives a program that was moved its records", async () => {
  const { root, runId } = await recordWaiting(write);
  const moved = join(dirname(root), "elsewhere");
  renameSync(root, moved);
  const cli = (...args: readonly string[]) => runCli(args, { cwd: moved });
  expect(await cli("runs", "list", ".")).toMatchObject({ stdout: "", stderr: expect.stringContaining(`${root} is gone`) });
  expect((await cli("runs", "move", root, ".")).exitCode).toBe(2);
  expect((await cli("runs", "move", root, ".", "--yes")).exitCode).toBe(0);
  expect((await cli("runs", "list", ".")).stdout).toContain(runId);
  expect((await cli("approve", "last", ".", "1")).exitCode).toBe(0);
  // Its script is one of the program: the record names it by its place there.
  const resumed = await cli("resume", runId);
  expect(resumed).toMatchObject({ exitCode: expect.any(Number), stderr: expect.not.stringContaining("the model was") });
  if (resumed.exitCode === 4) {
    expect((await cli("approve", "last", ".", "1")).exitCode).toBe(0);
    expect(await cli("resume", runId)).toMatchObject({ exitCode: 0, stdout: "done\n" });
  }
  expect((await cli("runs", "move", moved, ".", "--yes")).exitCode).toBe(2);
});
