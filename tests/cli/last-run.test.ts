import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cliRuns } from "../records.ts";
import { runCli, writeProgram } from "./run-cli.ts";

it("takes no older run for the last one where the newest cannot be read", async () => {
  const write = { tool: "write_file", args: { path: "out/a.txt", content: "a" } };
  const cwd = await writeProgram({
    "main.worker":
      "---\nmodel: scripted:model.mjs\ntoolsets: { filesystem: {} }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\n---\nWrite.\n",
    "model.mjs": `export default ({ turn }) => (turn === 1 ? { calls: [${JSON.stringify(write)}] } : "done");\n`,
  });
  const held = await runCli([".", "go", "--hold", "--trust", "-v"], { cwd });
  expect(held).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("write_file#0 waits until the run goes on") });
  expect(held.stderr).not.toContain("failed");
  const runs = cliRuns(cwd);
  const [runId = ""] = readdirSync(runs);
  expect((await runCli([".", "go", "--hold", "--trust"], { cwd })).exitCode).toBe(4);
  const damaged = readdirSync(runs).find((name) => /^\d/.test(name) && name !== runId) ?? "";
  writeFileSync(join(runs, damaged, "journal.jsonl"), "{}\n{\n");
  for (const command of [
    ["approve", "last", ".", "1"],
    ["approvals", "last", "."],
    ["resume", "last", "."],
  ]) {
    const { exitCode, stderr } = await runCli(command, { cwd });
    expect({ command, exitCode }).toEqual({ command, exitCode: 2 });
    expect(stderr).toMatch(new RegExp(`the run ${damaged} of .* cannot be read: .*:1: .*; name the run that you mean`));
  }
  expect((await runCli(["approve", runId, ".", "1"], { cwd })).exitCode).toBe(0);
  const { stdout } = await runCli(["approvals", runId, "--json"], { cwd });
  expect(JSON.parse(stdout).questions).toMatchObject([{ answer: { type: "approve" } }]);
});
