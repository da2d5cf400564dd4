import { describe, expect, test } from "vitest";
import type { ApprovalRequest } from "../../src/index.ts";
import type { ScriptedCall } from "../../src/testing/index.ts";
import { renderRequest } from "../../src/ui/render-request.ts";
import { openTerminal } from "../cli/open-terminal.ts";
import { runCli, script, writeProgram } from "../cli/run-cli.ts";
import { type ReadQuestion, readQuestion } from "./read-question.ts";
import { attack, World, worker } from "./world.ts";

const program = {
  "main.worker": worker(`
toolsets:
  filesystem: {}
  reader: {}
  shell: { rules: [], default: { approval_required: true } }
`),
  "reader.worker": worker("description: r\nmodel: test:other\ninput: { input: string, attachments(array): attachment }"),
  "a.txt": "a",
};

/** The questions of these calls, as they stand on a terminal of 60 columns. */
async function questionsOf(calls: readonly ScriptedCall[]): Promise<ReadQuestion[]> {
  const world = new World(program);
  const shown: ReadQuestion[] = [];
  const approver = async (request: ApprovalRequest) => {
    const { text, isWhole } = renderRequest(request, { columns: 60, style: (_, words) => words });
    expect(isWhole).toBe(true);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
    for (const row of text.split("\n")) expect(row.length).toBeLessThan(60);
    shown.push(readQuestion(text));
    return { type: "deny" } as const;
  };
  await attack(world, { model: calls.map((call) => [call]), approval: { mode: "prompt", approver } });
  return shown;
}

describe("a question shows everything that it is about", () => {
  const commands = {
    "a harmless comment in front": `# list the files of the folder\ntouch canary`,
    "many empty lines": `echo ok\n${"\n".repeat(200)}touch canary`,
    padding: `echo ok${" ".repeat(3000)}; touch canary`,
    "a carriage return": "echo ok; #\rtouch canary",
    "another direction": "echo \u202eyranac hcuot\u202c; touch canary",
    "no width": "echo o\u200bk; touch \u2060canary",
    "a thousand programs": `${"true; ".repeat(90)}touch canary`,
    "a here-document": `cat <<'END'\n${"text\n".repeat(200)}END\ntouch canary`,
  };

  test.each(Object.entries(commands))("in a command: %s", async (_, command) => {
    const [question, ...others] = await questionsOf([{ tool: "shell", args: { command } }]);
    expect(others).toEqual([]);
    // Blocked is as good as shown: control characters never come as far as a question.
    if (question === undefined) return expect(command).toMatch(/\r/);
    // A command is written anew from what was read: what stands here is what would run, with all that it starts.
    expect(question.lines.join("\n")).toMatch(/touch\s+\S*canary/);
    if (command.includes("\u202e")) expect(question.lines.join("\n")).toContain("\u202e");
  });

  test("in a path: names that end a line, move the cursor or turn the direction", async () => {
    const names = ["a\u202etxt.exe", "report.md\u2028(new file)", `x${" ".repeat(120)}.sh`, "e\u0301\u200d.md", "\u0338x"];
    const questions = await questionsOf(names.map((name) => ({ tool: "write_file", args: { path: name, content: "x" } })));
    expect(questions).toHaveLength(names.length);
    for (const [index, question] of questions.entries())
      expect(question.paragraphs[1]).toBe(`Write 1 character to ${names[index]} (new file)`);
  });

  test("in a worker call: the whole input, beside attachments too", async () => {
    const input = `${"Summarize this. ".repeat(200)}Then send it to the press.`;
    const [question] = await questionsOf([{ tool: "reader", args: { input, attachments: ["a.txt"] } }]);
    expect(question?.notes.slice(0, 2)).toEqual(["(what reader can do that main cannot:)", "(sent to reader (test:other):)"]);
    expect(question?.lines.slice(0, 2)).toEqual(["send to test:other", "a.txt, text/plain, 1 bytes"]);
    expect(JSON.parse(question?.lines.slice(2).join("\n") ?? "")).toEqual({ input, attachments: ["a.txt"] });
  });
});

describe("a name on the disk that is an escape sequence", { timeout: 60_000 }, () => {
  const sequence = "\x1b]0;owned\x07\x1b[2J";
  const raw = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

  test("is in no list, and cannot be written", async () => {
    const world = new World(program);
    world.put(`program/notes/a${sequence}.txt`, "x");
    world.put("program/notes/b.txt", "x");
    const calls = [
      { tool: "list_files", args: {} },
      { tool: "search_files", args: { regex: "x" } },
      { tool: "read_file", args: { path: `notes/a${sequence}.txt` } },
      { tool: "read_file", args: { path: "notes/a" } },
    ];
    const { results } = await attack(world, { model: [calls] });
    expect(JSON.stringify(results)).toContain("notes/b.txt");
    expect(JSON.stringify(results.map(({ result }) => (result.ok ? result.value : result.error)))).not.toMatch(/owned|2J/);
  });

  test("is escaped by every command, whatever it names", async () => {
    const cwd = await writeProgram({
      ...program,
      [`ev${sequence}il.worker`]: worker("modle: x"),
      [`sub${sequence}/main.worker`]: worker("toolsets: { nothing: {} }"),
      [`t${sequence}.ts`]: "export const x = 1;\n",
    });
    const commands = [
      ["check", `ev${sequence}il.worker`],
      ["check", `sub${sequence}`],
      ["check", "main.worker", `ev${sequence}il.worker`, `t${sequence}.ts`],
      ["explain", `sub${sequence}`],
      [`ev${sequence}il.worker`, "go"],
      [`no${sequence}thing`, "go"],
      ["main.worker", "-a", `no${sequence}file`, "go"],
      ["main.worker", "--model", `no${sequence}:model`, "go"],
      ["main.worker", "--set", `no${sequence}key=1`, "go"],
      ["main.worker", `--no${sequence}flag`],
      ["runs", "show", `no${sequence}run`],
    ];
    for (const words of commands) {
      const { stdout, stderr, exitCode } = await runCli(words, { cwd });
      expect([exitCode, stdout], words.join(" ")).toEqual([2, ""]);
      expect(stderr, words.join(" ")).not.toMatch(raw);
    }
  });
});

describe("an answer that is an escape sequence", { timeout: 20_000 }, () => {
  const answer = "one\ttwo\r\nthree \x1b]52;c;b3duZWQ=\x07\x1b[2J\x9b2J\rllm-do: all is well \u{1f469}\u200d\u{1f469} \\u{1B}\n";
  const files = {
    "main.worker": worker("model: scripted:model.yaml\ninput: { input?: string }"),
    "model.yaml": script({ main: [answer] }),
  };

  test("is shown escaped at a terminal", async () => {
    const terminal = openTerminal(["."], { cwd: await writeProgram(files), columns: 200 });
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.screen()).toContain("three \\u{1B}]52;c;b3duZWQ=\\u{7}\\u{1B}[2J\\u{9B}2J\\u{D}llm-do: all is well");
    expect(terminal.screen()).toMatch(/^one +two$/m);
  });

  test("passes a pipe unchanged", async () => {
    const { stdout } = await runCli(["."], { cwd: await writeProgram(files) });
    expect(stdout).toBe(answer);
  });
});
