import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { runCli, startCli, writeProgram } from "../cli/run-cli.ts";

const worker = (more: string) => `---
model: scripted:model.mjs
input:
  type: object
  properties: { input: { type: string }, n: { type: integer } }
  required: [input]
${more}---
Answer.
`;
const model = "export default ({ lastUserText }) => ({ text: `<${lastUserText()}>` });\n";

interface Line {
  readonly row: number;
  readonly runId: string | null;
  readonly stopReason: string;
  readonly output: unknown;
}

async function results(cwd: string, name = "out.jsonl"): Promise<readonly Line[]> {
  const text = await readFile(join(cwd, name), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

test("maps rows of CSV and of JSON Lines, and names each row that is none by its line", async () => {
  const cwd = await writeProgram({
    "main.worker": worker(""),
    "model.mjs": model,
    "rows.csv": '\uFEFFinput,n\n"a\nb",1\nc,\nd,many\ne\n',
    "rows.jsonl": '{"input":"a"}\n\n{"input":\n"text"\n{"n":1}\n[1]\n{"input":"z\u2028","n":2}',
  });
  const csv = await runCli(["map", ".", "--trust", "--inputs", "rows.csv", "--out", "out.jsonl"], { cwd });
  expect(csv.exitCode).toBe(1);
  expect((await results(cwd)).map(({ stopReason, output }) => [stopReason, output])).toEqual([
    ["done", '<{"input":"a\\nb","n":1}>'],
    ["done", "<c>"],
    ["invalid", null],
    ["invalid", null],
  ]);
  expect(csv.stderr).toContain("row 3 (line 5): invalid: line 5, column n: this must be a whole number");
  expect(csv.stderr).toMatch(/row 4 \(line 6\): invalid: .*columns length is 2, got 1/);
  const lines = await runCli(["map", ".", "--trust", "--inputs", "rows.jsonl", "--quiet"], { cwd });
  const printed = lines.stdout.trim().split("\n");
  expect(printed.map((line) => (JSON.parse(line) as Line).stopReason)).toEqual([
    ...["done", "invalid", "done", "invalid", "invalid", "done"],
  ]);
  // JSON allows it in a text, where it ends no line.
  expect((JSON.parse(printed.at(-1) ?? "") as Line).output).toBe('<{"input":"z\u2028","n":2}>');
  expect(lines.stdout).toContain("line 3: this is not JSON");
  expect(lines.stdout).toContain("line 6: a row is an object of the entry's input, or a text");
});

test("refuses a file that no map wrote, one that is not there, and a flag that makes no sense", async () => {
  const cwd = await writeProgram({ "main.worker": worker(""), "model.mjs": model, "rows.jsonl": '"a"\n', "mine.txt": "mine\n" });
  const map = (...flags: readonly string[]) => runCli(["map", ".", "--trust", ...flags], { cwd });
  expect(await map("--inputs", "rows.jsonl", "--out", "mine.txt")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("no map of this program wrote it"),
  });
  expect(await readFile(join(cwd, "mine.txt"), "utf8")).toBe("mine\n");
  expect(await map("--inputs", "none.csv")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("there is no such file"),
  });
  expect(await map("--inputs", "rows.jsonl", "--out", "rows.jsonl")).toMatchObject({ exitCode: 2 });
  expect(await map("--inputs", "rows.jsonl", "--usd", "0")).toMatchObject({ exitCode: 2 });
  expect(await map("--inputs", "rows.jsonl", "--out", "mine.txt", "--again")).toMatchObject({ exitCode: 0 });
});

test("spends no more than --usd and what was in flight, and goes on with a larger one", async () => {
  const cwd = await writeProgram({
    "main.worker": worker(""),
    // 0.1 dollars a row.
    "model.mjs": "export default () => ({ text: 'done', usage: { inputTokens: 10_000, outputTokens: 0 } });\n",
    "rows.jsonl": '"a"\n'.repeat(20),
  });
  const line = [
    "map",
    ".",
    "--trust",
    "--inputs",
    "rows.jsonl",
    "--out",
    "out.jsonl",
    "--parallel",
    "3",
    "--price",
    "scripted:*=10,10",
  ];
  const first = await runCli([...line, "--usd", "0.55"], { cwd });
  expect(first).toMatchObject({ exitCode: 6, stderr: expect.stringContaining("the $0.55 for all rows are used up") });
  const spent = (await results(cwd)).filter(({ stopReason }) => stopReason === "done").length / 10;
  expect(spent).toBeGreaterThan(0.3);
  expect(spent).toBeLessThanOrEqual(0.55 + 0.3);
  expect(await runCli([...line, "--usd", "5"], { cwd })).toMatchObject({ exitCode: 0 });
  expect((await results(cwd)).every(({ stopReason }) => stopReason === "done")).toBe(true);
});

test("all rows that wait are approved by one command, and a row whose file another one wrote says so", async () => {
  const cwd = await writeProgram({
    "main.worker": worker("sandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { filesystem: {} }\n"),
    "model.mjs":
      'export default ({ turn, lastUserText }) => turn === 1 ? { calls: [{ tool: "write_file", args: { path: "out/a.txt", content: lastUserText() } }] } : { text: "written" };\n',
    "rows.jsonl": '"a"\n"b"\n',
  });
  const line = ["map", ".", "--trust", "--hold", "--parallel", "1", "--inputs", "rows.jsonl", "--out", "out.jsonl"];
  expect((await runCli(line, { cwd })).exitCode).toBe(4);
  const approved = await runCli(["approve", "--all-runs", "-y"], { cwd });
  expect(approved).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("2 questions of 2 runs answered") });
  const second = await runCli(line, { cwd });
  expect(second.stderr).toContain("1 call waits for an answer; it was answered, and what it would change has changed since");
  expect((await runCli(["approve", "last", ".", "--all-runs", "-y"], { cwd })).exitCode).toBe(0);
  expect(await runCli(line, { cwd })).toMatchObject({ exitCode: 0 });
  expect(await readFile(join(cwd, "out/a.txt"), "utf8")).toBe("b");
});

test("holds questions, and goes on with a row once they are answered", async () => {
  const cwd = await writeProgram({
    "main.worker": worker("toolsets: { note: {} }\n"),
    "model.mjs":
      'export default ({ turn, lastUserText }) => turn === 1 ? { calls: [{ tool: "note", args: { text: lastUserText() } }] } : { text: "noted" };\n',
    "tools.ts": noteTool,
    "rows.jsonl": '"a"\n"b"\n',
  });
  const line = ["map", ".", "--trust", "--hold", "--inputs", "rows.jsonl", "--out", "out.jsonl"];
  const first = await runCli(line, { cwd });
  expect(first.exitCode).toBe(4);
  expect(first.stderr).toContain(
    "llm-do: 2 rows wait for answers: `llm-do approve` asks for those of the newest, `llm-do approve last . --all-runs` approves all; then",
  );
  const held = await results(cwd);
  expect(held.map(({ stopReason }) => stopReason)).toEqual(["suspended", "suspended"]);
  const approved = await runCli(["approve", held[1]?.runId ?? "", "--all", "-y"], { cwd });
  expect(approved.exitCode).toBe(0);
  expect(approved.stderr).toContain("llm-do: 1 other run of this program waits for answers");
  expect((await runCli(line, { cwd })).exitCode).toBe(4);
  const later = await results(cwd);
  expect(later.map(({ stopReason, runId }) => [stopReason, runId])).toEqual([
    ["suspended", held[0]?.runId],
    ["done", held[1]?.runId],
  ]);
  expect(await readFile(join(cwd, "..", "ledger"), "utf8")).toBe("b\n");
  // Without a run, it is the newest one that has no answer yet.
  expect(await runCli(["approve", "--all", "-y"], { cwd })).toMatchObject({ exitCode: 0 });
  expect((await runCli(line, { cwd })).exitCode).toBe(0);
});

const noteTool = `import { appendFileSync } from "node:fs";
import { tool } from "llm-do";
export const note = tool({
  input: { type: "object", properties: { text: { type: "string" } } },
  run: async ({ text }: { text?: string }) => {
    appendFileSync("../ledger", text + "\\n");
    await new Promise((resolve) => setTimeout(resolve, 5));
    return "noted";
  },
});
`;

const kills = Number(process.env["LLM_DO_KILL_RUNS"] ?? 8);

describe("kill -9 at any moment", { timeout: 120_000 + kills * 10_000 }, () => {
  test("ends every row once when the map is started again, or names it uncertain", async () => {
    const rows = 60 + kills * 6;
    const cwd = await writeProgram({
      "main.worker": worker("toolsets: { note: {} }\n"),
      "model.mjs":
        'export default async ({ turn, lastUserText }) => {\n  await new Promise((resolve) => setTimeout(resolve, 10));\n  return turn === 1 ? { calls: [{ tool: "note", args: { text: lastUserText() } }] } : { text: `<${lastUserText()}>` };\n};\n',
      "tools.ts": noteTool,
    });
    await writeFile(join(cwd, "..", "ledger"), "");
    const inputs = Array.from({ length: rows }, (_, row) => `row ${row}`);
    await writeFile(join(cwd, "rows.jsonl"), inputs.map((input) => `${JSON.stringify(input)}\n`).join(""));
    const line = ["map", ".", "--trust", "--approve-all", "--parallel", "4", "--inputs", "rows.jsonl", "--out", "out.jsonl"];
    let killed = 0;
    for (let kill = 0; kill < kills; kill++) {
      const running = startCli(line, { cwd });
      await Promise.race([running.stderrHolds("--approve-all"), running.result]).catch(() => undefined);
      await setTimeout(((kill * 7919) % 600) + 20);
      running.child.kill("SIGKILL");
      if ((await running.result).exitCode === null) killed++;
    }
    expect(killed).toBeGreaterThan(kills / 2);
    const last = await runCli(line, { cwd });
    const ended = await results(cwd);
    expect(ended.map(({ row }) => row)).toEqual(inputs.map((_, row) => row + 1));
    const ledger = (await readFile(join(cwd, "..", "ledger"), "utf8")).trim().split("\n");
    const uncertain = ended.filter(({ stopReason }) => stopReason === "uncertain");
    for (const { row, stopReason, output } of ended) {
      const written = ledger.filter((text) => text === inputs[row - 1]).length;
      if (stopReason === "uncertain") expect(written).toBeLessThanOrEqual(1);
      else expect([row, stopReason, output, written]).toEqual([row, "done", `<${inputs[row - 1]}>`, 1]);
    }
    expect(last.exitCode).toBe(uncertain.length > 0 ? 1 : 0);
    // At most those that were under way.
    expect(uncertain.length).toBeLessThanOrEqual(killed * 4);
    const runs = new Set(ended.map(({ runId }) => runId));
    expect(runs.size).toBe(rows);
  });
});
