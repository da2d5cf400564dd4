import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "./run-cli.ts";

const cwd = mkdtempSync(join(tmpdir(), "llm-do-baseline-"));
/** Right in so many of ten answers. */
const moody = (right: number, tokens = 10) => `let asked = 0;
export default () => ({ text: asked++ % 10 < ${right} ? "yes" : "no", usage: { inputTokens: ${tokens} + (asked % 3) } });
`;
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

  it("says what runs take more of, and fails for it with --tolerance alone", async () => {
    writeFileSync(join(cwd, "model.mjs"), moody(9, 20));
    const shown = await test("--baseline", "before.json");
    expect(shown, shown.stdout + shown.stderr).toMatchObject({ exitCode: 0 });
    expect(shown.stdout).toMatch(/^~ main\.test\.yaml: says yes: tokens \d+, now \d+: \+\d+ \(95 % interval \+\d+ to \+\d+\)$/m);
    expect(shown.stdout).not.toMatch(/requests|cost/);
    const failed = await test("--baseline", "before.json", "--tolerance", "0.1");
    const said = "llm-do: beyond --tolerance 0.1: main.test.yaml: says yes: tokens\n";
    expect(failed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(said) });
    expect(await test("--baseline", "before.json", "--tolerance", "1000")).toMatchObject({ exitCode: 0 });
  });

  it("refuses a tolerance for a report that does not say what runs took", async () => {
    const { cases } = JSON.parse(readFileSync(join(cwd, "before.json"), "utf8")) as { readonly cases: readonly object[] };
    const old = { v: 1, cases: cases.map((one) => ({ ...one, taken: undefined })) };
    writeFileSync(join(cwd, "old.json"), JSON.stringify(old));
    writeFileSync(join(cwd, "model.mjs"), moody(9));
    expect(await test("--baseline", "old.json")).toMatchObject({ exitCode: 0 });
    const refused = await test("--baseline", "old.json", "--tolerance", "0");
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("it does not say what a run took") });
    expect(await test("--tolerance", "0")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("compares with --baseline"),
    });
  });

  it.each([
    ["main.worker", "this is not what `llm-do test --json` printed"],
    ["none.json", "no such file"],
  ])("refuses %s", async (file, why) => {
    expect(await test("--baseline", file)).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(why) });
  });
});
