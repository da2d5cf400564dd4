import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openTerminal } from "./open-terminal.ts";
import { script, writeProgram } from "./run-cli.ts";

const main = "---\ntoolsets: { filesystem: {} }\n---\nGo.\n";

it("streams the texts of the entry to stdout at a terminal, and prints the result once", async () => {
  const calls = [{ tool: "read_file", args: { path: "main.worker" } }];
  const cwd = await writeProgram({
    "main.worker": main,
    "model.yaml": script({ main: [{ text: "I look.", calls }, "The end\x1b[2J."] }),
  });
  const terminal = openTerminal([".", "go", "-vv", "--approve-all", "--model", "scripted:model.yaml"], { cwd });
  expect(await terminal.exitCode).toBe(0);
  const screen = terminal.screen();
  expect(screen.match(/I look\./g)).toHaveLength(1);
  expect(screen.match(/^The end\\u\{1B\}\[2J\.$/gm)).toHaveLength(1);
});

it("keeps a line of progress at the end of stderr, and takes it back", async () => {
  const cwd = await writeProgram({
    "main.worker": main,
    "late.mjs": "export default () => new Promise((resolve) => setTimeout(resolve, 3500, 'late'));\n",
  });
  const command = '$LLM_DO . go --model "scripted:$PWD/late.mjs" > out.txt; echo ended';
  const terminal = openTerminal([], { cwd, command, env: { LLM_DO_PLAIN: "" } });
  await terminal.waitFor(" s, 0 requests, 0 tokens");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toBe("ended");
  expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("late\n");
});
