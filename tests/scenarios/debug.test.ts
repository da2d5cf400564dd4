import { expect, test } from "vitest";
import { z } from "zod";
import { type RunError, type RunEvent, tool } from "../../src/index.ts";
import { createTextPrinter } from "../../src/ui/headless/text-printer.ts";
import { play, worker } from "./harness.ts";

const secret = "sk-live-0123456789";
const files = {
  "main.worker": worker("fragments: [notes.md]\nsystem_fragments: [style.md]\ntoolsets: { helper: {} }", "Lead the way."),
  "helper.worker": worker("description: Helps.\ndebug: true\ntoolsets: { fail: {} }", "You help."),
  "notes.md": "The notes.",
  "style.md": "Be brief.",
};
const fail = tool({
  input: z.object({ token: z.string() }),
  approval: "pre-approved",
  run: () => {
    throw new Error(`refused ${secret}`, { cause: new Error("the socket closed") });
  },
});

function playIt(request: object = {}, more: Readonly<Record<string, string>> = {}) {
  return play({
    files: { ...files, ...more },
    tools: { fail },
    environment: { SERVICE_TOKEN: secret },
    approval: { mode: "approve_all" },
    model: ({ worker: name, turn }) => {
      if (turn > 1) return `${name} is done`;
      return name === "main"
        ? { calls: [{ tool: "helper", args: { input: "go on" } }] }
        : { calls: [{ tool: "fail", args: { token: secret } }] };
    },
    request: { input: "begin", ...request },
  });
}

function detailsOf(events: readonly RunEvent[]) {
  return events.flatMap((event) => (event.type === "call-start" ? [[event.callPath, event.detail]] : []));
}

function print(events: readonly RunEvent[], verbosity: number): string {
  const written: string[] = [];
  const tell = createTextPrinter({ verbosity, write: (text) => written.push(text) });
  for (const event of events) tell(event);
  return written.join("");
}

test("`debug: true` in a worker tells all that its calls begin with, and those of no other", async () => {
  const { events } = await playIt();
  expect(detailsOf(events)).toEqual([
    ["main", undefined],
    ["main/0.helper", { input: { input: "go on" }, instructions: "You help.", prompt: "go on" }],
  ]);
});

test.each([
  ["of a run", { debug: true }, {}],
  ["in the manifest", {}, { "llm-do.yaml": "debug: true" }],
])("`debug` %s tells it of every call: fragments are told apart", async (_, request, more) => {
  const { events } = await playIt({ ...request, fragments: ["From the caller."] }, more);
  expect(detailsOf(events)[0]).toEqual([
    "main",
    {
      input: { input: "begin" },
      instructions: "Lead the way.",
      systemFragments: ["Be brief."],
      prompt: "begin",
      fragments: ["The notes.", "From the caller."],
    },
  ]);
});

test("the stacks of a tool that throws are told without secrets, and only where it is debugged", async () => {
  const resultsOf = (events: readonly RunEvent[]) => events.flatMap((event) => (event.type === "tool-result" ? [event] : []));
  const [failed, whole] = resultsOf((await playIt()).events);
  expect(failed?.stack).toMatch(
    /^Error: refused ⟦secret:SERVICE_TOKEN⟧\n {4}at [\s\S]*\ncaused by:\nError: the socket closed\n {4}at /,
  );
  expect(whole?.stack).toBeUndefined();
  const plain = await playIt({}, { "helper.worker": files["helper.worker"].replace("debug: true\n", "") });
  expect(resultsOf(plain.events).map(({ stack }) => stack)).toEqual([undefined, undefined]);
});

test("the text for people has the calls of debugged workers alone, whole and without secrets", async () => {
  const { events } = await playIt();
  const printed = print(events, 0);
  expect(printed).toContain("main > helper#0 starts on test:model (--model)\n  input:\n    {");
  expect(printed).toContain("  instructions: You help.\n  prompt: go on\n");
  expect(printed).toContain('  arguments:\n    {\n      "token": "⟦secret:SERVICE_TOKEN⟧"\n');
  expect(printed).toContain("  stack:\n    Error: refused ⟦secret:SERVICE_TOKEN⟧\n");
  expect(printed).toContain("main > helper#0\n  answer of turn 2: helper is done\n");
  expect(printed).not.toContain(secret);
  expect(printed).not.toMatch(/^(run|main ends|main starts|main > helper#0 gave)/m);
});

test("at -v the lines of the other calls stand between them, and stay one line each", async () => {
  const lines = print((await playIt()).events, 1).split("\n");
  expect(lines).toContain("main starts on test:model (--model)");
  expect(lines.indexOf("main starts on test:model (--model)") + 1).toBe(
    lines.findIndex((line) => line.startsWith("main > helper#0 called with")),
  );
});

test("an attachment is told by name, type and size", async () => {
  const attachments = [{ name: "deck.txt", bytes: Buffer.from("slides") }];
  const { events } = await playIt({ debug: true, attachments });
  expect(detailsOf(events)[0]?.[1]).toMatchObject({ attachments: [{ name: "deck.txt", mediaType: "text/plain", bytes: 6 }] });
  expect(print(events, 1)).toContain("  attachment: deck.txt, text/plain, 6 bytes\n");
});

test("code that starts a run has its input told", async () => {
  const { events } = await play({
    files: {},
    tools: { start: () => "done" },
    model: () => "",
    request: { debug: true, entry: "tools.ts:start", input: { a: 1 } },
  });
  expect(detailsOf(events)).toEqual([["start", { input: { a: 1 } }]]);
});

test("what ends a run has its stacks, without secrets", async () => {
  const start = () => {
    throw new Error(`refused ${secret}`, { cause: new Error(`by ${secret}`) });
  };
  const { error } = await play({
    files: {},
    tools: { start },
    environment: { SERVICE_TOKEN: secret },
    model: () => "",
    request: { entry: "tools.ts:start", input: {} },
  });
  const { trace, stack } = error as RunError;
  // The places of its cause stand below it.
  expect(stack).toMatch(/^RunError: refused /);
  expect(stack).not.toContain("/src/");
  expect(trace).toContain("Error: refused ⟦secret:SERVICE_TOKEN⟧\n    at ");
  expect(trace).toContain("caused by:\nError: by ⟦secret:SERVICE_TOKEN⟧\n    at ");
  expect(trace).not.toContain(secret);
});
