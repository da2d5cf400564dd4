import { describe, expect, it } from "vitest";
import { copyExample, runCli, script, scripted, writeProgram } from "./run-cli.ts";

describe("limits", () => {
  it("tells a caller whose call would be too deep, and goes on", async () => {
    const cwd = await copyExample();
    const { exitCode, stdout } = await runCli([".", "--model", scripted, "--approve-all", "--max-depth", "0"], { cwd });
    expect(exitCode).toBe(0);
    const refusal = "`main` (depth 0) cannot call `pitch_evaluator`: it would run at depth 1, and the limit is 0";
    expect(stdout.split(refusal)).toHaveLength(4);
  });

  it("ends at the limit of turns with what there is, and 6", async () => {
    const again = { text: "so far", calls: [{ tool: "list_files" }] };
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ntoolsets: { filesystem: {} }\nlimits: { turns: 3 }\n---\nGo on.\n",
      "model.yaml": script({ main: [again, again, again, again] }),
    });
    const { exitCode, stdout, stderr } = await runCli([".", "go"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: "so far\n" });
    const [ending, next] = stderr.trimEnd().split("\n");
    expect(ending).toBe("llm-do: the run ended at a limit: the limit of 3 turns; the output is what there was so far");
    expect(next).toMatch(/^llm-do: raise `turns` under `limits` of main\.worker to 6; then `llm-do resume \S+` goes on with it$/);
    const json = await runCli([".", "go", "--json"], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({ stopReason: "limit", output: "so far", exitCode: 6 });
  });

  it.each([
    ["dollars", "usd=0.005", "0.1", ""],
    ["tokens", "tokens=1200", "10000", " about four times the 1,940 tokens spent so far, since"],
  ])("proposes a limit of %s with which the run comes to its end", async (_, limit, more, measure) => {
    const turn = (inputTokens: number) => ({ calls: [{ tool: "list_files" }], usage: { inputTokens, outputTokens: 40 } });
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\ntoolsets: { filesystem: {} }\n---\nGo on.\n",
      "model.yaml": script({ main: [turn(limit.startsWith("usd") ? 900 : 1900), turn(1100), "done now"] }),
    });
    const ended = await runCli([".", "go", "--limit", limit, "--price", "scripted:*=3,15"], { cwd });
    expect(ended.exitCode).toBe(6);
    const [name = ""] = limit.split("=");
    const why = `:${measure} each resume pays its last turn again\n`;
    const [line = "", id = ""] = /`llm-do resume (\S+) --limit [^`]*`[^\n]*\n/.exec(ended.stderr) ?? [];
    expect(line).toBe(`\`llm-do resume ${id} --limit ${name}=${more}\` goes on with it${why}`);
    expect(await runCli(["resume", id, "--limit", `${name}=${more}`], { cwd })).toMatchObject({
      exitCode: 0,
      stdout: "done now\n",
    });
  });

  it("ends with 3 where the output does not fit its schema, after one more try", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\noutput: { total: integer }\n---\nCount.\n",
      "model.yaml": script({ main: ["many", { json: { total: "three" } }] }),
      "again.yaml": script({ main: ["many", { json: { total: 3 } }] }),
    });
    const { exitCode, stdout, stderr } = await runCli([".", "go"], { cwd });
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" });
    expect(stderr).toContain("`main` gave an output that does not fit its schema: total: must be integer");
  });

  it.each([
    [
      { text: "forty-", finish: "length" },
      6,
      "forty-\n",
      /^llm-do: the answer was cut off: .*raise `max_output_tokens`.*so far\nllm-do: `llm-do resume \S+` goes on with it, once more is allowed\n$/,
    ],
    [
      { text: "Not that.", finish: "content-filter" },
      7,
      "",
      /^llm-do: `main`: scripted:.* refused to answer: Not that\.\nllm-do: `llm-do resume \S+` goes on with it\n$/,
    ],
    [{ text: "" }, 3, "", /^llm-do: `main` gave an empty answer, also when asked again\n$/],
  ])("ends %o with %s", async (reply, exitCode, stdout, stderr) => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\n---\nAnswer.\n",
      "model.yaml": script({ main: [reply, reply] }),
    });
    const ended = await runCli([".", "go"], { cwd });
    expect(ended).toMatchObject({ exitCode, stdout, stderr: expect.stringMatching(stderr) });
    const json = JSON.parse((await runCli([".", "go", "--json"], { cwd })).stdout);
    const how = exitCode === 6 ? { stopReason: "cut", output: "forty-" } : { stopReason: "failed", output: null };
    expect(json).toMatchObject({ exitCode, ...how });
  });

  it("prints an output that has a schema as JSON", async () => {
    const cwd = await writeProgram({
      "main.worker": "---\nmodel: scripted:model.yaml\noutput: { total: integer }\n---\nCount.\n",
      "model.yaml": script({ main: ["many", { json: { total: 3 } }] }),
    });
    expect(await runCli([".", "go"], { cwd })).toEqual({ exitCode: 0, stdout: '{\n  "total": 3\n}\n', stderr: "" });
  });
});
