import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type OpenTerminal, openTerminal, type TerminalOptions } from "./open-terminal.ts";
import { chatScripted, script, writeProgram, writeStubborn } from "./run-cli.ts";

const keys = "[?]";

/** The screen, without what differs from run to run. */
function transcript(terminal: OpenTerminal): string {
  const screen = terminal.screen();
  return `${screen.replace(/\d+(?:\.\d+)? (?:ms|s)\b/g, "N s").replace(/─+/g, "───")}\n`;
}

function fixture(name: string): string {
  return join(import.meta.dirname, "fixtures/tui", `${name}.txt`);
}

/** A worker that writes these files in one turn, and then says that it is done. */
function writer(paths: readonly string[] = ["out.txt"], content = "hello\nworld\n"): Promise<string> {
  const calls = paths.map((path) => ({ tool: "write_file", args: { path, content } }));
  const text = "Let me **write**:\n\n- one\n- two";
  return writeProgram({
    "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
    "model.yaml": script({ main: [{ text, calls }, "# Done\n\nIt is *finished*, with `code`."] }),
  });
}

function open(cwd: string, args: readonly string[] = ["."], more: Partial<TerminalOptions> = {}): OpenTerminal {
  return openTerminal(args, { cwd, isDrawn: true, ...more });
}

describe("a run in the terminal UI", () => {
  it.each([60, 100, 200])("is approved at %i columns, and leaves its transcript and result once", async (columns) => {
    const cwd = await writer();
    const terminal = open(cwd, ["."], { columns });
    await terminal.waitFor(`${keys}\n> \nscripted:model.yaml`);
    await expect(transcript(terminal)).toMatchFileSnapshot(fixture(`question-${columns}`));
    terminal.type("a\r");
    expect(await terminal.exitCode).toBe(0);
    await expect(transcript(terminal)).toMatchFileSnapshot(fixture(`approved-${columns}`));
    expect(await readFile(join(cwd, "out.txt"), "utf8")).toBe("hello\nworld\n");
  });

  it("denies with a note, and escapes what a file would do to the terminal", async () => {
    const cwd = await writer(["out.txt"], "first \u202E\x1b[2J\u0430dmin\n");
    const terminal = open(cwd);
    await terminal.waitFor("| first \\u{202E}\\u{1B}[2J\\u{430}dmin");
    await terminal.waitFor(keys);
    terminal.type("d wrong folder\r");
    expect(await terminal.exitCode).toBe(0);
    await expect(transcript(terminal)).toMatchFileSnapshot(fixture("denied"));
    expect(await readdir(cwd)).not.toContain("out.txt");
  });

  it("asks for the prompt where the program cannot do without", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\n---\nAnswer.\n",
      "model.yaml": "- { expect: { user: Look at it }, reply: Looked. }\n",
    });
    const terminal = open(cwd);
    await terminal.waitFor("What to do?");
    terminal.type("Look at it\r");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).toContain("Looked.");
    const empty = open(cwd);
    await empty.waitFor("What to do?");
    empty.type("\r");
    expect(await empty.exitCode).toBe(2);
    expect(empty.screen()).toContain('llm-do . "what to do"');
  });

  it("asks anew for edited arguments, on a line also where npm has set vi as the editor", async () => {
    const cwd = await writer();
    const terminal = open(cwd, ["."], { env: { EDITOR: "vi", npm_command: "exec" } });
    await terminal.waitFor(keys);
    terminal.type("e\r");
    await terminal.waitFor("One line of JSON");
    await terminal.waitFor('> {"path":"out.txt"');
    terminal.type('\x15{"path":"other.txt","content":"edited"}\r');
    await terminal.waitFor("Write 6 characters to other.txt");
    await terminal.waitFor(keys);
    terminal.type("a\r");
    expect(await terminal.exitCode).toBe(0);
    expect(await readFile(join(cwd, "other.txt"), "utf8")).toBe("edited");
  });

  it("goes through a queue of twelve, until a rule allows the rest", async () => {
    const paths = Array.from({ length: 12 }, (_, index) => `out/${index}.txt`);
    const cwd = await writer(paths);
    const terminal = open(cwd);
    for (const n of [1, 2]) {
      await terminal.waitFor(`Approval ${n} of`);
      await terminal.waitFor(keys);
      terminal.type("a\r");
    }
    await terminal.waitFor("Approval 3 of 12");
    await terminal.waitFor("2  approve, and allow main/write_file(out/*)");
    await terminal.waitFor(keys);
    terminal.type("2\r");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen().match(/as before|by a rule of this run/g)?.length).toBeGreaterThanOrEqual(9);
    expect(await readdir(join(cwd, "out"))).toHaveLength(12);
  });

  it.each([[60, 20] as const, [80, 24] as const, [200, 50] as const])(
    "has its keys in three rows, and shows the question by `m`, at %ix%i",
    async (columns, rows) => {
      const content = Array.from({ length: 60 }, (_, n) => `row ${n}\n`).join("");
      const terminal = open(await writer(["out.txt"], content), ["."], { columns, rows });
      await terminal.waitFor(keys);
      const panel = terminal.screen().split("\n").slice(-5);
      expect(panel.findIndex((row) => row.startsWith("[a]pprove"))).toBeGreaterThanOrEqual(0);
      expect(panel.join("\n")).toContain(`${keys}\n> \nscripted:model.yaml`);
      terminal.type("m\r");
      await terminal.waitFor(/row 59[\s\S]*row 59/);
      terminal.type("?\r");
      await terminal.waitFor("m  show the question again");
      terminal.type("s\r");
      expect(await terminal.exitCode).toBe(5);
    },
  );

  it("keeps what was printed, and shows the question again, after the terminal has changed its size", async () => {
    const terminal = open(await writer(), ["."], { columns: 80, rows: 24 });
    const count = (text: RegExp) => terminal.screen().match(text)?.length ?? 0;
    await terminal.waitFor(keys);
    let questions = 1;
    for (const [columns, rows] of [
      [60, 20],
      [200, 50],
      [60, 20],
      [100, 30],
      [80, 24],
    ] as const) {
      terminal.resize(columns, rows);
      questions++;
      await expect.poll(() => count(/Approval 1 of 1/g), { timeout: 10_000 }).toBe(questions);
      await expect.poll(() => count(/\| hello/g)).toBe(questions);
      expect(terminal.screen()).toContain("Let me write:");
    }
    terminal.type("a\r");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).toContain("It is finished");
  });

  it("opens calls with their arguments and results", async () => {
    const terminal = open(await writer());
    await terminal.waitFor(keys);
    terminal.type("\x0f");
    await terminal.waitFor("No call has ended yet.");
    terminal.type("a\r");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).toMatch(/✓ write_file#0.*\n {2}\| hello\n {2}\| world\n {2}\(result:\)\n/);
  });
});

describe("the terminal", () => {
  it("is given back when the run is stopped by Ctrl-Z, and after bg and fg the question goes on", async () => {
    const cwd = await writer();
    const terminal = open(cwd, [], { command: "PS1='shell: ' exec bash --norc -i" });
    terminal.type("$LLM_DO .\r");
    await terminal.waitFor(keys);
    terminal.type("d not");
    await terminal.waitFor("> d not");
    terminal.type("\x1a");
    await terminal.waitFor("Stopped");
    terminal.type("stty -a | grep -o '.icanon'\r");
    await terminal.waitFor("\n icanon");
    terminal.type("bg; echo 'in the 'background\r");
    await terminal.waitFor("in the background");
    terminal.type("fg; echo code=$?\r");
    await terminal.waitFor("> d not");
    terminal.type(" now\r");
    await terminal.waitFor("code=0");
    expect(terminal.screen()).toContain("finished");
    expect(await readdir(cwd)).not.toContain("out.txt");
  });

  it("is restored when Ctrl-C is pressed twice", async () => {
    const cwd = await writeStubborn();
    const command = `$LLM_DO . go --trust; echo "code=$?"; stty -a | grep -o '.icanon'`;
    const terminal = open(cwd, [], { command });
    await terminal.waitFor("asked");
    terminal.type("\x03");
    await terminal.waitFor("press Ctrl-C again");
    await terminal.waitFor("closing");
    terminal.type("\x03");
    await terminal.waitFor("code=130");
    await terminal.waitFor("\n icanon");
  });
});

describe("Ctrl-C", () => {
  it("reaches a run whose code does not yield", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ntoolsets: { busy: {} }\n---\nGo.\n",
      "model.yaml": script({ main: [{ calls: [{ tool: "busy", args: {} }] }, "done"] }),
      "tools.ts": `import { writeSync } from "node:fs";
import { tool } from "llm-do";
export const busy = tool({ input: { type: "object" }, approval: "pre-approved", run: () => { writeSync(2, "it loops"); for (;;); } });
`,
    });
    const command = `$LLM_DO . go --trust --tui; echo "code=$?"; stty -a | grep -o '.icanon'`;
    const terminal = open(cwd, [], { command });
    await terminal.waitFor("it loops");
    terminal.type("\x03");
    await terminal.waitFor("the program's code does not yield; press Ctrl-C again");
    terminal.type("\x03");
    await terminal.waitFor("code=130");
    await terminal.waitFor("\n icanon");
  });

  it("belongs to an editor while it runs, and so does what is typed", async () => {
    const cwd = await writer();
    const editor = `
      process.on("SIGINT", () => console.log("caught"));
      process.stdin.once("data", (line) => {
        require("node:fs").writeFileSync(process.argv[2], '{ "path": "other.txt", "content": ' + JSON.stringify(String(line)) + " }");
        process.exit();
      });
      console.log("editing");`;
    await writeFile(join(cwd, "editor.cjs"), editor);
    const terminal = open(cwd, ["."], { env: { EDITOR: `${process.execPath} ${join(cwd, "editor.cjs")}` } });
    await terminal.waitFor(keys);
    terminal.type("e\r");
    await terminal.waitFor("editing");
    terminal.type("\x03");
    await terminal.waitFor("caught");
    terminal.type("typed\r");
    await terminal.waitFor("Write 6 characters to other.txt");
    await terminal.waitFor(keys);
    terminal.type("s\r");
    expect(await terminal.exitCode).toBe(5);
  });
});

describe("a conversation", () => {
  it("remembers, attaches files, and leaves with the exit code of its last message", async () => {
    const cwd = await writeProgram({ "main.worker": "---\n---\nTalk.\n", "notes.txt": "noted" });
    const terminal = open(cwd, [".", "--chat", "--model", chatScripted]);
    await terminal.waitFor("/help lists commands");
    terminal.type("hello\r");
    await terminal.waitFor("1 parts, 0 messages before: hello");
    terminal.type("read @not\t");
    await terminal.waitFor("read @notes.txt");
    terminal.type("@none.txt\r");
    await terminal.waitFor("@none.txt names no file, and is sent as it stands.");
    await terminal.waitFor("2 parts, 2 messages before: read @notes.txt @none.txt | notes.txt");
    terminal.type("\x1b[200~two\nlines\x1b[201~");
    await terminal.waitFor("  lines");
    terminal.type("\r");
    await terminal.waitFor("4 messages before: two lines");
    // The foot shows the time of a run that goes on; its messages count when it has ended.
    await terminal.waitFor(/ 0 out · \$0\.00$/);
    terminal.type("/context\r");
    await terminal.waitFor("The conversation has 6 messages and 1 file;");
    terminal.type("/exit\r");
    expect(await terminal.exitCode).toBe(0);
    await expect(transcript(terminal)).toMatchFileSnapshot(fixture("chat"));
  });

  it("is left by a signal while it waits for a message", async () => {
    const cwd = await writeProgram({ "main.worker": "---\n---\nTalk.\n" });
    const terminal = open(cwd, [".", "--chat", "--model", chatScripted]);
    await terminal.waitFor("/help lists commands");
    terminal.process.kill("SIGTERM");
    expect(await terminal.exitCode).toBe(143);
  });
});

describe("llm-do chat", () => {
  it("holds a conversation, and says how a program of that name is run", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\n---\nAnswer.\n",
      "chat.worker": "---\nmodel: scripted:model.yaml\n---\nOther.\n",
      "model.yaml": "- reply: Here.\n",
    });
    const terminal = open(cwd, ["chat", ".", "Hello"]);
    await terminal.waitFor("Here.");
    expect(terminal.screen()).toContain("`chat` is a command here; the program of this name is run by llm-do ./chat.worker");
    terminal.type("\x04");
    expect(await terminal.exitCode).toBe(0);
  });
});
