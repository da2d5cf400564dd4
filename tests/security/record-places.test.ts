import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { keepWorld } from "../cli/kept-world.ts";
import { runCli, script, writeProgram } from "../cli/run-cli.ts";
import { cliRuns } from "../records.ts";

const long = "x".repeat(20_000);
const calls = [{ tool: "write_file", args: { path: "a.txt", content: long } }];

/** A run that waits, beside a folder that nothing of llm-do may touch. */
const waiting = keepWorld(async () => {
  const root = await writeProgram({
    "main.worker": "---\nmodel: scripted:s.yaml\ninput: { input?: string }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
    "s.yaml": script({ main: [{ calls }, `the end ghp_${"aB3d".repeat(9)}`] }),
  });
  expect((await runCli([".", long, "--hold"], { cwd: root })).exitCode).toBe(4);
  const [id = ""] = readdirSync(cliRuns(root));
  const outside = join(dirname(root), "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "mine");
  return { root, directory: join(cliRuns(root), id), outside };
});

const places: Readonly<Record<string, (path: string, outside: string) => void>> = {
  "a link to a folder": (path, outside) => symlinkSync(outside, path),
  "a link to a file": (path, outside) => symlinkSync(join(outside, "file"), path),
  "a link to nothing": (path, outside) => symlinkSync(join(outside, "new"), path),
  "a device": (path) => symlinkSync("/dev/zero", path),
  "a pipe": (path) => execFileSync("mkfifo", [path]),
};
const names = ["journal.jsonl", "secrets.jsonl", "writes.jsonl", "blobs", "private", "results", "artifacts", "pages"];
const commands = [
  ["runs", "list", "."],
  ["runs", "show", "last", "--messages"],
  ["approve", "last", "--all", "--yes"],
  ["view", "--no-open"],
  ["resume", "--approve-all"],
  ["undo", "--yes"],
  ["runs", "rm", "last"],
];

/** A command for each place, in turn, so that every kind and every name meets most of them; all where `LLM_DO_COMMANDS` is `all`. */
function commandsFor(kind: string, name: string): readonly (readonly string[])[] {
  if (process.env["LLM_DO_COMMANDS"] === "all") return commands;
  const turn = (Object.keys(places).indexOf(kind) * 3 + names.indexOf(name) * 2) % commands.length;
  return commands.filter((_, index) => index === turn);
}

describe.each(Object.keys(places))("%s in a run's folder", (kind) => {
  test.each(names)("leads no command out of the store: %s", async (name) => {
    const { root: cwd, directory, outside } = await waiting();
    rmSync(join(directory, name), { recursive: true, force: true });
    places[kind]?.(join(directory, name), outside);
    for (const command of commandsFor(kind, name)) {
      const { exitCode } = await runCli(command, { cwd });
      expect({ command, exitCode }).toMatchObject({ exitCode: expect.any(Number) });
      expect({ command, files: readdirSync(outside) }).toEqual({ command, files: ["file"] });
      expect(readFileSync(join(outside, "file"), "utf8")).toBe("mine");
    }
  });
});

test("a record that is cut anywhere says so, or goes on, and nothing else is written", async () => {
  const { root: cwd, directory, outside } = await waiting();
  const journal = join(directory, "journal.jsonl");
  const whole = readFileSync(journal);
  cpSync(directory, join(outside, "kept"), { recursive: true });
  for (let part = 0; part <= 8; part++) {
    rmSync(directory, { recursive: true });
    cpSync(join(outside, "kept"), directory, { recursive: true });
    writeFileSync(journal, whole.subarray(0, Math.floor((whole.length * part) / 8)));
    const { exitCode, stderr } = await runCli(["resume", "last", "--reject-all"], { cwd });
    expect({ part, exitCode, stderr }).toMatchObject({
      exitCode: expect.any(Number),
      stderr: expect.not.stringContaining("invariant"),
    });
    expect(readdirSync(cwd).sort()).toEqual(["main.worker", "s.yaml"]);
  }
});
