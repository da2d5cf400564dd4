import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runCli, script, writeProgram } from "../cli/run-cli.ts";
import { cliRuns } from "../records.ts";
import { findRecord } from "./poisoned-record.ts";

const calls = [{ tool: "write_file", args: { path: "a.txt", content: "made" } }];

/** A run that made a file, and a folder outside of its program that has a file of the same content. */
async function written() {
  const cwd = await writeProgram({
    "main.worker": "---\nmodel: scripted:s.yaml\ninput: { input?: string }\ntoolsets: { filesystem: {}, one: {} }\n---\nWrite.\n",
    "tools.ts":
      'import { tool } from "llm-do";\nimport { part } from "./lib/part.ts";\nexport const one = tool({ description: "x", input: { type: "object" }, run: () => part });\n',
    "lib/part.ts": "export const part = 1;\n",
    "s.yaml": script({ main: [{ calls }, "done"] }),
  });
  expect((await runCli([".", "go", "--approve-all", "--trust"], { cwd })).exitCode).toBe(0);
  const outside = join(dirname(cwd), "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "a.txt"), "made");
  const { directory, runId } = findRecord(cwd);
  expect(directory).toContain(cliRuns(cwd));
  const log = join(directory, "writes.jsonl");
  /** Has the record say that the run wrote below another folder. */
  const change = (changes: object) => {
    const lines = readFileSync(log, "utf8").trim().split("\n");
    writeFileSync(log, lines.map((line) => `${JSON.stringify({ ...JSON.parse(line), ...changes })}\n`).join(""));
  };
  const move = (root: string) => change({ root });
  /** Has the record say that the run wrote another file. */
  const rename = (components: readonly string[]) => change({ components });
  return { cwd, outside, runId, move, rename };
}

test.each([
  ["a folder outside of the program", ({ outside }: { outside: string; cwd: string }) => outside],
  [
    "a link of the program",
    ({ outside, cwd }) => {
      symlinkSync(outside, join(cwd, "link"));
      return join(cwd, "link");
    },
  ],
  ["a way up", ({ cwd }) => `${cwd}/../outside`],
])("a record that names %s takes nothing back there", async (_, place) => {
  const { cwd, outside, runId, move } = await written();
  move(place({ outside, cwd }));
  for (const words of [
    ["undo", "--yes"],
    ["undo", runId, "--yes"],
  ]) {
    const { exitCode } = await runCli(words, { cwd });
    expect({ words, exitCode }).toEqual({ words, exitCode: 1 });
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("made");
  }
});

test("a folder that the user names is taken back, too", async () => {
  const { cwd, outside, move } = await written();
  move(outside);
  const { stdout } = await runCli(["undo", "--dry-run"], { cwd });
  expect(stdout).toContain("left: it is outside of the program's folder; --within FOLDER takes it back, too");
  expect((await runCli(["undo", "--yes", "--within", "../outside"], { cwd })).exitCode).toBe(0);
  expect(existsSync(join(outside, "a.txt"))).toBe(false);
  expect(existsSync(join(cwd, "a.txt"))).toBe(true);
});

test.each(["tools.ts", "lib/part.ts", "other.worker", "llm-do.yaml"])(
  "a record that names %s of the program takes nothing back there",
  async (path) => {
    const { cwd, rename } = await written();
    // What the run wrote elsewhere, so that `undo` would remove it.
    writeFileSync(join(cwd, path), "made");
    rename(path.split("/"));
    const { stdout, exitCode } = await runCli(["undo", "--yes"], { cwd });
    expect(stdout).toContain("left: it belongs to the program");
    expect(exitCode).toBe(1);
    expect(readFileSync(join(cwd, path), "utf8")).toBe("made");
  },
);
