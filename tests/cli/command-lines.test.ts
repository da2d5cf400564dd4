import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mistakes, withoutEffect } from "./command-lines/mistakes.ts";
import { type CliResult, runCli, script, writeProgram } from "./run-cli.ts";

const files = {
  "main.worker":
    "---\ndescription: Main.\nmodel: scripted:model.yaml\ninput: { input: string, count?: integer }\ntoolsets: { filesystem: {}, helper: {} }\n---\nGo.\n",
  "helper.worker": "---\ndescription: Helps.\nmodel: scripted:model.yaml\n---\nHelp.\n",
  "reader.worker": "---\ndescription: Reads.\nmodel: scripted:model.yaml\ninput: { file: attachment }\n---\nRead.\n",
  "nomodel.worker": "---\n---\nGo.\n",
  "model.yaml": script({ main: ["done"] }),
  "notes.txt": "x",
  "out/.keep": "",
};

/** Plays all lines in one child process. */
async function play(lines: readonly (readonly string[])[], cwd: string): Promise<readonly CliResult[]> {
  const bin = join(import.meta.dirname, "fixtures/play-lines.ts");
  const { stdout, stderr } = await runCli([], { cwd, bin, input: JSON.stringify(lines.map((args) => ({ args, cwd }))) });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

describe("mistakes on the command line", () => {
  it("end with 2 and say what to write; flags without effect are warned of", async () => {
    const rows = [
      ...Object.values(mistakes).flatMap((lines) => lines.map(([args, text]) => ({ args, text, exitCode: 2, runs: false }))),
      ...withoutEffect.map(([args, text]) => ({ args, text, exitCode: 0, runs: args[0] === "." })),
    ];
    const results = await play(
      rows.map(({ args }) => args),
      await writeProgram(files),
    );
    for (const [index, { args, text, exitCode, runs }] of rows.entries()) {
      const { stdout = "", stderr = "", exitCode: ended } = results[index] ?? {};
      expect({ args, ended }, stderr).toEqual({ args, ended: exitCode });
      if (runs || exitCode !== 0) expect(stdout, args.join(" ")).toBe(runs ? "done\n" : "");
      expect(stderr).toContain(text);
    }
  });
});
