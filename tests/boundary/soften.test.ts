import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../cli/run-cli.ts";

/** With a comment, and with Windows line ends, which have to stay. */
const main = [
  ...["---", "description: Asks. # twice", "toolsets:", "  due: {} # a date", '  "./tools.ts:pay": {}', "  pair:", "---"],
  "Call due with both letters.",
].join("\r\n");
const tools = `import { tool, toolset } from "llm-do";
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
export const due = tool({
  description: "The days of a letter.",
  input,
  approval: "pre-approved",
  sideEffect: false,
  run: ({ text }) => {
    if (!/invoice/.test(text)) throw new Error("no invoice");
    return { days: text.length, kind: "invoice" };
  },
});
export const pay = tool({ input, run: () => "paid" });
const one = tool({ name: "one", input, run: () => 1 });
export const pair = toolset({ name: "pair", tools: () => [one, tool({ name: "two", input, run: () => 2 })] });
`;
const script = `export default (request) => {
  if (request.worker === "due") return { json: { days: 7, kind: "other" } };
  const results = request.toolResults();
  if (results.length > 0) return JSON.stringify(results.map(({ result }) => result));
  return { calls: ["an invoice", "a question"].map((text) => ({ tool: "due", args: { text } })) };
};
`;

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "llm-do-soften-"));
  mkdirSync(join(cwd, "p"));
  for (const [name, text] of Object.entries({ "main.worker": main, "tools.ts": tools, "script.mjs": script }))
    writeFileSync(join(cwd, "p", name), text);
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const read = (name: string) => readFileSync(join(cwd, "p", name), "utf8");
const run = async () => {
  const ran = await runCli(["p", "go", "--trust", "--model", "scripted:p/script.mjs", "--headless"], { cwd });
  expect(ran.exitCode, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as readonly { readonly ok: boolean; readonly value?: unknown }[];
};
const soften = (...args: readonly string[]) => runCli(["soften", ...args], { cwd });

describe("llm-do soften", { timeout: 120_000 }, () => {
  it("puts a tool behind a worker of its name, which answers as it did, and by its prompt where that is written", async () => {
    const before = await run();
    expect(before).toMatchObject([{ ok: true, value: { days: 10, kind: "invoice" } }, { ok: false }]);
    const done = await soften("tools.ts:due", "p", "--trust", "--yes");
    expect(done, done.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("+ due.worker\n") });
    expect(read("main.worker")).toBe(main.replace("due: {}", "due: { _approval_config: { due: { pre_approved: true } } }"));
    expect(read("tools.ts")).toBe(tools);
    expect(
      read("due.cases.jsonl")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown)
        .toSorted((one, other) => JSON.stringify(other).localeCompare(JSON.stringify(one))),
    ).toMatchObject([
      { worker: "due", input: { text: "an invoice" }, output: { days: 10, kind: "invoice" }, by: "code" },
      { worker: "due", input: { text: "a question" }, output: null, label: { verdict: "wrong" } },
    ]);
    const after = await run();
    expect(after).toMatchObject([{ ok: true, value: { days: 10, kind: "invoice" } }, { ok: false }]);
    writeFileSync(join(cwd, "p/due.worker"), `${read("due.worker")}Say how many days there are.\n`);
    expect(await run()).toMatchObject([before[0], { ok: true, value: { days: 7, kind: "other" } }]);
    const calls = await runCli(["calls", "due", "p", "--by", "code", "--json"], { cwd });
    expect(calls.stdout).toContain('"an invoice"');
    const again = await soften("tools.ts:due", "p", "--trust", "--yes");
    expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("no worker of the program names the tool") });
  });

  it("says that nothing is recorded of what a tool gives", async () => {
    const done = await soften("tools.ts:due", "p", "--trust", "--yes");
    expect(done).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("write its `output` into due.worker") });
    expect(existsSync(join(cwd, "p/due.cases.jsonl"))).toBe(false);
    expect((await run())[0]).toMatchObject({ ok: true, value: { days: 10 } });
  });

  it.each([
    [["tools.ts:due", "p", "--trust"], "--yes writes it"],
    [["tools.ts:due", "p", "--yes"], "runs code: tools.ts"],
    [["tools.ts:pay", "p", "--trust", "--yes"], "`pay` may change something"],
    [["tools.ts:two", "p", "--trust", "--yes"], "it is a part of the toolset `pair`"],
    [["tools.ts:dew", "p", "--trust", "--yes"], "no worker of the program names the tool `dew`"],
    [["due", "p", "--trust", "--yes"], "a tool is written tools.ts:NAME"],
  ])("writes nothing for %j", async (args, said) => {
    expect(await soften(...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(said) });
    expect([readdirSync(join(cwd, "p")).sort(), read("main.worker")]).toEqual([["main.worker", "script.mjs", "tools.ts"], main]);
  });
});
