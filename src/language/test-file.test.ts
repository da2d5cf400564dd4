import { describe, expect, test } from "vitest";
import { showPosition } from "../../tests/language/tree.ts";
import { testCaseKeys, testKeys } from "./shapes/test-shape.ts";
import { parseTestFile, testFileSchema } from "./test-file.ts";

const parse = (text: string) => parseTestFile({ name: "main.test.yaml", text });
const ofCase = (line: string) => `cases:\n  - name: one\n    ${line}\n`;

/** Each key of a case: what it takes, and what it does not. */
const keys: Readonly<Record<string, readonly [accepted: string, refused: string]>> = {
  name: ["x-owner: me", "name: [a]"],
  input: ["input: { text: a, count: 3 }", "input: 12345678901234567890123"],
  attachments: ["attachments: [decks/a.pdf]", "attachments: /etc/passwd"],
  recording: ["recording: recordings/one.jsonl", "recording: 3"],
  script: ["script: play.yaml", "script: /tmp/play.yaml"],
  model: ["model: anthropic:claude-sonnet-4-5", "model: 3"],
  entry: ["entry: tools.ts:main", "entry: []"],
  set: ["set: [limits.turns=3]", "set: limits.turns=3"],
  env: ["env: { URL: '${FOLDER}/a.db' }", "env: [URL]"],
  from: ["from: calls.cases.jsonl", "from: [calls.jsonl]"],
  files: ["files: { a.md: { text: hello }, input/: fixtures/decks }", "files: { a.md: { txt: hello } }"],
  scopes: ["scopes: { notes: fixtures/notes }", "scopes: { notes: /home }"],
  without: ["without: [out]", "without: [/out]"],
  approve: ["approve: [write_file]", "approve: none"],
  tools: ["tools: real", "tools: some"],
  limits: ["limits: { usd: 0.5 }", "limits: { usd: free }"],
  runs: ["runs: 20", "runs: 0"],
  pass_rate: ["pass_rate: 0.9", "pass_rate: 90"],
  expect: ["expect: { output: { contains: [a, b] } }", "expect: { outputs: a }"],
};

/** Each key of `expect`. */
const expectations: Readonly<Record<string, readonly [accepted: string, refused: string]>> = {
  output: ["{ path: { items.0: { equals: 3 } }, schema: { score: integer } }", "{ matches: '(' }"],
  stop: ["limit", "ended"],
  error: ["{ contains: overloaded }", "{ has: overloaded }"],
  files: ["{ a.md: true, b.md: false, c.md: text, 'out/*': { contains: a } }", "{ a.md: { there: true } }"],
  calls: ["{ a: 1, main/b: { at_least: 2, at_most: 3, args: { path: 'x/*' } } }", "{ a: many }"],
  never: ["[shell]", "shell"],
  asked: ["{ write_file: 0 }", "[write_file]"],
  refused: ["{ write_file: { times: 2 } }", "{ write_file: -1 }"],
  succeeded: ["{ write_file: { times: 2 } }", "{ write_file: -1 }"],
  limits: ["{ turns: 2, tool_calls: 3 }", "{ turn: 2 }"],
  judge: ["{ worker: judge.worker, at_least: 4, script: judge.yaml }", "{ worker: judge.worker }"],
};

test("the tables have every key", () => {
  expect(Object.keys(keys).sort()).toEqual(Object.keys(testCaseKeys).sort());
  expect(Object.keys(expectations).sort()).toEqual(
    Object.keys((testCaseKeys.expect.shape.jsonSchema as { properties: object }).properties).sort(),
  );
  expect(Object.keys(testFileSchema.properties as object).sort()).toEqual(Object.keys(testKeys).sort());
});

describe.each([
  ...Object.entries(keys).map(([key, lines]) => [key, ...lines] as const),
  ...Object.entries(expectations).map(
    ([key, [yes, no]]) => [key, `expect: { ${key}: ${yes} }`, `expect: { ${key}: ${no} }`] as const,
  ),
])("%s", (key, accepted, refused) => {
  test("is accepted", () => {
    const text = key === "name" ? "x-owner: me\ncases: [{ name: one }]\n" : ofCase(accepted);
    expect(parse(text).diagnostics.map(({ message }) => message)).toEqual([]);
  });

  test("is refused, at its place", () => {
    const { diagnostics } = parse(key === "name" ? `cases:\n  - ${refused}\n` : ofCase(refused));
    const [first] = diagnostics;
    expect(first?.severity).toBe("error");
    expect(first?.span && showPosition(first.span)).toMatch(key === "name" ? /^2:/ : /^3:/);
  });
});

test("cases take what the file says for all, but for a script where they have a recording", () => {
  const { cases, diagnostics } = parse(
    "script: play.yaml\nruns: 3\ncases:\n  - name: a\n  - { name: b, runs: 5, script: other.yaml }\n  - { name: c, recording: c.jsonl }\n",
  );
  expect(diagnostics).toEqual([]);
  expect(cases.map(({ name, runs, script, recording }) => [name.value, runs, script?.value, recording?.value])).toEqual([
    ["a", 3, "play.yaml", undefined],
    ["b", 5, "other.yaml", undefined],
    ["c", 3, undefined, "c.jsonl"],
  ]);
});

test.each([
  ["- a\n", "manifest-not-map"],
  ["cases: []\n", "empty-list"],
  ["script: a.yaml\n", "missing-key"],
  ["cases:\n  - name: a\n  - name: a\n", "invalid-value"],
  ["cases:\n  - { name: a, script: b.yaml, recording: c.jsonl }\n", "invalid-value"],
  ["script: b.yaml\ncases:\n  - { name: a, recording: c.jsonl }\n", "invalid-value"],
  ["cases: [\n", "yaml-syntax"],
])("%j is refused", (text, code) => {
  expect(parse(text).diagnostics.map((one) => one.code)).toContain(code);
});

test("a broken entry is reported alone: its key does not seem to be missing", () => {
  const { diagnostics } = parse("script: a.yaml\ncases:\n  - name: a\n   approve: all\n");
  expect(diagnostics.map(({ message }) => message)).toEqual(["the indentation does not fit the lines above"]);
});
