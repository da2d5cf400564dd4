import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { openTerminal, prompt } from "./open-terminal.ts";
import { writeProgram, writeWriter } from "./run-cli.ts";

/** A shell with job control, which runs this. */
function openShell(cwd: string, line: string, env: Readonly<Record<string, string>> = {}) {
  const terminal = openTerminal([], { cwd, command: "PS1='shell: ' exec bash --norc -i", env });
  terminal.type(`${line}\r`);
  return terminal;
}

describe("Ctrl-Z", () => {
  it("stops the run at a question, which goes on after fg", async () => {
    const cwd = await writeWriter(["text\n"]);
    const terminal = openShell(cwd, "$LLM_DO .");
    await terminal.waitFor(prompt);
    terminal.type("d not");
    await terminal.waitFor("d not");
    for (const _ of [1, 2]) {
      terminal.type("\x1a");
      await terminal.waitFor("Stopped");
      await terminal.waitFor("shell:");
      terminal.type("fg\r");
      await terminal.waitFor("> d not");
    }
    terminal.type(" this\r");
    await terminal.waitFor("finished");
    terminal.type("echo code=$?\r");
    await terminal.waitFor("code=0");
    expect(await readFile(join(cwd, "out.txt"), "utf8").catch(() => "denied")).toBe("denied");
  });

  it("stops the run in an editor", async () => {
    const cwd = await writeWriter(["text\n"]);
    const editor = `sh -c 'echo $$ > editor.pid; echo editing; read -r word; echo "read $word"' #`;
    const terminal = openShell(cwd, "$LLM_DO .", { EDITOR: editor });
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("editing");
    terminal.type("\x1a");
    await terminal.waitFor("Stopped");
    await terminal.waitFor("shell:");
    // One that has not come to its stop takes the first character: the shell waits for llm-do alone.
    const pid = (await readFile(join(cwd, "editor.pid"), "utf8")).trim();
    const stateOf = () => execFileSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" });
    await vi.waitFor(() => expect(stateOf()).toMatch(/^T/), { timeout: 20_000 });
    terminal.type("fg\r");
    await terminal.waitFor("$LLM_DO .");
    terminal.type("more\r");
    await terminal.waitFor("read more");
    await terminal.waitFor(prompt);
    terminal.type("a\r");
    await terminal.waitFor("finished");
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("text\n");
  });

  it("stops the run in a call, which goes on after fg", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.mjs\ninput: { input?: string }\n---\nWait.\n",
      "model.mjs": `import { existsSync } from "node:fs";
export default async () => {
  console.log("it waits");
  while (!existsSync("go-on")) await new Promise((resolve) => setTimeout(resolve, 20));
  return "finished";
};
`,
    });
    const terminal = openShell(cwd, "$LLM_DO . --trust");
    await terminal.waitFor("it waits");
    terminal.type("\x1a");
    await terminal.waitFor("Stopped");
    terminal.type("touch go-on; fg\r");
    await terminal.waitFor("finished");
  });
});

describe("the terminal of a question", () => {
  it("is the controlling one where stdin, stdout and stderr are none", async () => {
    const cwd = await writeWriter(["text\n"]);
    const terminal = openTerminal([], { cwd, command: "$LLM_DO . < /dev/null > out.log 2> err.log; echo code=$?" });
    await terminal.waitFor("Approval 1 of 1");
    await terminal.waitFor(prompt);
    terminal.type("a\r");
    await terminal.waitFor("code=0");
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("text\n");
    expect(await readFile(join(cwd, "out.log"), "utf8")).toBe("finished\n");
    expect(await readFile(join(cwd, "err.log"), "utf8")).not.toContain("Approval");
  });

  it("is none in the background", async () => {
    const cwd = await writeWriter(["text\n"]);
    const terminal = openShell(cwd, "$LLM_DO . & wait $!; echo code=$?");
    await terminal.waitFor("nobody could be asked");
    await terminal.waitFor("code=4");
  });

  it("repeats what a tall question is about above the keys", async () => {
    const cwd = await writeWriter(["text\n".repeat(50)]);
    const terminal = openTerminal(["."], { cwd });
    await terminal.waitFor("Call: main > write_file#0\n  1  ");
    await terminal.waitFor("in this run\nmain > write_file: Write 250 characters to out.txt");
    await terminal.waitFor(prompt);
    terminal.type("d\r");
    expect(await terminal.exitCode).toBe(0);
  });
});
