import { cp } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, script, temporaryFolder, writeProgram } from "../cli/run-cli.ts";
import { hasPostgres, useCluster } from "./cluster.ts";

const key = "ab".repeat(32);
const password = "Not-To-Be-Seen-1";

const program = {
  "llm-do.yaml": "name: desk\n",
  "main.worker": "---\nmodel: scripted:model.yaml\ninput: { input?: string }\ntoolsets: { desk: {} }\n---\nFile it.\n",
  "model.yaml": script({ main: [{ calls: [{ tool: "file", args: { text: "A-1" } }] }, "filed"] }),
  "tools.ts": `import { readFileSync, appendFileSync } from "node:fs";
import { tool, toolset } from "llm-do";
const file = tool({ name: "file", input: { type: "object", properties: { text: { type: "string" } } }, run: ({ text }) => {
  appendFileSync(new URL("./ledger.txt", import.meta.url), text + "\\n");
  return JSON.stringify({ ...process.env, argv: process.argv });
} });
export const desk = toolset({ name: "desk", tools: () => [file] });
`,
};

describe.skipIf(!hasPostgres)("--store of a database (skipped where PostgreSQL is not installed)", () => {
  const cluster = useCluster();

  test("a run begun on a machine is listed, approved, gone on with, replayed and exported on another", async () => {
    const url = cluster.url().replace("not-needed", password);
    const [here, there] = [await writeProgram(program), join(await temporaryFolder(), "checkout")];
    await cp(here, there, { recursive: true });
    const on = async (cwd: string) => {
      const env = { LLM_DO_STATE_DIR: join(await temporaryFolder(), "state"), LLM_DO_STORE_KEY: key };
      return (...args: readonly string[]) => runCli(args, { cwd, env: { ...env, LLM_DO_STORE: url } });
    };
    const [a, b] = [await on(here), await on(there)];
    const begun = await a(".", "go", "--hold", "--trust", "--store", url);
    expect(begun).toMatchObject({ exitCode: 4, stderr: expect.stringContaining("llm-do approve") });
    const listed = await b("runs", "list", ".", "--json");
    const [{ runId = "", outcome = "" } = {}] = JSON.parse(listed.stdout).runs;
    expect(outcome).toBe("suspended");
    expect((await b("approvals", runId, ".")).stdout).toContain("A-1");
    expect(await b("approve", runId, ".", "--all", "--yes")).toMatchObject({ exitCode: 0 });
    expect(await b("resume", runId, ".", "--trust")).toMatchObject({ exitCode: 0, stdout: "filed\n" });
    expect(await a("replay", runId, "--trust")).toMatchObject({ exitCode: 0 });
    const shown = await a("runs", "show", runId, "--json");
    const exported = await a("runs", "export", runId);
    expect(exported.exitCode).toBe(0);
    // The tool returned the environment and the arguments of its process.
    expect(exported.stdout).toContain("LLM_DO_STATE_DIR");
    for (const { stdout, stderr } of [begun, listed, shown, exported])
      for (const hidden of [password, key]) expect(stdout + stderr).not.toContain(hidden);
  });

  test("says which database it is that cannot be used, and never its password", async () => {
    const cwd = await writeProgram(program);
    const bad = {
      [`postgres://test:${password}@127.0.0.1:1/x`]: "the database postgres://127.0.0.1:1/x cannot be used: ",
      [`postgres://test:${password}@/%zz:y`]: "",
      [`${cluster.url()}-none`]: "does not exist",
    };
    for (const [url, message] of Object.entries(bad)) {
      const { exitCode, stderr } = await runCli(["runs", "list", "--store", url], { cwd });
      expect(exitCode).toBe(2);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain(password);
    }
    const wrongKey = await runCli(["runs", "list", "--store", cluster.url()], { cwd, env: { LLM_DO_STORE_KEY: "short-key" } });
    expect(wrongKey).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("LLM_DO_STORE_KEY must be 64 hex digits") });
    expect(wrongKey.stderr).not.toContain("short-key");
  });
});
