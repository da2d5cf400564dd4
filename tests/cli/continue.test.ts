import { join } from "node:path";
import { expect, it } from "vitest";
import { type CliResult, chatScripted, runCli, script, writeProgram } from "./run-cli.ts";

/** Plays lines one after another in one child process. */
async function play(cwd: string, lines: readonly (readonly string[])[]): Promise<readonly CliResult[]> {
  const bin = join(import.meta.dirname, "fixtures/play-lines.ts");
  const { stdout } = await runCli([], { cwd, bin, input: JSON.stringify(lines.map((args) => ({ args, cwd }))) });
  return JSON.parse(stdout);
}

it("goes on with the last run that ended with an answer, and with no other", async () => {
  const cwd = await writeProgram({
    "main.worker": "---\ninput: { input: string }\n---\nTalk.\n",
    "other.worker": "---\ninput: { input: string }\n---\nTalk.\n",
    "short.yaml": script({ main: [], other: ["Other."] }),
    "tools.ts": "export const main = async () => 1;\n",
  });
  const run = (...args: string[]) => [".", ...args, "--model", chatScripted];
  const [none, first, failed, other, second, third, code] = await play(cwd, [
    run("-c", "too early"),
    run("one"),
    [".", "lost", "--model", "scripted:short.yaml"],
    ["other.worker", "elsewhere", "--model", "scripted:short.yaml"],
    run("-c", "two"),
    run("--continue", "three"),
    [...run("-c", "four"), "--entry", "tools.ts:main", "--trust"],
  ]);
  expect(none).toMatchObject({ exitCode: 2, stdout: "" });
  expect(none?.stderr).toContain("-c: no recorded run of `main` ended with an answer; begin without -c");
  expect(first?.stdout).toBe("**1 parts**, 0 messages before: one\n");
  expect([failed?.exitCode, other?.exitCode]).toEqual([2, 0]);
  expect(second).toMatchObject({ exitCode: 0, stdout: "**1 parts**, 2 messages before: two\n" });
  expect(second?.stderr).toMatch(/^llm-do: goes on with run \S+, 2 messages$/m);
  expect(third?.stdout).toBe("**1 parts**, 4 messages before: three\n");
  expect(code).toMatchObject({ exitCode: 2 });
  expect(code?.stderr).toContain("-c goes on with a conversation, and the entry is code");
});
