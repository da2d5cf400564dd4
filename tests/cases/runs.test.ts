import { describe, expect, test } from "vitest";
import { CompileError, UntrustedProgram } from "../../src/compile/compile-error.ts";
import { renderCase, renderTotals } from "../../src/ui/render-tests.ts";
import { makeProgram, playedBy } from "./program.ts";

const asking = {
  "main.worker": "---\nmodel: test:model\n---\nAnswer.\n",
  "main.test.yaml": "cases: [{ name: says yes, input: Go, expect: { output: yes! } }]\n",
};

/** A model that is wrong one time in five. */
function oneInFive() {
  let asked = 0;
  return playedBy(() => ({ text: ++asked % 5 === 0 ? "no" : "yes!", usage: { inputTokens: 10, outputTokens: 1 } }));
}

describe("a case that runs often", () => {
  test("is recognised as flaky, with its rate and interval", async () => {
    const program = makeProgram(asking);
    const report = await program.test({ live: true, runs: 50, ...oneInFive() });
    const [only] = report.cases;
    expect(report.passed).toBe(false);
    expect(only).toMatchObject({
      outcome: "failed",
      flaky: true,
      runs: 50,
      passed: 40,
      rate: { rate: 0.8 },
      turns: { min: 1, max: 1 },
    });
    expect(only?.rate?.low).toBeCloseTo(0.67, 2);
    expect(only?.rate?.high).toBeCloseTo(0.888, 2);
    expect(only?.failures).toMatchObject([{ expectation: "output", runs: 10 }]);
    const text = only ? renderCase(only) : "";
    expect(text).toContain("flaky main.test.yaml: says yes (passed 40 of 50 runs, 80 %, 95 % interval 67 % to 89 %; 1 turn");
    expect(text).toContain('output: failed in 10 of 50 runs, first: is not "yes!"; it is "no"');
    expect(renderTotals(report)).toMatch(/^0 passed, 1 failed, 1 flaky, in /);
  });

  test.each([
    [0.9, true],
    [0.95, false],
  ])("passes where the interval does not lie below the wanted rate of %f", async (rate, passed) => {
    const program = makeProgram({ ...asking, "main.test.yaml": `pass_rate: ${rate}\nruns: 20\n${asking["main.test.yaml"]}` });
    expect((await program.test({ live: true, ...oneInFive() })).passed).toBe(passed);
  });

  test("stops when the budget is spent, and says so", async () => {
    const program = makeProgram({ ...asking, "main.worker": "---\nmodel: anthropic:claude-sonnet-4-5\n---\nAnswer.\n" });
    const { providers, requests } = playedBy(() => ({ text: "yes!", usage: { inputTokens: 100_000, outputTokens: 10 } }));
    const [provider] = providers;
    if (!provider) throw new Error("no provider");
    const { builtInProviders } = await import("../../src/models/providers/providers.ts");
    const anthropic = builtInProviders.find(({ name }) => name === "anthropic");
    if (!anthropic) throw new Error("no anthropic");
    const priced = { ...anthropic, keyVariables: [], create: provider.create };
    const report = await program.test({ live: true, runs: 10, parallel: 1, budget: 0.7, providers: [priced] });
    const [only] = report.cases;
    expect(report.passed).toBe(false);
    expect(requests()).toBeLessThan(10);
    expect(requests()).toBeGreaterThan(0);
    expect(only?.failures?.map(({ expectation }) => expectation)).toContain("budget");
  });
});

describe("a judge", () => {
  const judged = (score: string, more = "") => ({
    "main.worker": "---\n\n---\nAnswer.\n",
    "tests/judge.worker": `---\noutput: { score: integer }\n---\nScore from 1 to 5.\n`,
    "tests/judge.yaml": `- expect: { user: an answer }\n  reply: ${score}\n`,
    "play.yaml": "- reply: an answer\n",
    "main.test.yaml": `cases:
  - name: one
    input: Go
    script: play.yaml
    expect: { judge: { worker: tests/judge.worker, at_least: 4, script: tests/judge.yaml } }
${more}`,
  });

  test.each([
    ["{ json: { score: 4 } }", []],
    ["{ json: { score: 3 } }", ["judge gave 3, less than 4"]],
  ])("that answers %s", async (score, failures) => {
    const { cases } = await makeProgram(judged(score)).test();
    expect(cases[0]?.failures?.map(({ expectation, message }) => `${expectation} ${message}`)).toEqual(failures);
    expect(cases[0]?.scores?.min).toBe(failures.length === 0 ? 4 : 3);
  });

  test("is recorded with its case", async () => {
    const files = judged("{ json: { score: 5 } }");
    const program = makeProgram({
      ...files,
      "main.worker": "---\nmodel: test:model\n---\nAnswer.\n",
      "tests/judge.worker": "---\nmodel: test:model\noutput: { score: integer }\n---\nScore.\n",
      "main.test.yaml": files["main.test.yaml"]
        .replace("script: play.yaml", "recording: r.jsonl")
        .replace(", script: tests/judge.yaml", ""),
    });
    const live = playedBy(({ worker }) => (worker === "judge" ? { json: { score: 5 } } : "an answer"));
    expect((await program.test({ record: true, ...live })).passed).toBe(true);
    expect(live.requests()).toBe(2);
    const silent = playedBy((request) => request.unexpected("nothing"));
    const { cases } = await program.test(silent);
    expect(cases).toMatchObject([{ outcome: "passed", scores: { min: 5 } }]);
    expect(silent.requests()).toBe(0);
  });

  test("without a score fails the case", async () => {
    const files = judged("good");
    const { cases } = await makeProgram({ ...files, "tests/judge.worker": "---\n\n---\nScore.\n" }).test();
    expect(cases[0]?.failures?.[0]?.message).toBe('gave no score: its answer is "good": a number, or a field `score`, is wanted');
  });
});

describe("cases are chosen", () => {
  const program = makeProgram({
    "a/main.worker": "---\n\n---\nA.\n",
    "a/play.yaml": "- reply: a\n",
    "a/main.test.yaml": "script: play.yaml\ncases: [{ name: first, input: x }, { name: second, input: x }]\n",
    "b/workers/helper.worker": "---\n\n---\nB.\n",
    "b/main.worker": "---\n\n---\nB.\n",
    "b/workers/helper.test.yaml": "cases: [{ name: third, input: x, script: ../play.yaml }, { name: fourth, input: x }]\n",
    "b/play.yaml": "- expect: { system: B }\n  reply: b\n",
    "node_modules/c/main.test.yaml": "cases: 3\n",
    ".hidden/main.test.yaml": "cases: 3\n",
  });
  const names = async (options: object) => {
    const { cases } = await program.test(options);
    return cases.map(({ name, outcome }) => `${name} ${outcome}`);
  };

  test("below a folder, by their file, and by their worker", async () => {
    const b = ["third passed", "fourth skipped"];
    expect(await names({})).toEqual(["first passed", "second passed", ...b]);
    expect(await names({ target: "a/main.test.yaml" })).toEqual(["first passed", "second passed"]);
    expect(await names({ target: "b/workers/helper.worker" })).toEqual(b);
  });

  test("by a part of their name or file", async () => {
    expect(await names({ filter: "second" })).toEqual(["second passed"]);
    expect(await names({ filter: "b/workers" })).toEqual(["third passed", "fourth skipped"]);
    await expect(program.test({ filter: "fifth" })).rejects.toThrow("no case of . has `fifth` in its file or name");
    await expect(program.test({ target: "b/main.worker" })).rejects.toThrow("there is no *.test.yaml in b/main.worker");
  });
});

describe("mistakes", () => {
  test.each([
    [
      { "main.test.yaml": "cases: [{ name: a, script: plai.yaml }]\n", "play.yaml": "- reply: a\n" },
      "there is no file `plai.yaml`",
    ],
    [{ "other.test.yaml": "cases: [{ name: a }]\n" }, "there is no worker `other.worker` beside `other.test.yaml`"],
    [{ "main.test.yaml": "case: []\n" }, "unknown key `case`"],
    [{ "main.test.yaml": "cases: [{ name: a }]\n", "main.worker": "---\nmodle: a\n---\nA.\n" }, "unknown key `modle`"],
  ])("%j are reported before anything runs", async (files, message) => {
    const program = makeProgram({ "main.worker": "---\n\n---\nA.\n", ...files });
    const thrown = await program.test().catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(CompileError);
    expect((thrown as CompileError).diagnostics[0]?.span).toBeDefined();
    expect(String(thrown)).toContain(message);
  });

  test("a script in TypeScript needs trust, as code of the program does", async () => {
    const program = makeProgram({
      "main.worker": "---\n\n---\nA.\n",
      "play.ts": "export default () => 'played';\n",
      "main.test.yaml": "cases: [{ name: a, input: x, script: play.ts, expect: { output: played } }]\n",
    });
    const thrown = await program.test().catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(UntrustedProgram);
    expect(String(thrown)).toContain("in tests runs code: play.ts");
    expect((await program.test({ trust: true })).passed).toBe(true);
  });

  test("a case whose program fails names the reason", async () => {
    const program = makeProgram({
      "main.worker": "---\n\n---\nA.\n",
      "play.yaml": "- reply: { error: { code: bad_request, message: too odd } }\n",
      "main.test.yaml": `script: play.yaml
cases:
  - { name: a, input: x }
  - { name: b, input: x, expect: { error: { contains: too odd } } }
`,
    });
    const { cases } = await program.test();
    expect(cases).toMatchObject([{ outcome: "failed" }, { outcome: "passed" }]);
    expect(cases[0]?.failures?.[0]?.message).toMatch(/is not done; the run ended with failed: .*too odd/);
  });
});

test("runs that could not begin are a mistake, whatever share has to pass", async () => {
  const program = makeProgram({
    "main.worker": "---\nmodel: test:model\n---\nGo.\n",
    "main.test.yaml": "cases:\n  - name: one\n    input: go\n    pass_rate: 0.3\n    expect: { output: done }\n",
  });
  const { providers, requests } = playedBy(() => "done");
  const report = await program.test({ live: true, runs: 5, budget: 1, trust: true, providers });
  expect(report).toMatchObject({ passed: false, cases: [{ outcome: "failed", passed: 0, runs: 5, isMistake: true }] });
  expect(requests()).toBe(0);
  expect(report.cases[0]?.failures?.[0]?.message).toContain("no price is known");
  const priced = await program.test({ live: true, runs: 5, trust: true, providers });
  expect(priced.cases).toMatchObject([{ outcome: "passed", passed: 5 }]);
});

describe("a worker whose code is checked", () => {
  const files = {
    "main.worker": "---\nmodel: test:model\ncode: tools.ts:answer\ncheck: 1\n---\nAnswer.\n",
    "tools.ts": 'export const answer = () => "by code";\n',
    "script.yaml": "- reply: never asked\n",
    "main.test.yaml":
      "cases:\n  - { name: scripted, script: script.yaml, input: Go, expect: { output: by code } }\n  - { name: recorded, recording: r.jsonl, input: Go, expect: { output: by code } }\n",
  };

  test("is not checked in a test, whoever answers for the model", async () => {
    const program = makeProgram(files);
    const { providers, requests } = playedBy(() => ({ text: "by prompt" }));
    const given = { trust: true, providers };
    for (const how of [{ filter: "scripted" }, { live: true }, { record: true }, {}])
      expect(await program.test({ ...given, ...how }), JSON.stringify(how)).toMatchObject({ passed: true });
    expect(requests()).toBe(0);
  });
});
