import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { commandWords, examples } from "../../src/cli/grammar/help-examples.ts";
import { createProgram } from "../../src/cli/grammar/program.ts";
import { copyExample, runCli, writeProgram } from "./run-cli.ts";

describe("help", () => {
  it.each([["help", "run"], ["run", "--help"], ["help"], ["--help"]])("llm-do %s %s ends with 0", async (...args) => {
    const words = args.filter((word) => typeof word === "string");
    const { exitCode, stdout, stderr } = await runCli(words, { cwd: await copyExample() });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: llm-do/);
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it("of a command without a subcommand is still a mistake", async () => {
    expect(await runCli(["trust"], { cwd: await copyExample() })).toMatchObject({ exitCode: 2, stdout: "" });
  });

  it("lists the flags of a run in groups", () => {
    const run = createProgram({ exitCode: 0, afterDashes: undefined }).commands.find((command) => command.name() === "run");
    const headings = run?.helpInformation().match(/^[A-Z][\w ]+:$/gm);
    expect(headings).toEqual(
      expect.arrayContaining(["Input:", "The program:", "Approval and trust:", "Limits:", "Output and records:"]),
    );
  });

  it("has an example of every command, and none of a command that is not there", () => {
    const below = (command: Command): Command[] => [command, ...command.commands.flatMap(below)];
    const commands = below(createProgram({ exitCode: 0, afterDashes: undefined })).map(commandWords);
    expect(Object.keys(examples).sort()).toEqual(commands.sort());
  });

  it("of a program shows its inputs, its output and what it may do, and runs none of it", async () => {
    const cwd = await writeProgram({
      "main.worker": `---
description: Review an article.
input:
  text: string
  tone?(enum): [calm, sharp]
  pages(array, in their order): { title: string, marks?(array): integer }
  questions?(array): string, open ones
output: { score: integer }
toolsets: { filesystem: {}, mine: {} }
---
Review {{ text }}.
`,
      "tools.ts": "throw new Error('it ran');\nexport const mine = 1;\n",
    });
    const { exitCode, stdout, stderr } = await runCli([".", "--help"], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("Usage: llm-do [options] . [prompt]\n\nReview an article.\n");
    expect(stdout).toMatch(/^ {2}text +string; required$/m);
    expect(stdout).toMatch(/^ {2}tone\(enum\) +\[calm, sharp\]$/m);
    expect(stdout).toMatch(/^ {2}pages\(array\) +\{ title: string, marks\?\(array\): integer \}/m);
    expect(stdout).toMatch(/^ {2}questions\(array\) +string; open ones$/m);
    expect(stdout).toMatch(/^Output\n {2}score +integer; required$/m);
    expect(stdout).toMatch(/^ {2}runs +tools\.ts: code/m);
    expect((await runCli(["run", ".", "-h"], { cwd })).stdout).toBe(stdout);
  });

  it("of a program with mistakes names them", async () => {
    const cwd = await writeProgram({ "main.worker": "---\ntoolset: {}\n---\nx\n" });
    const { exitCode, stdout, stderr } = await runCli([".", "--help"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("error[unknown-key]");
  });
});
