import { describe, expect, test } from "vitest";
import type { Script } from "../../src/models/scripted/script.ts";
import { makeProgram, playedBy } from "./program.ts";

const files = {
  "main.worker": `---
model: test:model
toolsets:
  filesystem: {}
  shout: { _approval_config: { shout: { pre_approved: true } } }
sandbox:
  paths:
    out: { root: ./out, mode: rw }
---
Say it loudly.
Then write it down.
`,
  "tools.ts": `import { tool } from "llm-do";
import { z } from "zod";
export const shout = tool({
  description: "Say it loudly.",
  input: z.object({ text: z.string() }),
  sideEffect: false,
  run: ({ text }) => {
    (globalThis as { shouts?: number }).shouts = ((globalThis as { shouts?: number }).shouts ?? 0) + 1;
    return text.toUpperCase();
  },
});
`,
  "main.test.yaml": `cases:
  - name: one
    input: hello
    recording: recordings/one.jsonl
    approve: all
    expect:
      output: HELLO
      calls: { shout: 1, write_file: 1 }
      files: { out/said.txt: HELLO }
`,
};

const play: Script = (request) => {
  const [first] = request.toolResults();
  if (!first) return { calls: [{ tool: "shout", args: { text: request.lastUserText() } }], usage: { inputTokens: 7 } };
  const said = first.result.ok ? String(first.result.value) : "nothing";
  if (first.name === "shout") return { calls: [{ tool: "write_file", args: { path: "out/said.txt", content: said } }] };
  return "HELLO";
};

const shouts = () => (globalThis as { shouts?: number }).shouts ?? 0;

async function record() {
  const program = makeProgram(files);
  const { providers } = playedBy(play);
  const report = await program.test({ record: true, trust: true, providers });
  expect(report.cases).toMatchObject([{ outcome: "passed", mode: "record", failures: [] }]);
  return program;
}

/** A provider that must not be asked. */
const silent = () => playedBy((request) => request.unexpected("no request at all"));

describe("a recording", () => {
  test("answers for the model and for tools that are not for files", async () => {
    const program = await record();
    const before = shouts();
    const { providers, requests } = silent();
    const { cases } = await program.test({ trust: true, providers });
    expect(cases).toMatchObject([{ outcome: "passed", mode: "recording", failures: [], turns: { max: 3 } }]);
    expect([requests(), shouts()]).toEqual([0, before]);
  });

  test("leaves tools to run where the case says so", async () => {
    const program = await record();
    program.write("main.test.yaml", program.read("main.test.yaml").replace("input: hello", "input: hello\n    tools: real"));
    const before = shouts();
    expect((await program.test({ trust: true, ...silent() })).passed).toBe(true);
    expect(shouts()).toBe(before + 1);
  });

  test("holds no path of the scratch copy and no secret", async () => {
    const program = makeProgram({
      ...files,
      "main.test.yaml": files["main.test.yaml"]
        .replace("input: hello", "input: '${SAID}'")
        .replaceAll("HELLO", "{ contains: sk }"),
      "tools.ts": files["tools.ts"].replace("text.toUpperCase()", "`${import.meta.dirname} ghp_${'a1B2'.repeat(9)}`"),
    });
    const { providers } = playedBy((request) => {
      const [first] = request.toolResults();
      if (!first) return { calls: [{ tool: "shout", args: { text: "x" } }] };
      if (first.name === "shout") return { calls: [{ tool: "write_file", args: { path: "out/said.txt", content: "sk" } }] };
      return "sk";
    });
    expect((await program.test({ record: true, trust: true, providers })).cases).toMatchObject([{ failures: [] }]);
    const recorded = program.read("recordings/one.jsonl");
    expect(recorded).not.toMatch(/llm-do-test[-_]|ghp_a1B2/);
    expect(recorded).toContain("⟦secret:FOLDER⟧");
    expect((await program.test({ trust: true, ...silent() })).cases).toMatchObject([{ failures: [] }]);
  });

  test.each([
    [
      "the instructions",
      "main.worker",
      "Then write",
      "Now write",
      'main.worker:11: main, turn 1: the instructions changed: "Now write it down." was "Then write it down."; --record',
    ],
    ["the input", "main.test.yaml", "input: hello", "input: hullo", 'main, turn 1: the prompt changed: "hullo" was "hello"'],
    [
      "a tool's description",
      "tools.ts",
      '"Say it loudly."',
      '"Shout."',
      "the description or the schema of the tool `shout` changed",
    ],
  ])("that does not fit %s fails the case, and says what differs", async (_, file, from, to, message) => {
    const program = await record();
    program.write(file, program.read(file).replace(from, to));
    const { passed, cases } = await program.test({ trust: true, ...silent() });
    expect(passed).toBe(false);
    expect(cases[0]?.failures).toHaveLength(1);
    expect(cases[0]?.failures?.[0]?.message).toContain(message);
    expect(cases[0]?.failures?.[0]?.message).toContain("--record records it anew");
  });

  test("that ends too early fails the case", async () => {
    const program = await record();
    const path = "recordings/one.jsonl";
    const lines = program.read(path).trimEnd().split("\n");
    program.write(path, `${lines.filter((line) => !line.includes('"model 3.1"')).join("\n")}\n`);
    const { cases } = await program.test({ trust: true, ...silent() });
    expect(cases[0]?.failures?.[0]?.message).toContain("main, turn 3: the record has no such request");
  });

  test.each([
    ["is not there", undefined, "there is none at recordings/one.jsonl; --record makes it"],
    ["is no recording", "{}\n", "line 1 is not an entry"],
    ["has another head", '{"type":"x"}\n', "line 1 is not the head of one"],
  ])("that %s fails the case", async (_, text, message) => {
    const program = makeProgram(files);
    if (text !== undefined) program.write("recordings/one.jsonl", text);
    const { cases } = await program.test({ trust: true, ...silent() });
    expect(cases[0]?.failures?.[0]?.message).toContain(message);
  });

  test("keeps a retried request, and waits for no retry", async () => {
    const program = makeProgram({
      "main.worker": "---\nmodel: test:model\n---\nAnswer.\n",
      "main.test.yaml": "cases: [{ name: one, input: Go, recording: r.jsonl, expect: { output: late } }]\n",
    });
    let asked = 0;
    const { providers } = playedBy(() =>
      asked++ === 0 ? { error: { code: "overloaded", retryAfterMilliseconds: 20 } } : "late",
    );
    expect((await program.test({ record: true, providers })).passed).toBe(true);
    program.write("r.jsonl", program.read("r.jsonl").replace('"retryAfterMilliseconds":20', '"retryAfterMilliseconds":59000'));
    const { cases } = await program.test(silent());
    expect(cases).toMatchObject([{ outcome: "passed", turns: { max: 1 } }]);
    expect(cases[0]?.milliseconds?.max).toBeLessThan(30_000);
  });
});

test("code whose calls swap their order gets the answers of its recording", async () => {
  const program = makeProgram({
    "helper.worker": "---\nmodel: test:model\n---\nHelp.\n",
    "tools.ts": `import type { JsonObject, WorkerRuntime } from "llm-do";
export async function main(input: JsonObject, runtime: WorkerRuntime) {
  const order = process.env["LLM_DO_TEST_ORDER"] === "b" ? ["two", "one"] : ["one", "two"];
  const answers = await Promise.all(order.map((input) => runtime.call("helper", { input })));
  return answers.map(String).sort().join(" ");
}
`,
    "llm-do.yaml": "entry: tools.ts:main\n",
    "main.test.yaml":
      "approve: all\ncases: [{ name: one, input: { input: Go }, recording: r.jsonl, expect: { output: one! two! } }]\n",
  });
  const { providers } = playedBy((request) => `${request.lastUserText()}!`);
  expect((await program.test({ record: true, trust: true, providers })).cases).toMatchObject([{ failures: [] }]);
  process.env["LLM_DO_TEST_ORDER"] = "b";
  try {
    expect((await program.test({ trust: true, ...silent() })).cases).toMatchObject([{ failures: [] }]);
  } finally {
    delete process.env["LLM_DO_TEST_ORDER"];
  }
});

test("a recording answers for a tool with side effects, which is what `tool` makes by default", async () => {
  const act = files["tools.ts"].replace("  sideEffect: false,\n", "");
  const program = makeProgram({ ...files, "tools.ts": act });
  const { providers } = playedBy(play);
  expect((await program.test({ record: true, trust: true, providers })).passed).toBe(true);
  const before = shouts();
  const report = await program.test({ trust: true, providers: playedBy(() => "not asked").providers });
  expect(report.cases).toMatchObject([{ outcome: "passed", mode: "recording", failures: [] }]);
  expect(shouts()).toBe(before);
});
