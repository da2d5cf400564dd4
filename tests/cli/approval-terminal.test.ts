import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliRuns } from "../records.ts";
import { end, openTerminal, prompt } from "./open-terminal.ts";
import { copyExample, scripted, writeWriter } from "./run-cli.ts";

async function reports(cwd: string): Promise<string[]> {
  return readdir(join(cwd, "evaluations")).catch(() => []);
}

/** How many calls of a run have come to their question. */
async function countVerdicts(cwd: string): Promise<number> {
  const runs = cliRuns(cwd);
  const [run = ""] = await readdir(runs);
  const journal = await readFile(join(runs, run, "journal.jsonl"), "utf8");
  return journal.match(/"verdict":\{"type":"ask"/g)?.length ?? 0;
}

describe("approvals at a terminal", () => {
  it("tells the model of a denial with its note; the other writes go on, and the run ends with 0", async () => {
    const cwd = await copyExample();
    const terminal = openTerminal([".", "--model", scripted], { cwd });
    for (const n of [1, 2, 3]) {
      await terminal.waitFor(`Approval ${n} of`);
      await terminal.waitFor(prompt);
      const [, report] = [...terminal.screen().matchAll(/characters to reports\/(\S+)/g)].at(-1) ?? [];
      terminal.type(report === "brindle-robotics.md" ? "d not this one, please\r" : "a\r");
    }
    const { exitCode, screen } = await end(terminal);
    expect(exitCode).toBe(0);
    expect(screen.replaceAll("\n", "")).toContain("not written (denied): `write_file` was denied: not this one, please");
    expect(screen).toContain("Reports written: 2. Reports not written: 1. Decks not evaluated: 0.");
    expect(await reports(cwd)).toEqual(["parcelmoth.md", "tidewell-sensors.md"]);
  });

  it("shows what would be written before it asks", async () => {
    const cwd = await writeWriter(["first line\nsecond line \u202E\x1b[2J\n"]);
    const terminal = openTerminal(["."], { cwd });
    await terminal.waitFor("Approval 1 of 1: main wants to call write_file");
    await terminal.waitFor("| first line");
    await terminal.waitFor("| second line \\u{202E}\\u{1B}[2J");
    await terminal.waitFor("It asks because: writes ask unless their scope says otherwise");
    await terminal.waitFor("Call: main > write_file#0");
    terminal.type("a\r");
    expect((await end(terminal)).exitCode).toBe(0);
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("first line\nsecond line \u202E\x1b[2J\n");
  });

  it("asks again after an empty line, and after what is no answer; neither approves", async () => {
    const cwd = await writeWriter(["text"]);
    const terminal = openTerminal(["."], { cwd });
    await terminal.waitFor(prompt);
    terminal.type("\r");
    await terminal.waitFor("Nothing was chosen. Answer with a, r, 1, 2, e, d, d WHY, m, s or ?.");
    for (const wrong of ["y", "yes", "approve it", "A!"]) {
      terminal.type(`${wrong}\r`);
      await terminal.waitFor(`"${wrong}" is no answer. Answer with a, r, 1, 2, e, d, d WHY, m, s or ?.`);
    }
    terminal.type("d\r");
    const { exitCode, screen } = await end(terminal);
    expect({ exitCode, last: screen.split("\n").at(-1) }).toEqual({ exitCode: 0, last: "finished" });
    expect(await readdir(cwd)).not.toContain("out.txt");
  });

  it("counts what it leaves out of a long file, shows it when asked to, and remembers nothing before that", async () => {
    const long = Array.from({ length: 100 }, (_, n) => `line ${n + 1}\n`).join("");
    const cwd = await writeWriter([`${long}the end\n`, "short"]);
    const terminal = openTerminal(["."], { cwd });
    await terminal.waitFor("| line 60\n  (41 more lines are not shown)");
    await terminal.waitFor("[s]top  [m]ore  [1-2] a rule");
    await terminal.waitFor(prompt);
    terminal.type("r\r");
    await terminal.waitFor("This cannot be remembered before all of it was shown. Answer with a, 1, 2, e, d, d WHY, m, s or ?.");
    terminal.type("m\r");
    await terminal.waitFor("| line 100\n  | the end\n");
    await terminal.waitFor("[r]epeats too");
    await terminal.waitFor(prompt);
    terminal.type("?\r");
    await terminal.waitFor("  r  approve, and the same call again in this run\n");
    await terminal.waitFor("  m  show the question again\n");
    await terminal.waitFor(prompt);
    terminal.type("m\r");
    await terminal.waitFor("Approval 1 of 1: main wants to call write_file");
    await terminal.waitFor("| line 60\n  (41 more lines are not shown)");
    await terminal.waitFor("[r]epeats too");
    expect(await readdir(cwd)).not.toContain("out.txt");
    terminal.type("r\r");
    await terminal.waitFor("Approval 1 of 1");
    await terminal.waitFor(prompt);
    terminal.type("d\r");
    expect((await end(terminal)).exitCode).toBe(0);
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe(`${long}the end\n`);
  });

  it("approves the same call for the run, and asks for another one", async () => {
    const cwd = await writeWriter(["same", "same", "other"]);
    const terminal = openTerminal([".", "-v"], { cwd });
    await terminal.waitFor(prompt);
    terminal.type("r\r");
    await terminal.waitFor("main > write_file#1 approved as before in this run");
    await terminal.waitFor("+other");
    await terminal.waitFor(prompt);
    terminal.type("d\r");
    expect((await end(terminal)).exitCode).toBe(0);
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("same");
  });

  it("allows a rule for the run, and asks no more for what it covers", async () => {
    const cwd = await writeWriter(["one", "two", "three"], "out/a.txt");
    await mkdir(join(cwd, "out"));
    const terminal = openTerminal([".", "-v"], { cwd });
    await terminal.waitFor("1  approve, and allow main/write_file(out/a.txt) in this run");
    await terminal.waitFor("2  approve, and allow main/write_file(out/*) in this run");
    await terminal.waitFor("3  approve, and allow main/write_file in this run");
    await terminal.waitFor(prompt);
    terminal.type("4\r");
    await terminal.waitFor('"4" is no answer. Answer with a, r, 1, 2, 3, e, d, d WHY, m, s or ?.');
    terminal.type("2\r");
    await terminal.waitFor("main > write_file#1 approved by a rule of this run");
    await terminal.waitFor("main > write_file#2 approved by a rule of this run");
    expect((await end(terminal)).exitCode).toBe(0);
    expect(await readFile(join(cwd, "out/a.txt"), "utf8")).toBe("three");
  });

  it("ends the run at a stop with 5", async () => {
    const cwd = await writeWriter(["text", "more"]);
    const terminal = openTerminal(["."], { cwd });
    await terminal.waitFor(prompt);
    terminal.type("s that is enough\r");
    const { exitCode, screen } = await end(terminal);
    expect(exitCode).toBe(5);
    expect(screen).toContain("llm-do: `write_file` was denied: that is enough, and the run stops for it");
    expect(screen).not.toContain("finished");
  });

  it("drops what was typed before the question was there", async () => {
    const cwd = await copyExample();
    const terminal = openTerminal([".", "--model", scripted], { cwd });
    terminal.type("a\ra\rr\ra");
    await terminal.waitFor(prompt);
    terminal.type("s\r");
    const { exitCode, screen } = await end(terminal);
    expect({ exitCode, approvals: screen.match(/Approval/g)?.length }).toEqual({ exitCode: 5, approvals: 1 });
    expect(await reports(cwd)).toEqual([]);
  });

  it("is interrupted by Ctrl-C at the question; Ctrl-D denies", async () => {
    const cwd = await writeWriter(["text"]);
    const interrupted = openTerminal(["."], { cwd });
    await interrupted.waitFor(prompt);
    interrupted.type("\x03");
    expect((await end(interrupted)).exitCode).toBe(130);
    const closed = openTerminal(["."], { cwd });
    await closed.waitFor(prompt);
    closed.type("\x04");
    expect((await end(closed)).exitCode).toBe(0);
    expect(await readdir(cwd)).not.toContain("out.txt");
  });

  it("asks on the terminal where stdin is a pipe, and takes nothing from the pipe for an answer", async () => {
    const cwd = await copyExample();
    const command = `yes a | $LLM_DO . "all of them" --model ${scripted}`;
    const terminal = openTerminal([], { cwd, command });
    await terminal.waitFor(prompt);
    terminal.type("s\r");
    expect((await end(terminal)).exitCode).toBe(5);
    expect(await reports(cwd)).toEqual([]);
  });

  it("keeps what others print out of an open question", async () => {
    const cwd = await copyExample();
    const terminal = openTerminal([".", "--model", scripted, "-v"], { cwd });
    await terminal.waitFor(prompt);
    await expect.poll(() => countVerdicts(cwd), { timeout: 20_000 }).toBe(3);
    expect(terminal.screen().split("\n").at(-1)).toBe(">");
    terminal.type("s\r");
    expect((await end(terminal)).exitCode).toBe(5);
  });

  it("can be read on 60 columns", async () => {
    const long = `${"word ".repeat(30)}\n${"x".repeat(150)}\n`;
    const cwd = await writeWriter([long], "a-rather-long-file-name-for-a-narrow-terminal-window.txt");
    const terminal = openTerminal(["."], { cwd, columns: 60 });
    await terminal.waitFor(prompt);
    expect(terminal.screen()).toMatchInlineSnapshot(`
      "
      Approval 1 of 1: main wants to call write_file
        Write 302 characters to 
          a-rather-long-file-name-for-a-narrow-terminal-window.tx
          t (new file)
        | word word word word word word word word word word word 
        : word word word word word word word word word word word 
        : word word word word word word word word 
        | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        : xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        : xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        It asks because: writes ask unless their scope says 
          otherwise
        Call: main > write_file#0
        1  approve, and allow 
           main/write_file(a-rather-long-file-name-for-a-narrow-t
           erminal-window.txt) in this run
        2  approve, and allow main/write_file in this run
      [a]pprove  [r]epeats too  [d]eny  [e]dit  [s]top  [m] again
      [1-2] a rule  [?]
      >"
    `);
    terminal.type("d\r");
    expect((await end(terminal)).exitCode).toBe(0);
  });
});
