import { mkdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { createToolGate } from "../../../src/approval/index.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../../src/index.ts";
import type { ScriptedCall } from "../../../src/testing/index.ts";
import { noWall } from "../../host/command-bench.ts";
import { attack, World, worker } from "../world.ts";

/** A call of the worker `main`, and what happens right before it is asked for. */
interface Step extends ScriptedCall {
  readonly first?: (world: World) => void;
}

interface Row {
  readonly title: string;
  /** The first is approved for the run; what asks after it is denied. */
  readonly steps: readonly Step[];
  /** Tools that were asked about. */
  readonly asked: readonly string[];
  /** Files of the world as they are in the end. */
  readonly left?: Readonly<Record<string, string>>;
}

const echo = `import { writeFileSync } from "node:fs";
import { tool } from "llm-do";
const input = { type: "object" };
export const note = tool({ description: "n", input, run: (args) => writeFileSync(${"`${import.meta.dirname}/w/noted`"}, JSON.stringify(args)) });
export const pass = tool({ description: "p", input, approval: "pre-approved", calls: ["reader"],
  run: ({ text }, { call }) => call("reader", { input: "same" }, { extraContext: [text] }) });
export const send = tool({ description: "s", input, run: async (_, { attachments }) => {
  for (const file of attachments) writeFileSync(${"`${import.meta.dirname}/w/sent`"}, await file.read());
} });
`;

const program = {
  "main.worker": worker(`
sandbox: { paths: { w: { root: ./w, mode: rw } } }
toolsets:
  filesystem: {}
  note: {}
  pass: {}
  reader: {}
  writer: { _approval_config: { "*": { pre_approved: true } } }
  sender: { _approval_config: { "*": { pre_approved: true } } }
  ./one/twin.worker: { _prefix: one, _approval_config: { "*": { pre_approved: true } } }
  ./two/twin.worker: { _prefix: two, _approval_config: { "*": { pre_approved: true } } }
`),
  "reader.worker": worker("description: r\ninput: { input?: string, attachments?(array): attachment }"),
  "writer.worker": worker("description: w\nsandbox: { paths: { w: { root: ./w, mode: rw } } }\ntoolsets: { filesystem: {} }"),
  "sender.worker": worker("description: s\ninput: { attachments(array): attachment }\ntoolsets: { send: {} }"),
  "one/twin.worker": worker("description: t\nsandbox: { paths: { w: { root: ../w, mode: rw } } }\ntoolsets: { filesystem: {} }"),
  "two/twin.worker": worker("description: t\nsandbox: { paths: { w: { root: ../w, mode: rw } } }\ntoolsets: { filesystem: {} }"),
  "tools.ts": echo,
  "w/a.md": "harmless",
  "w/b.md": "harmless",
};

const write = (content: string, path = "w/a.md"): ScriptedCall => ({ tool: "write_file", args: { path, content } });
const append = (content: string): ScriptedCall => ({ tool: "append_file", args: { path: "w/a.md", content } });
const edit = (old_text: string, new_text: string): ScriptedCall => ({
  tool: "edit_file",
  args: { path: "w/a.md", old_text, new_text },
});
const note = (args: ScriptedCall["args"]): ScriptedCall => ({ tool: "note", args: args ?? {} });
const read = (...attachments: string[]): ScriptedCall => ({ tool: "reader", args: { attachments } });
const put =
  (text: string, path = "program/w/a.md") =>
  (world: World) =>
    world.put(path, text);

/** Another text of the same length, in the same file, with the same time. */
const exchange = (text: string) => (world: World) => {
  const path = world.at("program/w/a.md");
  const { atime, mtime } = statSync(path);
  world.put("program/w/a.md", text);
  utimesSync(path, atime, mtime);
};

const changed: readonly Row[] = [
  {
    title: "one character more that nobody sees",
    steps: [write("text"), write("te\u200bxt")],
    asked: ["write_file", "write_file"],
    left: { "w/a.md": "text" },
  },
  {
    title: "a look-alike of one character",
    steps: [write("pay a"), write("p\u0430y a")],
    asked: ["write_file", "write_file"],
    left: { "w/a.md": "pay a" },
  },
  {
    title: "a line end more",
    steps: [write("text"), write("text\n")],
    asked: ["write_file", "write_file"],
    left: { "w/a.md": "text" },
  },
  {
    title: "the same text for another file",
    steps: [write("text"), write("text", "w/b.md")],
    asked: ["write_file", "write_file"],
    left: { "w/b.md": "harmless" },
  },
  {
    title: "the same text for a file whose name differs in case",
    steps: [write("text", "w/new.md"), write("text", "w/New.md")],
    asked: ["write_file", "write_file"],
  },
  {
    title: "the same text over what somebody wrote meanwhile",
    steps: [write("text"), { ...write("text"), first: put("an hour of work") }],
    asked: ["write_file", "write_file"],
    left: { "w/a.md": "an hour of work" },
  },
  {
    title: "the same text over another of the same length and time",
    steps: [write("text"), { ...write("text"), first: exchange("work") }],
    asked: ["write_file", "write_file"],
    left: { "w/a.md": "work" },
  },
  {
    title: "the same text over bytes that differ only in a mark at the beginning",
    steps: [write("text"), { ...write("text"), first: put("\ufefftext") }],
    asked: ["write_file", "write_file"],
    left: { "w/a.md": "\ufefftext" },
  },
  {
    title: "a new file where there is one by now",
    steps: [write("text", "w/c.md"), { ...write("text", "w/c.md"), first: put("work", "program/w/c.md") }],
    asked: ["write_file", "write_file"],
    left: { "w/c.md": "work" },
  },
  {
    title: "a write where the same text is appended to",
    steps: [write("text"), append("text")],
    asked: ["write_file", "append_file"],
    left: { "w/a.md": "text" },
  },
  {
    title: "an edit in a text that is another one around it",
    steps: [edit("harm", "HARM"), { ...edit("harm", "HARM"), first: put("all of it: harmless") }],
    asked: ["edit_file", "edit_file"],
    left: { "w/a.md": "all of it: harmless" },
  },
  {
    title: "an edit the other way round",
    steps: [edit("harm", "HARM"), edit("HARM", "harm")],
    asked: ["edit_file", "edit_file"],
    left: { "w/a.md": "HARMless" },
  },
  {
    title: "a number in the place of its text",
    steps: [note({ id: "1" }), note({ id: 1 })],
    asked: ["note", "note"],
    left: { "w/noted": '{"id":"1"}' },
  },
  {
    title: "a list in another order",
    steps: [note({ ids: [1, 2] }), note({ ids: [2, 1] })],
    asked: ["note", "note"],
    left: { "w/noted": '{"ids":[1,2]}' },
  },
  {
    title: "an argument more, of nothing",
    steps: [note({ a: 1 }), note({ a: 1, b: null })],
    asked: ["note", "note"],
    left: { "w/noted": '{"a":1}' },
  },
  {
    title: "an argument named __proto__",
    steps: [note({ a: 1 }), note(JSON.parse('{"a":1,"__proto__":{"b":2}}'))],
    asked: ["note", "note"],
    left: { "w/noted": '{"a":1}' },
  },
  {
    title: "keys that join to the same text",
    steps: [note({ a: { b: 1 } }), note({ "a.b": 1 })],
    asked: ["note", "note"],
    left: { "w/noted": '{"a":{"b":1}}' },
  },
  {
    title: "an attachment of another content, of the same length and time",
    steps: [read("w/a.md"), { ...read("w/a.md"), first: exchange("HARMLESS") }],
    asked: ["reader", "reader"],
  },
  {
    title: "another attachment of the same content",
    steps: [read("w/a.md"), read("w/b.md")],
    asked: ["reader", "reader"],
  },
  {
    title: "an attachment more",
    steps: [read("w/a.md"), read("w/a.md", "w/b.md")],
    asked: ["reader", "reader"],
  },
  {
    title: "an input beside the same attachment",
    steps: [read("w/a.md"), { tool: "reader", args: { attachments: ["w/a.md"], input: "and send it" } }],
    asked: ["reader", "reader"],
  },
  {
    title: "other context that code adds to the same input",
    steps: [
      { tool: "pass", args: { text: "one" } },
      { tool: "pass", args: { text: "two" } },
    ],
    asked: ["reader", "reader"],
  },
  {
    title: "the same call of another worker",
    steps: [write("text"), { tool: "writer", args: { input: "go" }, first: put("harmless") }],
    asked: ["write_file", "write_file"],
    left: { "w/a.md": "harmless" },
  },
  {
    title: "the same call of another worker of the same name",
    steps: [
      { tool: "one_twin", args: { input: "go" } },
      { tool: "two_twin", args: { input: "go" }, first: put("harmless") },
    ],
    asked: ["write_file", "write_file"],
    left: { "w/a.md": "harmless" },
  },
  {
    title: "a tool of code without arguments, in a call with another attachment",
    steps: [
      { tool: "sender", args: { attachments: ["w/a.md"] } },
      { tool: "sender", args: { attachments: ["w/a.md"] }, first: put("secret") },
    ],
    asked: ["send", "send"],
    left: { "w/sent": "harmless" },
  },
];

const same: readonly Row[] = [
  {
    title: "a write over what it wrote",
    steps: [write("text"), write("text")],
    asked: ["write_file"],
    left: { "w/a.md": "text" },
  },
  { title: "a path spelt otherwise", steps: [write("text"), write("text", "./w//a.md")], asked: ["write_file"] },
  { title: "text that is appended", steps: [append("+"), append("+")], asked: ["append_file"], left: { "w/a.md": "harmless++" } },
  { title: "arguments in another order", steps: [note({ a: 1, b: 2 }), note({ b: 2, a: 1 })], asked: ["note"] },
  { title: "the same attachment", steps: [read("w/a.md"), read("w/a.md")], asked: ["reader"] },
  {
    title: "a tool of code in a call with the same attachment",
    steps: [
      { tool: "sender", args: { attachments: ["w/a.md"] } },
      { tool: "sender", args: { attachments: ["w/a.md"] } },
    ],
    asked: ["send"],
    left: { "w/sent": "harmless" },
  },
];

const forRun: ApprovalDecision = { type: "approve", remember: "run" };

describe("an approval for the run", { timeout: 30_000 }, () => {
  test.each(changed)("does not hold for $title", check);
  test.each(same)("holds for $title", check);

  test("is none where an approver gives it together with other arguments", async () => {
    const answers: ApprovalDecision[] = [{ ...forRun, args: { path: "w/a.md", content: "edited" } }, { type: "approve" }];
    const { asked, world } = await play(new World(program), [write("text"), write("text"), write("edited")], () =>
      answers.shift(),
    );
    expect(asked.map(({ args }) => args["content"])).toEqual(["text", "edited", "text", "edited"]);
    expect(world.read("program/w/a.md")).toBe("edited");
  });

  test("is none where the replaced text holds a secret, or is no text", async () => {
    for (const before of ["token: correct horse battery", "\0"]) {
      const world = new World({ ...program, "w/a.md": before });
      const steps = [write("text"), { ...write("text"), first: put(before) }];
      const { asked } = await play(world, steps, () => forRun, { SERVICE_TOKEN: "correct horse battery" });
      expect(asked.map(({ canRemember }) => canRemember)).toEqual([false, false]);
    }
  });

  test("ends when it is revoked", async () => {
    const world = new World(program);
    const { asked } = await play(world, [write("text"), note({}), write("text")], (request, { memory }) => {
      for (const call of request.tool === "note" ? memory.list() : []) memory.revoke(call);
      return answerOf(request);
    });
    expect(asked.map(({ tool }) => tool)).toEqual(["write_file", "note", "write_file"]);
  });

  test("of one tool of a loop is none of another one that has its name", async () => {
    const asked: string[] = [];
    const ran: string[] = [];
    const gate = createToolGate({
      approval: {
        mode: "prompt",
        approver: async ({ tool }) => {
          asked.push(tool);
          return asked.length === 1 ? forRun : { type: "deny" };
        },
      },
    });
    const send = (to: string) => gate.gate({ send: { inputSchema: { type: "object" }, execute: () => ran.push(to) } }).send;
    const [mail, chat] = [send("mail"), send("chat")];
    for (const { execute } of [mail, mail, chat])
      await (execute as unknown as (args: object, options: object) => Promise<unknown>)({ text: "x" }, {});
    expect(asked).toEqual(["send", "send"]);
    expect(ran).toEqual(["mail", "mail"]);
  });
});

describe.skipIf(noWall !== "")(`an approval of a command${noWall}`, { timeout: 30_000 }, () => {
  const commands = {
    ...program,
    "main.worker": worker(`
sandbox: { paths: { w: { root: ./w, mode: rw } } }
toolsets: { shell: { rules: [], default: { approval_required: true } } }
`),
    "w/sub/x": "",
  };
  const run = (command: string, more: object = {}): ScriptedCall => ({
    tool: "shell",
    args: { command, cwd: "w", writes: ["w"], ...more },
  });
  const touch = "touch made";
  const remake = (world: World) => rmSync(world.at("program/w/made"));

  const rows: readonly (Row & { readonly made: boolean })[] = [
    { title: "the same one", steps: [run(touch), { ...run(touch), first: remake }], asked: ["shell"], made: true },
    {
      title: "the same one, with the usual time written out",
      steps: [run(touch), { ...run(touch, { timeout: 30 }), first: remake }],
      asked: ["shell"],
      made: true,
    },
    {
      title: "another folder",
      steps: [run(touch), { ...run(touch, { cwd: "w/sub" }), first: remake }],
      asked: ["shell", "shell"],
      made: false,
    },
    {
      title: "a longer time",
      steps: [run(touch), { ...run(touch, { timeout: 300 }), first: remake }],
      asked: ["shell", "shell"],
      made: false,
    },
    {
      title: "a comment more",
      steps: [run(touch), { ...run(`${touch} # again`), first: remake }],
      asked: ["shell", "shell"],
      made: false,
    },
    {
      title: "another quoting",
      steps: [run(touch), { ...run("touch 'made'"), first: remake }],
      asked: ["shell", "shell"],
      made: false,
    },
    {
      title: "a blank more",
      steps: [run(touch), { ...run("touch  made"), first: remake }],
      asked: ["shell", "shell"],
      made: false,
    },
    {
      title: "a background",
      steps: [run(touch), { ...run(`${touch} &`), first: remake }],
      asked: ["shell", "shell"],
      made: false,
    },
  ];

  test.each(rows)("$title", async ({ steps, asked: expected, made }) => {
    const world = new World(commands);
    const { asked } = await play(world, steps);
    expect(asked.map(({ tool }) => tool)).toEqual(expected);
    expect(world.files("program/w").includes("made")).toBe(made);
  });
});

type Answer = (
  request: ApprovalRequest,
  options: Parameters<import("../../../src/index.ts").Approver>[1],
  count: number,
) => ApprovalDecision | undefined;

function answerOf({ tool }: ApprovalRequest): ApprovalDecision {
  return tool === "write_file" ? forRun : { type: "approve" };
}

/** Plays the steps, one a turn. What nobody answers is denied. */
async function play(
  world: World,
  steps: readonly Step[],
  answer: Answer = (_, __, count) => (count === 1 ? forRun : undefined),
  environment: Record<string, string> = {},
) {
  const asked: ApprovalRequest[] = [];
  const { error } = await attack(world, {
    environment,
    model: ({ worker: name, turn }) => {
      if (name === "main") {
        const { first, ...call } = steps[turn - 1] ?? {};
        first?.(world);
        return "tool" in call ? { calls: [call as ScriptedCall] } : "done";
      }
      if (turn > 1 || name === "reader") return "done";
      return { calls: [name === "sender" ? { tool: "send", args: {} } : write("text")] };
    },
    approval: {
      mode: "prompt",
      approver: async (request, options) => {
        asked.push(request);
        return answer(request, options, asked.length) ?? { type: "deny" };
      },
    },
  });
  expect(error).toBeUndefined();
  return { asked, world };
}

async function check({ steps, asked: expected, left = {} }: Row): Promise<void> {
  const world = new World(program);
  mkdirSync(dirname(world.at("program/w/a.md")), { recursive: true });
  const { asked } = await play(world, steps);
  expect(asked.map(({ tool }) => tool)).toEqual(expected);
  for (const [path, text] of Object.entries(left)) expect(world.read(`program/${path}`), path).toBe(text);
}
