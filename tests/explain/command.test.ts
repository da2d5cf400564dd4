import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { copyExample, runCli, scripted, temporaryFolder, writeProgram } from "../cli/run-cli.ts";
import { parseFlowchart } from "./mermaid-syntax.ts";

const withCode = {
  "main.worker": "---\ndescription: Start.\ntoolsets: { greet: {}, filesystem: {} }\n---\nGo.\n",
  "tools.ts": `import { writeFileSync } from "node:fs";
import { tool } from "llm-do";
writeFileSync(new URL("imported.txt", import.meta.url), "x");
console.log("printed by the program");
export const greet = tool({ input: { type: "object" }, run: () => "hello" });
`,
};

describe("llm-do explain", () => {
  it("prints text of at most 80 columns where no terminal says how wide it is, and nothing on stderr", async () => {
    const cwd = await copyExample();
    const { exitCode, stdout, stderr } = await runCli(["explain", "--model", scripted], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("scripted:scripted.ts  main; pitch_evaluator (by --model); $0 / $0\n");
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(await stat(join(cwd, ".llm-do")).catch(() => "none")).toBe("none");
  });

  it("prints the outline itself as JSON, and a chart", async () => {
    const cwd = await copyExample();
    const json = await runCli(["explain", ".", "--format", "json"], { cwd });
    const outline = JSON.parse(json.stdout);
    expect(Object.keys(outline).slice(0, 5)).toEqual(["v", "name", "root", "trusted", "entry"]);
    expect(outline).toMatchObject({ v: 1, name: "pitchdeck_eval", workers: [{ id: "main", model: null }, {}] });
    const { stdout } = await runCli(["explain", ".", "--format", "mermaid"], { cwd });
    expect(parseFlowchart(stdout).edges).toHaveLength(7);
  });

  it("takes what a run takes: --set, --model-for, --entry, several files", async () => {
    const cwd = await copyExample();
    const set = ["--set", "limits.turns=3", "--model-for", "pitch*=anthropic:claude-sonnet-4-5", "--entry", "pitch_evaluator"];
    const { stdout } = await runCli(["explain", ".", ...set], { cwd });
    expect(stdout).toContain("starts at pitch_evaluator.worker, 1 worker");
    expect(stdout).toContain("pitch_evaluator: 3 turns");
    expect(stdout).toContain("by --model-for");
    const files = await runCli(["explain", "main.worker", "pitch_evaluator.worker"], { cwd });
    expect(files.stdout).toContain("2 workers");
    const check = await runCli(["check", "main.worker", "--set", "limit.turns=3"], { cwd });
    expect(check.exitCode).toBe(2);
    expect(check.stderr).toContain(" --> --set limit.turns=3:1:1\n");
  });

  it("imports nothing of a program that is not trusted, and marks what it does not know", async () => {
    const cwd = await writeProgram(withCode);
    const { exitCode, stdout, stderr } = await runCli(["explain"], { cwd });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("NOT VERIFIED");
    expect(stdout).toContain("unverified greet: ");
    await expect(stat(join(cwd, "imported.txt"))).rejects.toThrow();
  });

  it("keeps what the code of a trusted program prints out of stdout", async () => {
    const cwd = await writeProgram(withCode);
    const { stdout, stderr } = await runCli(["explain", "--trust", "--format", "json"], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ trusted: true, ceiling: { unverified: [], code: ["tools.ts"] } });
    expect(stderr).toBe("printed by the program\n");
    expect(await readFile(join(cwd, "imported.txt"), "utf8")).toBe("x");
  });

  it("ends with 2 where the program has mistakes, and says them as check does", async () => {
    const cwd = await writeProgram({ "main.worker": "---\ntoolset: {}\nlimits: { turns: none }\n---\nGo.\n" });
    const { exitCode, stdout, stderr } = await runCli(["explain"], { cwd });
    const check = await runCli(["check"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("did you mean `toolsets`?");
    expect(check.stderr.startsWith(stderr)).toBe(true);
  });

  it("refuses a format that it does not know, and a prompt", async () => {
    const cwd = await temporaryFolder();
    expect((await runCli(["explain", "--format", "xml"], { cwd })).stderr).toContain(
      "Allowed choices are text, context, json, mermaid.",
    );
    expect((await runCli(["explain", ".", "--", "x"], { cwd })).exitCode).toBe(2);
  });
});
