import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { end, openTerminal, prompt } from "./open-terminal.ts";
import { runCli, writeWriter } from "./run-cli.ts";

/** A command for `EDITOR` that does this with the file `$1`. */
async function editor(cwd: string, body: string): Promise<Record<string, string>> {
  const path = join(dirname(cwd), "bin/my editor");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
  return { EDITOR: `'${path}' --wait` };
}

function written(cwd: string): Promise<string | undefined> {
  return readFile(join(cwd, "out.txt"), "utf8").catch(() => undefined);
}

/** A shell can lose an interrupt on the way into a program that it starts: this one has many chances to notice. */
const deafToNothing = "trap 'exit 130' INT; echo editing; while :; do sleep 0.1; done";

describe("editing at the question", { timeout: 40_000 }, () => {
  it("opens the editor on the arguments, asks for the call that they make, and runs that", async () => {
    const cwd = await writeWriter(["first"]);
    const env = await editor(cwd, 'shift; ls -l "$1" "$(dirname "$1")/.." > "$HOME/seen"; sed -i "s/first/second/" "$1"');
    await mkdir(join(dirname(cwd), "home"));
    const terminal = openTerminal(["."], { cwd, env });
    await terminal.waitFor("| first");
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("Approval 1 of 1");
    await terminal.waitFor("| second");
    await terminal.waitFor(prompt);
    expect(await written(cwd)).toBeUndefined();
    terminal.type("a\r");
    expect((await end(terminal)).exitCode).toBe(0);
    expect(await written(cwd)).toBe("second");
    const seen = await readFile(join(dirname(cwd), "home/seen"), "utf8");
    expect(seen).toMatch(/^-rw------- .*\/state\/edit-\w+\/arguments\.json$/m);
    expect(seen).toMatch(/^drwx------ .* edit-\w+$/m);
    expect((await readdir(join(dirname(cwd), "state"))).filter((name) => name.startsWith("edit-"))).toEqual([]);
  });

  it("goes back to the question for what is no JSON or does not fit, keeps the text, and for an editor that fails", async () => {
    const cwd = await writeWriter(["first"]);
    const env = await editor(
      cwd,
      'case $(cat "$2") in *broken*) echo \'{"path": 5}\' > "$2";; *5*) exit 3;; *) echo "{broken" > "$2";; esac',
    );
    const terminal = openTerminal(["."], { cwd, env });
    await terminal.waitFor(prompt);
    for (const said of ["This is no JSON", "the arguments of `write_file` do not fit", "The editor ended with the exit code 3"]) {
      terminal.type("e\r");
      await terminal.waitFor(said);
      await terminal.waitFor(prompt);
    }
    expect(await written(cwd)).toBeUndefined();
    terminal.type("a\r");
    expect((await end(terminal)).exitCode).toBe(0);
    expect(await written(cwd)).toBe("first");
  });

  it("approves nothing where nothing was changed", async () => {
    const cwd = await writeWriter(["first"]);
    const terminal = openTerminal(["."], { cwd, env: await editor(cwd, "true") });
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("The arguments stay as they are.");
    await terminal.waitFor(prompt);
    terminal.type("d\r");
    expect((await end(terminal)).exitCode).toBe(0);
    expect(await written(cwd)).toBeUndefined();
  });

  it("leaves Ctrl-C to the editor, and interrupts the run at the question again", async () => {
    const cwd = await writeWriter(["first"]);
    const terminal = openTerminal(["."], { cwd, env: await editor(cwd, deafToNothing) });
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("editing");
    terminal.type("\x03");
    await terminal.waitFor("The editor ended");
    await terminal.waitFor(prompt);
    // Ctrl-C that follows the editor's at once is taken for the same key press.
    const press = () => terminal.screen().includes("llm-do: stopping") || terminal.type("\x03");
    await expect.poll(press, { interval: 500, timeout: 20_000 }).toBe(true);
    expect((await end(terminal)).exitCode).toBe(130);
    expect((await readdir(join(dirname(cwd), "state"))).filter((name) => name.startsWith("edit-"))).toEqual([]);
  });

  it("takes one line of JSON where there is no editor; an empty one and Ctrl-C go back", async () => {
    const cwd = await writeWriter(["first\u202E"]);
    const terminal = openTerminal(["."], { cwd });
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("goes back.\n>");
    await expect.poll(terminal.screen, { timeout: 20_000 }).toContain('> {"path":"out.txt","content":"first\\u202e"}');
    terminal.type("\x15\r");
    await terminal.waitFor("The arguments stay as they are.");
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("goes back.\n>");
    terminal.type("\x03");
    await terminal.waitFor("The arguments stay as they are.");
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("goes back.\n>");
    terminal.type('\x15{"path":"out.txt","content":"typed"}\r');
    await terminal.waitFor("| typed");
    await terminal.waitFor(prompt);
    terminal.type("a\r");
    expect((await end(terminal)).exitCode).toBe(0);
    expect(await written(cwd)).toBe("typed");
  });
});

describe("what was approved for the run", { timeout: 40_000 }, () => {
  it("is listed at a question, and can be taken back there", async () => {
    const cwd = await writeWriter(["same", "other", "same", "same"]);
    const terminal = openTerminal([".", "-v"], { cwd });
    await terminal.waitFor(prompt);
    expect(terminal.screen()).not.toContain("  l  ");
    terminal.type("r\r");
    await terminal.waitFor("+other");
    await terminal.waitFor("[l]ist");
    await terminal.waitFor(prompt);
    terminal.type("l\r");
    await terminal.waitFor("1. main > write_file {");
    terminal.type("l 7\r");
    await terminal.waitFor("There is no number 7.");
    terminal.type("l 1\r");
    await terminal.waitFor("Number 1 asks again from now on.");
    await terminal.waitFor("Nothing is approved for this run.");
    terminal.type("d\r");
    await terminal.waitFor("Approval 1 of 1");
    await terminal.waitFor(prompt);
    terminal.type("s\r");
    expect((await end(terminal)).exitCode).toBe(5);
    const shown = await runCli(["runs", "show", "last"], { cwd });
    expect(shown.stdout).toContain("main > write_file#1 revoked an approval for the run: main > write_file");
  });
});

describe("--approval-timeout", { timeout: 40_000 }, () => {
  it("denies a question that nobody answers, puts the next one, and ends with 4", async () => {
    const cwd = await writeWriter(["first", "second"]);
    const terminal = openTerminal([".", "--approval-timeout", "1.5"], { cwd });
    await terminal.waitFor(prompt);
    await terminal.waitFor("nobody answered within 1.5 seconds: denied");
    await terminal.waitFor("| second");
    await terminal.waitFor(prompt);
    terminal.type("a\r");
    const { exitCode, screen } = await end(terminal);
    expect(exitCode).toBe(4);
    expect(screen).toContain("llm-do: 1 call needed approval, and nobody answered in time:");
    expect(await written(cwd)).toBe("second");
  });

  it("closes an editor, too", async () => {
    const cwd = await writeWriter(["first"]);
    const terminal = openTerminal([".", "--approval-timeout", "1.5"], { cwd, env: await editor(cwd, "exec sleep 30") });
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("nobody answered within 1.5 seconds: denied");
    expect((await end(terminal)).exitCode).toBe(4);
    expect((await readdir(join(dirname(cwd), "state"))).filter((name) => name.startsWith("edit-"))).toEqual([]);
  });

  it("leaves nothing of an editor behind where the terminal is closed", async () => {
    const cwd = await writeWriter(["first"]);
    const terminal = openTerminal(["."], { cwd, env: await editor(cwd, "echo editing; exec sleep 30") });
    await terminal.waitFor(prompt);
    terminal.type("e\r");
    await terminal.waitFor("editing");
    terminal.process.kill("SIGHUP");
    await terminal.exitCode;
    expect((await readdir(join(dirname(cwd), "state"))).filter((name) => name.startsWith("edit-"))).toEqual([]);
  });

  it.each(["0", "x", "-1", "1e9"])("takes no %s", async (seconds) => {
    const cwd = await writeWriter(["first"]);
    const { exitCode, stderr } = await runCli([".", `--approval-timeout=${seconds}`], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("more than 0");
  });
});
