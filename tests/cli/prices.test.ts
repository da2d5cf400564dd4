import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, script, writeProgram } from "./run-cli.ts";

describe("dollars", () => {
  const program = () =>
    writeProgram({
      "main.worker": "---\nlimits: { usd: 1 }\n---\nAnswer.\n",
      "says.yaml": script({ main: [{ text: "hi", usage: { inputTokens: 1000, outputTokens: 200, cachedInputTokens: 500 } }] }),
    });
  const args = [".", "x", "--model", "scripted:says.yaml", "--no-journal"];

  it("are told at -v and with --json, by the price that is given", async () => {
    const cwd = await program();
    const told = await runCli([...args, "-v", "--price", "*:*=9,9", "--price", "scripted:*=3,15,0.3"], { cwd });
    expect(told).toMatchObject({ exitCode: 0, stdout: "hi\n" });
    expect(told.stderr).toContain(
      "run done: 1 request, 1,000 tokens in (500 cached), 200 out, $0.00465 (the cache saved $0.00135)\n",
    );
    const json = await runCli([...args, "--json", "--price", "scripted:*=3,15"], { cwd });
    expect(JSON.parse(json.stdout).usage.usd).toBeCloseTo(0.006, 9);
  });

  it("that are limited need a price: without one nothing runs", async () => {
    const unpriced = [".", "x", "--model", "openrouter:nobody/knows", "--no-journal"];
    const environment = { OPENROUTER_API_KEY: "k", OPENROUTER_BASE_URL: "http://127.0.0.1:9/v1", OPENROUTER_BASE_URL_KEY: "k" };
    const { exitCode, stdout, stderr } = await runCli(unpriced, { cwd: await program(), env: environment });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(
      /^llm-do: dollars are limited \(`limits\.usd`\), and no price is known for `openrouter:nobody\/knows`.*--price '/,
    );
  });

  it("of a run are a limit like any other", async () => {
    const cwd = await program();
    const priced = ["--price", "scripted:*=1000,1000"];
    expect((await runCli([...args, ...priced, "--limit", "usd=0.001"], { cwd })).exitCode).toBe(6);
  });

  it("go on at the prices of the run, or at those that resume is given", async () => {
    const cwd = await program();
    const answers = (turn: object) => writeFile(join(cwd, "says.yaml"), script({ main: [turn] }));
    const failing = { error: { code: "bad_request", message: "no" } };
    await answers(failing);
    const line = [".", "x", "--model", "scripted:says.yaml", "--price", "*:*=9,9", "--price", "scripted:*=3000,15000"];
    const { exitCode } = await runCli(line, { cwd });
    expect(exitCode).toBe(7);
    await answers({ text: "hi", usage: { inputTokens: 10, outputTokens: 10 } });
    const limited = await runCli(["resume", "--limit", "usd=0.001"], { cwd });
    expect({ exitCode: limited.exitCode, stdout: limited.stdout }).toEqual({ exitCode: 6, stdout: "" });
    const { stdout } = await runCli(["resume", "--limit", "usd=1", "--json"], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({ stopReason: "done" });
    expect(JSON.parse(stdout).usage.usd).toBeCloseTo(0.18, 1);
    expect(JSON.parse(stdout).usage.usd).toBeGreaterThanOrEqual(0.18);

    await answers(failing);
    expect((await runCli(line, { cwd })).exitCode).toBe(7);
    await answers({ text: "hi", usage: { inputTokens: 10, outputTokens: 10 } });
    const cheaper = await runCli(["resume", "--price", "scripted:*=0,0", "--limit", "usd=1", "--json"], { cwd });
    expect(JSON.parse(cheaper.stdout).usage.usd).toBeLessThan(0.18);
  });

  it.each(["scripted=1,2", "a:b=1", "a:b=1,-2", "a:b=1,2,3,4"])("%s is no price", async (price) => {
    const { exitCode, stderr } = await runCli([...args, "--price", price], { cwd: await program() });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("It must be provider:model=INPUT,OUTPUT");
  });
});
