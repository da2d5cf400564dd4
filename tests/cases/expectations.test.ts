import { describe, expect, test } from "vitest";
import { makeProgram } from "./program.ts";

const worker = `---
toolsets:
  filesystem: {}
  helper: { _approval_config: { helper: { pre_approved: true } } }
sandbox:
  paths:
    out: { root: ./out, mode: rw }
---
Write.
`;
const helper = "---\noutput:\n  score: integer\n  tags(array): string\n---\nHelp.\n";

const script = `
workers:
  main:
    - reply: { calls: [{ tool: helper, args: { input: one } }, { tool: helper, args: { input: two } }] }
    - reply: { calls: [{ tool: write_file, args: { path: out/a.md, content: "# A" } }] }
    - reply: { text: "Done: A", usage: { inputTokens: 100, outputTokens: 20 } }
  helper:
    - reply: { json: { score: 3, tags: [x, y] } }
`;

const program = makeProgram({ "main.worker": worker, "helper.worker": helper, "play.yaml": script, "out/old.md": "old" });

/** Runs a case with an expectation, and returns what failed. */
async function failuresOf(expectation: string, more = "approve: all"): Promise<string[]> {
  program.write(
    "main.test.yaml",
    `script: play.yaml\n${more}\ncases:\n  - { name: one, input: Go, expect: { ${expectation} } }\n`,
  );
  const { cases } = await program.test({ target: "main.test.yaml" });
  return cases.flatMap(({ failures = [] }) => failures.map((failure) => `${failure.expectation} ${failure.message}`));
}

describe("expectations", () => {
  test.each([
    ["output: 'Done: A'", "output: 'Done: B'", 'output is not "Done: B"; it is "Done: A"'],
    ["output: { contains: [Done, A] }", "output: { contains: [Done, B] }", 'output does not contain "B"; it is "Done: A"'],
    ["output: { matches: '^Done: .$' }", "output: { matches: '^A' }", 'output does not match /^A/; it is "Done: A"'],
    ["stop: done", "stop: limit", "stop is not limit; the run ended with done"],
    ["calls: { helper: 2, main/helper: 2, '*_file': 1 }", "calls: { helper: 1 }", "calls helper 2 calls, not 1"],
    [
      "calls: { helper: { times: 1, args: { input: t* } } }",
      "calls: { helper: { args: { input: x } } }",
      "0 calls with these arguments, not at least 1",
    ],
    ["calls: { helper: { at_most: 2 } }", "calls: { shell: 1 }", "calls shell 0 calls, not 1; others were helper, write_file"],
    ["never: [shell]", "never: [helper]", "never helper 2 calls, not 0"],
    ["asked: { write_file: 1, helper: 0 }", "asked: { helper: 1 }", "asked helper 0 calls, not 1; others were write_file"],
    ["refused: { write_file: 0 }", "refused: { write_file: 1 }", "refused write_file 0 calls, not 1"],
    ["succeeded: { write_file: 1, helper: 2 }", "succeeded: { write_file: 2 }", "succeeded write_file 1 call, not 2"],
    ["files: { out/a.md: '# A' }", "files: { out/a.md: '# B' }", 'files out/a.md is not "# B"; it is "# A"'],
    ["files: { 'out/a*': true, out/b.md: false }", "files: { out/b.md: true }", "files out/b.md was not written"],
    ["files: { 'out/*': { contains: A } }", "files: { out/a.md: false }", "files out/a.md is there: out/a.md"],
    [
      "files: { out/old.md: false }",
      "files: { out/old.md: true }",
      "was there before the run, and is as it was; `without: [out]` in the case keeps it out of the copy",
    ],
    ["limits: { turns: 5, tool_calls: 3, tokens: 120 }", "limits: { turns: 4 }", "limits turns: 5 is more than 4"],
    ["limits: { seconds: 600 }", "limits: { tokens: 119 }", "limits tokens: 120 is more than 119"],
  ])("%s", async (holds, fails, message) => {
    const held = await failuresOf(holds);
    if (holds.includes("out/old.md: false")) expect(held).toEqual(["files out/old.md is there: out/old.md"]);
    else expect(held).toEqual([]);
    const failed = await failuresOf(fails);
    expect(failed).toHaveLength(1);
    expect(failed[0]).toContain(message);
  });

  test("name `refused` where a denied call is meant by `stop: denied`", async () => {
    expect(await failuresOf("stop: denied", "")).toEqual([
      "stop is not denied; the run ended with done; a call that is denied is `refused: { write_file: 1 }`",
    ]);
    expect(await failuresOf("stop: denied")).toEqual(["stop is not denied; the run ended with done"]);
  });

  test("do not pass over a call that was denied by default", async () => {
    expect(await failuresOf("succeeded: { write_file: 1 }", "")).toEqual([
      "succeeded write_file 0 calls, not 1; others were helper",
    ]);
    const notes = async () => (await program.test({ target: "main.test.yaml" })).cases.flatMap((one) => one.notes ?? []);
    expect(await notes()).toEqual([
      "`write_file` was denied: `approve: all` allows it, and `refused: { write_file: 1 }` expects it",
    ]);
    for (const [expectation, more] of [
      ["refused: { write_file: 1 }", ""],
      ["asked: { main/write_file: 1 }", ""],
      ["output: 'Done: A'", "approve: all"],
    ] as const) {
      expect(await failuresOf(expectation, more)).toEqual([]);
      expect(await notes()).toEqual([]);
    }
  });

  test("of data are looked up by path", async () => {
    program.write(
      "helper.test.yaml",
      `cases:
  - name: one
    input: x
    script: play.yaml
    expect: { output: { path: { tags.1: y, score: { schema: integer } }, schema: { score: integer, tags(array): string } } }
  - name: two
    input: x
    script: play.yaml
    expect: { output: { path: { tags.2: z }, schema: { missing: string } } }
`,
    );
    const { cases } = await program.test({ target: "helper.worker" });
    expect(cases.map(({ failures }) => failures?.map(({ message }) => message))).toEqual([
      [],
      [expect.stringMatching(/does not fit the schema: .*missing/), "tags.2 is not there"],
    ]);
  });

  test("what nobody approves is refused", async () => {
    expect(await failuresOf("refused: { write_file: 1 }, asked: { write_file: 1 }, files: { out/a.md: false }", "")).toEqual([]);
    expect(await failuresOf("asked: { write_file: 0 }, files: { out/a.md: true }", "approve: [write_file]")).toEqual([]);
  });
});

test("a run leaves the program's folder as it is, and sees what the case puts and leaves out", async () => {
  const lists = makeProgram({
    "main.worker": "---\ntoolsets: { filesystem: {} }\nsandbox: { paths: { in: { root: ./in, mode: rw } } }\n---\nList.\n",
    "play.yaml":
      "- reply: { calls: [{ tool: list_files, args: { path: in } }, { tool: write_file, args: { path: in/new.txt, content: n } }] }\n- expect: { tool_result: list_files }\n  reply: ok\n",
    "in/kept.txt": "k",
    "in/out.txt": "o",
    "tests/fixtures/deep/one.txt": "1",
    "main.test.yaml": `cases:
  - name: one
    input: Go
    script: play.yaml
    approve: all
    without: [in/out.txt]
    files: { in/deep: tests/fixtures/deep, in/text.txt: { text: hello } }
    expect:
      files: { in/new.txt: n, in/out.txt: false }
      calls: { list_files: 1 }
`,
  });
  const before = lists.snapshot();
  const report = await lists.test();
  expect(report.cases).toMatchObject([{ outcome: "passed", failures: [] }]);
  expect(lists.snapshot()).toEqual(before);
});

test("a request that the script does not expect fails the case, also in a worker whose caller goes on", async () => {
  const masked = makeProgram({
    "main.worker": worker,
    "helper.worker": helper,
    "play.yaml":
      "workers:\n  main:\n    - reply: { calls: [{ tool: helper, args: { input: x } }] }\n    - reply: All is well.\n  helper:\n    - expect: { user: y }\n      reply: never\n",
    "main.test.yaml": "cases: [{ name: one, input: Go, script: play.yaml, expect: { output: All is well. } }]\n",
  });
  const { passed, cases } = await masked.test();
  expect(passed).toBe(false);
  expect(cases[0]?.failures?.[0]).toMatchObject({ expectation: "script" });
  expect(cases[0]?.failures?.[0]?.message).toContain('a user message with "y"');
});

describe("names of tools in a case", () => {
  test.each([
    [
      "never: [wirte_file]",
      "approve: all",
      "`wirte_file` matches no tool that is meant, so nothing is tested; did you mean `write_file`?",
    ],
    ["calls: { wirte_file: 0 }", "approve: all", "did you mean `write_file`?"],
    [
      "refused: { mian/write_file: 0 }",
      "approve: all",
      "`mian` matches no worker that is meant, so nothing is tested; did you mean `main`?",
    ],
    [
      "output: 'Done: A'",
      "approve: ['main/write_fil']",
      "`write_fil` matches no tool that is meant, so the rule approves nothing; did you mean `write_file`?",
    ],
    [
      "output: 'Done: A'",
      "approve: ['write_file(a.md)']",
      "`a.md` matches no path that is meant, so the rule approves nothing; a path begins with the name of a scope: `out/a.md`",
    ],
  ])("%s, %s: fails where the program has none", async (expectation, more, message) => {
    const failures = await failuresOf(expectation, more);
    const line = more.includes("[") ? 2 : 4;
    expect(failures).toEqual(expect.arrayContaining([expect.stringContaining(`test main.test.yaml:${line}: `)]));
    expect(failures.join()).toContain(message);
  });

  test("can be those of tools that come with llm-do, in the program or not", async () => {
    expect(await failuresOf("never: [shell, helper/write_file], calls: { main/*: { at_least: 3 } }")).toEqual([]);
  });
});
