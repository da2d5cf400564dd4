import { expect, it } from "vitest";
import { CompileError } from "../../src/compile/compile-error.ts";
import { makeProgram } from "./program.ts";

const worker = "---\ninput: { message: string }\noutput: { kind(enum): [bug, wish] }\n---\nSort it.\n";
/** Takes every message that hangs for a bug. */
const script = `export default (request) => ({ json: { kind: JSON.stringify(request).includes("hangs") ? "bug" : "wish" } });\n`;
const program = makeProgram({ "triage.worker": worker, "play.mjs": script });

const line = (message: string, kind: string, more: object = {}) =>
  `${JSON.stringify({ worker: "triage", input: { message }, output: { kind }, ...more })}\n`;

async function test(lines: string, keys = "from: triage.cases.jsonl") {
  program.write("triage.cases.jsonl", lines);
  program.write("triage.test.yaml", `script: play.mjs\ncases:\n  - { name: sorts, ${keys} }\n`);
  const { cases } = await program.test({ target: "triage.test.yaml", trust: true });
  return cases.map(({ name, outcome }) => [name, outcome]);
}

it("makes a case of each line of a case file, which expects the output that is right", async () => {
  const lines = [
    line("it hangs", "bug"),
    "\n",
    line("a button", "bug"),
    line("it hangs", "wish", { label: { verdict: "corrected", output: { kind: "bug" } } }),
    line("it hangs", "wish", { label: { verdict: "wrong" } }),
  ].join("");
  expect(await test(lines)).toEqual([
    ["sorts, line 1", "passed"],
    ["sorts, line 3", "failed"],
    ["sorts, line 4", "passed"],
  ]);
  const bounded = "from: triage.cases.jsonl, expect: { output: { matches: kind }, limits: { turns: 1 } }";
  expect((await test(lines, bounded)).map(([, outcome]) => outcome)).toEqual(["passed", "passed", "passed", "passed"]);
});

it.each([
  [line("x", "bug", { worker: "other" }), undefined, "line 1: this is a case of the worker `other`"],
  [`${line("x", "bug")}{`, undefined, "line 2: this is not JSON"],
  [line("x", "bug", { fragments: ["more"], from: "run/main" }), undefined, "`llm-do test --from run/main` does"],
  ["", "from: none.jsonl", "there is no file `none.jsonl`"],
  ["", "from: triage.cases.jsonl, input: x", "a case has `from` or `input`, not both"],
  ["", "from: ../triage.cases.jsonl", "triage.cases.jsonl"],
])("reports %j, %s", async (lines, keys, said) => {
  const refused = await test(lines, keys).catch((thrown: unknown) => thrown);
  expect(refused).toBeInstanceOf(CompileError);
  expect((refused as CompileError).diagnostics.map(({ message }) => message).join("\n")).toContain(said);
});
