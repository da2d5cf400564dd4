import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCli, script, writeProgram } from "./run-cli.ts";

/** Several processes start one after the other, on a machine that may be busy. */
const timeout = 180_000;

const write = { calls: [{ tool: "write_file", args: { path: "out.txt", content: "new" } }] };
const program = {
  "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
  "model.yaml": script({ main: [write, "finished"] }),
  "out.txt": "old",
};
const isRoot = process.getuid?.() === 0;
const nobody = 65534;

/** Mounts a small file system in a new folder. Returns whether that can be done here. */
function mount(path: string): boolean {
  mkdirSync(path, { recursive: true });
  if (!isRoot || spawnSync("mount", ["-t", "tmpfs", "-o", "size=600k,mode=700", "tmpfs", path]).status !== 0) return false;
  onTestFinished(() => void spawnSync("umount", ["-l", path]));
  return true;
}

const makeReadOnly = (path: string) => spawnSync("mount", ["-o", "remount,ro", path]).status === 0;

function fill(path: string): boolean {
  const full = spawnSync("dd", ["if=/dev/zero", `of=${join(path, "ballast")}`, "bs=1k"]);
  return String(full.stderr).includes("No space left");
}

/** The files below a folder but those of one place, with their texts. */
function textsIn(folder: string, but: string): Readonly<Record<string, string>> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !join(folder, path).startsWith(but) && statSync(join(folder, path)).isFile(),
  );
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

interface Place {
  /** Makes the place ready. Returns false where that cannot be done here. */
  readonly make: (path: string) => boolean;
  readonly message: RegExp;
}

const places: Readonly<Record<string, Place>> = {
  "of another user": {
    make: (path) => {
      if (!isRoot) return false;
      mkdirSync(path);
      chownSync(path, nobody, nobody);
      return true;
    },
    message: /belongs to another user/,
  },
  "on a full disk": { make: (path) => mount(path) && fill(path), message: /ENOSPC/ },
  "on a read-only disk": {
    make: (path) => mount(path) && makeReadOnly(path),
    message: /EROFS: read-only file system, mkdir '[\w-]+'/,
  },
  "that is a file": {
    make: (path) => {
      writeFileSync(path, "");
      return true;
    },
    message: /ENOTDIR/,
  },
};

describe.each(Object.entries(places))("a place %s", (name, { make, message }) => {
  // A named store is believed with the owner that it has.
  const isStateOnly = name === "of another user";

  test.each(isStateOnly ? ["the state folder"] : ["the state folder", "a named store"])(
    "as %s: no run begins, and nothing is written elsewhere",
    { timeout },
    async (as) => {
      const cwd = await writeProgram(program);
      const place = join(cwd, "../place");
      if (!make(place)) return expect(isRoot).toBe(false);
      const before = textsIn(dirname(cwd), place);
      const env = as === "a named store" ? { LLM_DO_STORE: place } : { LLM_DO_STATE_DIR: place };
      const { exitCode, stdout, stderr } = await runCli([".", "go", "--approve-all"], { cwd, env });
      expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringMatching(message) });
      expect(stderr).toContain(place);
      expect(stderr).toContain("--store FOLDER records it elsewhere, and --no-journal not at all");
      expect(textsIn(dirname(cwd), place)).toEqual(before);
    },
  );
});

test("without a home no run begins, and one without a record does", { timeout }, async () => {
  const cwd = await writeProgram(program);
  for (const path of [dirname(cwd), cwd]) chmodSync(path, 0o777);
  // The system names a home of its own for a user that it knows.
  const as = isRoot ? { uid: 54_321 } : {};
  // Below `/proc` nothing can be made, and no parent is missing.
  for (const HOME of ["/dev/null", "/", "/proc/home"]) {
    const env = { LLM_DO_STATE_DIR: "", HOME };
    const refused = await runCli([".", "go", "--approve-all"], { cwd, env, ...as });
    expect(refused).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining("--no-journal") });
    expect(readdirSync(cwd).sort()).toEqual(Object.keys(program).sort());
    expect(readFileSync(join(cwd, "out.txt"), "utf8")).toBe("old");
    expect(await runCli(["runs", "list"], { cwd, env, ...as })).toMatchObject({ exitCode: 0, stdout: "" });
  }
  const env = { LLM_DO_STATE_DIR: "", HOME: "/dev/null" };
  expect((await runCli([".", "go", "--reject-all", "--no-journal"], { cwd, env, ...as })).exitCode).toBe(0);
});

describe.each([
  // A short answer can have room in the last block of a journal; `full-disk.test.ts` plays runs that go on.
  { name: "full", change: fill, message: /ENOSPC/, refused: ["fork"] },
  {
    name: "read-only",
    change: makeReadOnly,
    message: /EROFS|nothing can be written there/,
    refused: ["approve", "deny", "resume", "fork"],
  },
])("records on a disk that came to be $name", ({ change, message, refused }) => {
  test("are read, and nothing is done that they would have to hold", { timeout }, async ({ skip }) => {
    const cwd = await writeProgram(program);
    const place = join(cwd, "../place");
    skip(!mount(place), "no file system can be mounted here: that needs root and Linux");
    const env = { LLM_DO_STATE_DIR: place };
    const cli = (...words: readonly string[]) => runCli(words, { cwd, env });
    expect((await cli(".", "go", "--approve-all")).exitCode).toBe(0);
    writeFileSync(join(cwd, "out.txt"), "old");
    expect((await cli(".", "go", "--hold")).exitCode).toBe(4);
    expect(change(place)).toBe(true);
    const before = textsIn(dirname(cwd), place);
    const journals = () =>
      Object.fromEntries(Object.entries(textsIn(place, "-")).filter(([path]) => path.endsWith("/journal.jsonl")));
    const recorded = journals();
    for (const words of [
      ["approve", "last", "1"],
      ["deny", "last", "1"],
      ["resume", "--approve-all"],
      ["fork", "last", "--approve-all"],
    ].filter(([command = ""]) => refused.includes(command))) {
      const { exitCode, stderr } = await cli(...words);
      expect({ words, exitCode, stderr }).toMatchObject({ exitCode: expect.any(Number), stderr: expect.stringMatching(message) });
      expect([1, 2]).toContain(exitCode);
      expect(stderr).not.toMatch(/\/proc\/|at .*\.js/);
    }
    for (const words of [["runs", "list", "."], ["runs", "show", "last"], ["approvals"]])
      expect({ words, ...(await cli(...words)) }).toMatchObject({
        exitCode: 0,
        stderr: expect.stringMatching(/^(llm-do: (\d runs, [^\n]*|the run \S+ of [^\n]*|`llm-do approve \S+` asks [^\n]*)\n)*$/),
      });
    expect(await cli("undo", "--dry-run")).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^llm-do: the newest one that did is/),
    });
    expect(textsIn(dirname(cwd), place)).toEqual(before);
    expect(journals()).toMatchObject(recorded);
  });
});

test("an id of another program changes nothing there", { timeout }, async () => {
  const cwd = await writeProgram(program);
  const other = join(dirname(cwd), "other");
  mkdirSync(other);
  for (const [path, text] of Object.entries(program)) writeFileSync(join(other, path), text);
  expect((await runCli([".", "go", "--hold"], { cwd: other })).exitCode).toBe(4);
  const { stdout } = await runCli(["approvals", "--json"], { cwd: other });
  const id: string = JSON.parse(stdout).runId;
  const before = textsIn(dirname(cwd), "-");
  for (const words of [
    ["approve", id, ".", "1"],
    ["deny", id, ".", "1"],
    ["resume", id, ".", "--approve-all"],
    ["undo", id, ".", "--yes"],
    ["view", id, ".", "--no-open"],
    ["replay", id, "."],
  ]) {
    const { exitCode, stderr } = await runCli(words, { cwd });
    expect({ words, exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`there is no run \`${id}\` of \`.\``),
    });
  }
  expect(textsIn(dirname(cwd), "-")).toEqual(before);
});
