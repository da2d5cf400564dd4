import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../cli/run-cli.ts";

const cwd = mkdtempSync(join(tmpdir(), "llm-do-compare-runs-"));
const worker = "---\nsandbox: { paths: { in: { root: ./in } } }\ntoolsets: { filesystem: {} }\n---\nRead.\n";
/** Reads as many files as `n` says, and answers with long texts, which lie beside the journal. */
const script = (n: number) => `export default ({ turn }) =>
  turn <= ${n} ? { calls: [{ tool: "list_files", args: { path: "in" } }] } : "${"long ".repeat(4000)}${n}";\n`;
const ids: string[] = [];

beforeAll(async () => {
  writeFileSync(join(cwd, "main.worker"), worker);
  mkdirSync(join(cwd, "in"));
  for (const n of [1, 1, 2, 2]) {
    writeFileSync(join(cwd, "script.mjs"), script(n));
    const run = ["main.worker", "go", "--model", "scripted:script.mjs", "--approve-all", "--price", "scripted:script.mjs=1,1"];
    const ran = await runCli(run, { cwd });
    expect(ran.exitCode, ran.stderr).toBe(0);
    const { stdout } = await runCli(["runs", "list", "main.worker", "--json"], { cwd });
    const { runs } = JSON.parse(stdout) as { readonly runs: readonly { readonly runId: string }[] };
    // Runs that began in one second have no order.
    ids.push(...runs.map(({ runId }) => runId).filter((id) => !ids.includes(id)));
  }
}, 120_000);

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const compare = (...args: readonly string[]) => runCli(["runs", "compare", ...args], { cwd });

describe("llm-do runs compare", { timeout: 60_000 }, () => {
  it("finds nothing between runs that did the same", async () => {
    const same = await compare(ids[0] ?? "", ids[1] ?? "", "--tolerance", "0");
    expect(same, same.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("  output    the same\n") });
    expect(same.stdout).toContain("  calls     the same\n");
  });

  it("shows what the second did otherwise, and exits with 1 beyond the tolerance alone", async () => {
    const other = await compare(ids[0] ?? "", ids[2] ?? "");
    expect(other, other.stderr).toMatchObject({ exitCode: 0 });
    expect(other.stdout).toMatch(/~ output\n {2}- …(long )+1"\n {2}\+ …(long )+2"\n/);
    expect(other.stdout).toMatch(/~ requests {2}2 {24}3\n/);
    expect(other.stdout).toContain('  1, 2: list_files {"path":"in","pattern":"**/*"}\n');
    const beyond = await compare(ids[0] ?? "", ids[2] ?? "", "--tolerance", "0.1", "--json");
    expect(beyond).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("beyond --tolerance 0.1: output, calls, requests"),
    });
    expect(JSON.parse(beyond.stdout)).toMatchObject({
      ...{ v: 1, sameOutcome: true, sameOutput: false, first: { runId: ids[0], requests: 2 }, second: { requests: 3 } },
      calls: [{ call: 'list_files {"path":"in","pattern":"**/*"}', first: 1, second: 2 }],
    });
  });

  it("compares sets of runs by shares and means, with intervals", async () => {
    const [a = "", b = "", c = "", d = ""] = ids;
    const table = await compare(`${a},${b}`, `${c},${d}`, "--tolerance", "0.1");
    expect(table, table.stderr).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("beyond --tolerance 0.1: output, requests"),
    });
    expect(table.stdout).toMatch(/^ {2}done +2 of 2 +2 of 2 +\+0\.0 points {2}\(-65\.8 points to \+65\.8 points\)$/m);
    expect(table.stdout).toMatch(/^~ usual output +2 of 2 +0 of 2 +-100\.0 points/m);
    expect(table.stdout).toMatch(/^~ requests +2\.0 +3\.0 +\+1\.0 {2}\(\+1\.0 to \+1\.0\)$/m);
    const json = await compare(`${c},${d}`, `${a},${b}`, "--tolerance", "0", "--json");
    expect(json).toMatchObject({ exitCode: 1 });
    // Less is no failure.
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ v: 1, beyond: ["output"], first: { done: { hits: 2, count: 2 }, means: { requests: 3, toolCalls: 2, denied: 0 } } },
      differences: { requests: { estimate: -1, lower: -1, upper: -1 } },
    });
  });

  it.each([
    [["last,last", "last"], "a set has two runs or more"],
    [["last,last", "last,last"], "a run is named twice"],
    [["none", "last"], "there is no run `none`"],
    [["last", "last", "--tolerance", "-1"], "Write a share of 0 or more"],
  ])("refuses %j", async (args, said) => {
    expect(await compare(...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(said) });
  });
});
