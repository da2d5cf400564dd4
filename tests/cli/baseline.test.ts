import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "./run-cli.ts";

const cwd = mkdtempSync(join(tmpdir(), "llm-do-baseline-"));
/** Right in so many of ten answers. */
const moody = (right: number) => `let asked = 0;\nexport default () => (asked++ % 10 < ${right} ? "yes" : "no");\n`;
const test = (...args: readonly string[]) =>
  runCli(["test", "--live", "--runs", "20", "--parallel", "1", "--model", "scripted:model.mjs", "--trust", ...args], { cwd });

beforeAll(async () => {
  writeFileSync(join(cwd, "main.worker"), "---\ndescription: D.\n---\nSay yes.\n");
  const cases = 'cases:\n  - name: says yes\n    input: go\n    pass_rate: 0.1\n    expect: { output: "yes" }\n';
  writeFileSync(join(cwd, "main.test.yaml"), cases);
  writeFileSync(join(cwd, "model.mjs"), moody(9));
  const before = await test("--json");
  expect(before, before.stderr).toMatchObject({ exitCode: 0 });
  writeFileSync(join(cwd, "before.json"), before.stdout);
}, 60_000);

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe("llm-do test --baseline", { timeout: 60_000 }, () => {
  it.each([
    [9, 0, "1 passed", "points"],
    [8, 0, "  main.test.yaml: says yes: passed 18 of 20, now 16 of 20: -10 points", "~ main"],
    [3, 1, "~ main.test.yaml: says yes: passed 18 of 20, now 6 of 20: -60 points", "  main.test.yaml: says yes: passed 18"],
  ])("where %i of 10 answers are right", async (right, exitCode, said, unsaid) => {
    writeFileSync(join(cwd, "model.mjs"), moody(right));
    const after = await test("--baseline", "before.json");
    expect(after, after.stdout + after.stderr).toMatchObject({ exitCode });
    expect(after.stdout).toContain(said);
    expect(after.stdout).not.toContain(unsaid);
  });

  it.each([
    ["main.worker", "this is not what `llm-do test --json` printed"],
    ["none.json", "no such file"],
  ])("refuses %s", async (file, why) => {
    expect(await test("--baseline", file)).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(why) });
  });
});
