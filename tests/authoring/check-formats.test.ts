import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { readBlocks } from "../../scripts/check-docs.ts";
import { runCli, writeProgram } from "../cli/run-cli.ts";
import { sarifSchema } from "./sarif-schema.ts";

const files = {
  "main.worker": "---\ntoolset: {}\nmodel: anthropic:a\nmodel: anthropic:b\n---\nYou help.\n",
  "fine.worker": "---\nmodel: anthropic:m\n---\nYou help.\n",
};

async function check(...args: readonly string[]) {
  return runCli(["check", ...args], { cwd: await writeProgram(files) });
}

test("SARIF is valid, and has a rule for each code", async () => {
  const { exitCode, stdout, stderr } = await check("--format", "sarif");
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^llm-do: \.: 2 errors, /);
  const log = JSON.parse(stdout);
  const validate = new Ajv2020().compile(sarifSchema);
  expect([validate(log), validate.errors]).toEqual([true, null]);
  const [{ tool, results }] = log.runs;
  expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(["duplicate-key", "unknown-key"]);
  for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
  expect(results[0]).toEqual({
    ruleId: "unknown-key",
    ruleIndex: 1,
    level: "error",
    message: { text: "unknown key `toolset`\nnote: did you mean `toolsets`?" },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: "main.worker" },
          region: { startLine: 2, startColumn: 1, endLine: 2, endColumn: 8 },
        },
      },
    ],
  });
  expect(results[1].relatedLocations).toMatchObject([{ id: 1, physicalLocation: { region: { startLine: 3 } } }]);
});

test("SARIF of a program without mistakes is valid too", async () => {
  const { exitCode, stdout } = await check("fine.worker", "--format", "sarif");
  expect(exitCode).toBe(0);
  const log = JSON.parse(stdout);
  expect(new Ajv2020().compile(sarifSchema)(log)).toBe(true);
  expect(log.runs[0].results).toEqual([]);
});

test("annotations of GitHub Actions", async () => {
  const { exitCode, stdout } = await check("--format", "github");
  expect(exitCode).toBe(2);
  expect(stdout.split("\n")).toEqual([
    "::error file=main.worker,line=2,col=1,endLine=2,endColumn=7,title=unknown-key::unknown key `toolset`%0Anote: did you mean `toolsets`?",
    expect.stringMatching(/^::error file=main\.worker,line=4,col=1,endLine=4,endColumn=5,title=duplicate-key::/),
    "",
  ]);
  expect((await check("fine.worker", "--format", "github")).stdout).toBe("");
});

test("a target that is not there is told in every format", async () => {
  expect((await check("nothing.worker", "--format", "github")).stdout).toMatch(/^::error title=target-not-found::/);
  const { stdout, exitCode } = await check("nothing.worker", "--format", "sarif");
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout).runs[0].results).toMatchObject([{ ruleId: "target-not-found" }]);
});

test("the task of docs/editors.md reads what is printed for people", async () => {
  const { stderr } = await check();
  const lines = stderr.split("\n");
  const [{ regexp: first = "" } = {}, { regexp: second = "" } = {}] = readPatterns();
  const problems = lines.flatMap((line, index) => {
    const what = new RegExp(first).exec(line);
    const where = new RegExp(second).exec(lines[index + 1] ?? "");
    return what && where ? [[...what.slice(1, 3), ...where.slice(1)]] : [];
  });
  expect(problems).toEqual([
    ["error", "unknown-key", "main.worker", "2", "1"],
    ["error", "duplicate-key", "main.worker", "4", "1"],
  ]);
});

function readPatterns(): { readonly regexp: string }[] {
  const page = readFileSync(join(import.meta.dirname, "../../docs/editors.md"), "utf8");
  const tasks = readBlocks(page).find(({ text }) => text.includes("problemMatcher"));
  return JSON.parse(tasks?.text ?? "").tasks[0].problemMatcher.pattern;
}
