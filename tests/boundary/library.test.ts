import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  calls,
  compare,
  compile,
  mapRuns,
  type RecordedCall,
  run,
  type SoftenReport,
  soften,
  stabilise,
  UntrustedProgram,
} from "../../src/index.ts";
import { runCli } from "../cli/run-cli.ts";

/** A program with forty recorded calls; `sort` agrees with each, and `half` with every other. */
const cwd = mkdtempSync(join(tmpdir(), "llm-do-library-"));
const target = join(cwd, "program");
const store = join(cwd, "store");
const file = join(target, "triage.worker");
const worker = "---\ndescription: Sorts.\ninput: { message: string }\noutput: { kind(enum): [bug, wish] }\n---\nSort it.\n";
const script = `export default (request) => ({ json: { kind: JSON.stringify(request).includes("hangs") ? "bug" : "wish" } });\n`;
const tools = `export const sort = ({ message }) => ({ kind: message.includes("hangs") ? "bug" : "wish" });
export const half = () => ({ kind: "bug" });
`;
const model = `scripted:${join(cwd, "script.mjs")}`;
const step = { step: "triage", target, store, model, trust: true } as const;
const typed = (command: string, ...args: readonly string[]) =>
  runCli([command, "triage", target, ...args], { cwd, env: { LLM_DO_STORE: store } });

beforeAll(async () => {
  mkdirSync(target);
  writeFileSync(file, worker);
  writeFileSync(join(target, "main.worker"), "---\ndescription: Calls.\ntoolsets: { triage: {} }\n---\nCall triage.\n");
  writeFileSync(join(target, "tools.ts"), tools);
  writeFileSync(join(cwd, "script.mjs"), script);
  const { program } = await compile({ target: file, model, trust: true, toRun: true });
  if (!program) throw new Error("it does not compile");
  const rows = Array.from({ length: 40 }, (_, index) => ({ message: `${index} ${index % 2 === 0 ? "it hangs" : "please"}` }));
  for await (const { error } of mapRuns({ program, rows, store, approval: { mode: "reject_all" } }))
    expect(error).toBeUndefined();
}, 60_000);

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

async function all<T>(many: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const one of many) found.push(one);
  return found;
}

/** Times of a comparison are its own. */
function figuresOf(report: unknown): unknown {
  return JSON.parse(JSON.stringify(report, (key, value) => (key === "median" || key === "p90" ? 0 : value)));
}

describe("steps between prose and code, in code", { timeout: 60_000 }, () => {
  it("yields the calls that the command prints", async () => {
    const found: readonly RecordedCall[] = await all(calls({ step: "triage", target, store, last: 7 }));
    expect(found).toHaveLength(7);
    const { stdout } = await typed("calls", "--last", "7", "--json");
    expect(JSON.parse(JSON.stringify(found))).toEqual(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    );
  });

  it("compares with the figures of the command", async () => {
    const candidates = ["tools.ts:sort", "tools.ts:half"];
    const report = await compare({ ...step, with: candidates, again: true });
    expect(report.candidates.map(({ agreement }) => [agreement.hits, agreement.count])).toEqual([
      [40, 40],
      [40, 40],
      [20, 40],
    ]);
    const line = [...candidates.flatMap((one) => ["--with", one]), "--again", "--trust", "--model", model, "--json"];
    const printed = JSON.parse((await typed("compare", ...line)).stdout);
    expect(figuresOf(report)).toEqual(figuresOf(printed));
  });

  it("writes nothing where the figures, or the caller, do not allow it, and then the two lines", async () => {
    const refused = await stabilise({ ...step, with: "tools.ts:half" });
    expect(refused).toMatchObject({ file: "declined", obstacle: expect.stringContaining("as low as 35.2 %") });
    expect(await stabilise({ ...step, with: "tools.ts:sort", last: 3 })).toEqual({
      ...{ file: "declined", obstacle: "3 recorded calls tell nothing; 20 are the fewest" },
    });
    const declined = await stabilise({ ...step, with: "tools.ts:sort", confirm: ({ cases }) => cases !== 40 });
    expect(declined).toMatchObject({ file: "declined" });
    expect(declined).not.toHaveProperty("obstacle");
    expect(readFileSync(file, "utf8")).toBe(worker);
    expect(await stabilise({ ...step, with: "tools.ts:sort", check: 0.5 })).toMatchObject({ file: "written" });
    expect(readFileSync(file, "utf8")).toBe(worker.replace("\n---\nSort", "\ncode: tools.ts:sort\ncheck: 0.5\n---\nSort"));
    expect(await typed("stabilise", "--back", "--yes")).toMatchObject({ exitCode: 0 });
    expect(readFileSync(file, "utf8")).toBe(worker);
  });

  it.each([
    [{ ...step, with: ["tools.ts:sort"], trust: false }, UntrustedProgram],
    [{ ...step, with: ["tols.ts:sort"] }, "there is no file `tols.ts`"],
    [{ ...step, step: "triagge", with: ["tools.ts:sort"] }, "did you mean `triage`?"],
    [{ ...step, with: [] }, "names no candidate"],
    [{ ...step, with: ["tools.ts:sort"], usd: -1 }, "`compare.usd` must be a number, more than 0"],
    [{ ...step, with: ["tools.ts:sort"], cases: join(cwd, "none.jsonl") }, "none.jsonl: "],
  ])("rejects what it cannot do: %#", async (request, expected) => {
    await expect(compare(request)).rejects.toThrow(expected);
  });
});

describe("a tool that becomes a worker, in code", { timeout: 60_000 }, () => {
  const folder = join(cwd, "dated");
  const main = "---\ndescription: Asks.\ntoolsets: { due: {} } # a date\n---\nCall due.\n";
  const dated = `import { tool } from "llm-do";
const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
export const due = tool({ description: "Days.", input, approval: "pre-approved", sideEffect: false, run: ({ text }) => ({ days: text.length }) });
export const pay = tool({ input, run: () => 1 });
`;
  const asks = `export default ({ turn }) => turn === 1 ? { calls: [{ tool: "due", args: { text: "soon" } }] } : "done";\n`;
  const request = { tool: "tools.ts:due", target: folder, store, trust: true } as const;
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const written = ({ files, changes }: SoftenReport) =>
    [...Object.entries(files), ...changes.map(({ file: name, after }) => [name, after] as const)].toSorted();

  beforeAll(async () => {
    mkdirSync(folder);
    for (const [name, text] of Object.entries({ "main.worker": main, "tools.ts": dated, "asks.mjs": asks }))
      writeFileSync(join(folder, name), text);
    const { program } = await compile({
      target: folder,
      model: `scripted:${join(folder, "asks.mjs")}`,
      trust: true,
      toRun: true,
    });
    if (!program) throw new Error("it does not compile");
    await run({ program, input: "go", store, approval: { mode: "reject_all" } });
  });

  it("writes the files of the command, after its caller's yes", async () => {
    const declined = await soften({ ...request, confirm: ({ worker: name }) => name !== "due.worker" });
    expect(declined).toMatchObject({ file: "declined", worker: "due.worker", changes: [{ file: "main.worker", before: main }] });
    expect(declined.files["due.cases.jsonl"]).toContain('"days":4');
    expect(read("main.worker")).toBe(main);
    const command = await runCli(["soften", request.tool, folder, "--trust", "--yes"], { cwd, env: { LLM_DO_STORE: store } });
    expect(command, command.stderr).toMatchObject({ exitCode: 0 });
    expect(written(declined).map(([name]) => [name, read(name)])).toEqual(written(declined));
    for (const name of Object.keys(declined.files)) rmSync(join(folder, name));
    writeFileSync(join(folder, "main.worker"), main);
    expect(await soften(request)).toEqual({ ...declined, file: "written" });
    expect(written(declined).map(([name]) => [name, read(name)])).toEqual(written(declined));
  });

  it.each([
    [{ ...request, trust: false }, UntrustedProgram],
    [{ ...request, tool: "due" }, "a tool is written tools.ts:NAME"],
    [{ ...request, tool: "tools.ts:pay" }, "no worker of the program names the tool `pay`"],
    [{ ...request, confirm: true } as never, "`soften.confirm` must be"],
  ])("rejects what it cannot do: %#", async (given, expected) => {
    await expect(soften(given)).rejects.toThrow(expected);
  });
});
