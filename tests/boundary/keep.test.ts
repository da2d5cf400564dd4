import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile } from "../../src/index.ts";
import { runCli } from "../cli/run-cli.ts";

const parent = mkdtempSync(join(tmpdir(), "llm-do-keep-"));
const cwd = join(parent, "program");
const notes = "sandbox: { paths: { notes: { root: ./notes, mode: rw } } }";
const approved = (tool: string) => `${tool}: { _approval_config: { ${tool}: { pre_approved: true } } }`;
const worker = (name: string, lines: readonly string[]) => `---\ndescription: ${name}\n${lines.join("\n")}\n---\nCount.\n`;
const program = "program: { _approval_config: { run_program: { pre_approved: true } } }";
const source = [
  "// The words of each note.",
  'const texts = await map(input.paths, (path) => call("read_file", { path }));',
  'print("read", texts.length);',
  "return { words: texts.map(({ content }) => content).join(' ').split(' ').length };",
].join("\n");
const model = `const source = ${JSON.stringify(source)};
export default ({ worker, turn, toolResults }) => {
  const [last] = toolResults?.() ?? [];
  if (turn > 1) return { text: JSON.stringify(last.result.value ?? last.result.error) };
  if (worker === "kept" || worker === "narrow") return { calls: [{ tool: "tally", args: { paths: ["notes/a.txt"] } }] };
  if (worker === "twice") return { calls: [source, "return 1"].map((one) => ({ tool: "run_program", args: { source: one, input: { paths: ["notes/a.txt"] } } })) };
  if (worker === "failing") return { calls: [{ tool: "run_program", args: { source: "throw 1" } }] };
  if (worker === "writer") return { calls: [{ tool: "write_file", args: { path: "all/other.program.js", content: "return 1" } }] };
  return { calls: [{ tool: "run_program", args: { source, input: { paths: ["notes/a.txt", "notes/b.txt"] } } }] };
};
`;
const typed = (...args: readonly string[]) => runCli(args, { cwd });
const run = (target: string, ...args: readonly string[]) =>
  typed(target, "go", "--model", "scripted:model.mjs", "--headless", ...args);
const read = (name: string) => readFileSync(join(cwd, name), "utf8");

beforeAll(async () => {
  mkdirSync(join(cwd, "notes"), { recursive: true });
  const files = {
    "main.worker": worker("Counts words.", [notes, `toolsets: { filesystem: {}, ${program} }`]),
    "twice.worker": worker("Counts twice.", [notes, `toolsets: { filesystem: {}, ${program} }`]),
    "failing.worker": worker("Fails.", [`toolsets: { ${program} }`]),
    "kept.worker": worker("Counts by the kept program.", [notes, `toolsets: { filesystem: {}, ${approved("tally")} }`]),
    "narrow.worker": worker("Has no file tools.", [`toolsets: { ${approved("tally")} }`]),
    "writer.worker": worker("Writes.", [
      "sandbox: { paths: { all: { root: ., mode: rw } } }",
      "toolsets: { filesystem: { _approval_config: { write_file: { pre_approved: true } } } }",
    ]),
    "words.worker": worker("Counts words.", [
      notes,
      "input: { paths(array): string }",
      "output: { words: integer }",
      "toolsets: { filesystem: {} }",
    ]),
    "model.mjs": model,
  };
  for (const [name, text] of Object.entries({ ...files, "notes/a.txt": "one two", "notes/b.txt": "three" }))
    writeFileSync(join(cwd, name), text);
  const ran = await run("main.worker");
  expect(ran, ran.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('"words":3') });
}, 60_000);

afterAll(() => rmSync(parent, { recursive: true, force: true }));

it("shows what a program printed in runs show", async () => {
  const { stdout } = await typed("runs", "show", "last", ".");
  expect(stdout).toMatch(/; it\s+printed \["read 2"\]/);
});

describe("llm-do keep", { timeout: 120_000 }, () => {
  it("shows the whole file, and writes nothing without a yes", async () => {
    const shown = await typed("keep", "last", ".", "--as", "tally");
    expect(shown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes writes it") });
    for (const line of source.split("\n")) expect(shown.stdout).toContain(`  + ${line}\n`);
    expect(shown.stdout).toContain('  + //     "read_file"\n');
    expect(existsSync(join(cwd, "tally.program.js"))).toBe(false);
  });

  it("makes a tool of the program, which runs with trust and reaches what its file and its worker name", async () => {
    const kept = await typed("keep", "last/main/0.run_program", ".", "--as", "tally", "--yes");
    expect(kept, kept.stderr).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("`tally: {}`") });
    expect(read("tally.program.js").endsWith(`// }\n\n${source}\n`)).toBe(true);
    expect(await typed("keep", "last", ".", "--as", "tally", "--yes")).toMatchObject({ exitCode: 2 });
    expect(await run("kept.worker")).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("trust") });
    const ran = await run("kept.worker", "--trust");
    expect(ran, ran.stderr).toMatchObject({ exitCode: 0, stdout: '{"words":2}\n' });
    const replayed = await typed("replay", "last", "kept.worker", "--trust", "--model", "scripted:model.mjs");
    expect(replayed, replayed.stdout + replayed.stderr).toMatchObject({ exitCode: 0 });
    const narrow = await run("narrow.worker", "--trust");
    expect(narrow).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("`read_file` is not in the `calls`") });
    const text = read("tally.program.js");
    writeFileSync(join(cwd, "tally.program.js"), text.replace('"read_file"', '"list_files"'));
    const renamed = await run("kept.worker", "--trust");
    expect(renamed.stdout).toContain("`read_file` is not in the `calls` of this program");
    expect(renamed.stdout).toContain(`line ${text.split("\n").findIndex((line) => line.startsWith("const")) + 1}: CallError`);
    writeFileSync(join(cwd, "tally.program.js"), "return 1\n");
    expect(await run("kept.worker", "--trust")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("`tally.program.js` does not load: its first lines are no comment"),
    });
    writeFileSync(join(cwd, "tally.program.js"), text);
  });

  it("has no power of its own in what explain says", async () => {
    const { stdout } = await typed("explain", "kept.worker", "--model", "scripted:model.mjs", "--trust");
    expect(stdout).toContain("tally.program.js: code, in the interpreter");
    expect(stdout).not.toContain("whatever you may");
  });

  it("is a module like any other where code imports it", async () => {
    const tools = { "helper.mjs": "export {};\n", "sly.program.js": '// { "calls": [] }\nimport "./helper.mjs";\n' };
    for (const [name, text] of Object.entries({ ...tools, "sly.ts": 'import "./sly.program.js";\nexport const sly = 1;\n' }))
      writeFileSync(join(cwd, name), text);
    const codeOf = async (reference: string) => {
      writeFileSync(join(cwd, "sly.worker"), worker("Is sly.", [`toolsets: { "${reference}": {} }`]));
      const { codeFiles } = await compile({ target: join(cwd, "sly.worker") });
      return codeFiles.map((path) => basename(path));
    };
    expect(await codeOf("./sly.program.js:sly")).toEqual(["sly.program.js"]);
    expect(await codeOf("./sly.ts:sly")).toEqual(["helper.mjs", "sly.program.js", "sly.ts"]);
  });

  it("can be the code of a worker, and a candidate of a comparison", async () => {
    writeFileSync(
      join(cwd, "cases.jsonl"),
      [1, 2]
        .map(
          (n) =>
            `${JSON.stringify({ worker: "words", input: { paths: [`notes/${n > 1 ? "a" : "b"}.txt`] }, output: { words: n } })}\n`,
        )
        .join(""),
    );
    const args = ["--cases", "cases.jsonl", "--with", "tally.program.js:tally", "--trust", "--live-reads", "--json"];
    const compared = await typed("compare", "words", "words.worker", ...args);
    expect(compared, compared.stderr).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(compared.stdout)).toMatchObject({ candidates: [{ agreement: { count: 2, hits: 2 } }] });
  });

  it("refuses what is no program that ran to its end, one of several without its path, and records from elsewhere", async () => {
    expect((await run("failing.worker")).exitCode).toBe(0);
    expect(await typed("keep", "last", ".", "--as", "other", "--yes")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("no program ran to its end"),
    });
    expect((await run("twice.worker")).exitCode).toBe(0);
    const several = await typed("keep", "last", ".", "--as", "other", "--yes");
    expect(several).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("`twice/1.run_program`") });
    expect(await typed("runs", "export", "last", "--out", "away.json")).toMatchObject({ exitCode: 0 });
    const elsewhere = { cwd, env: { LLM_DO_STATE_DIR: join(parent, "elsewhere") } };
    const imported = await runCli(["runs", "import", "away.json"], elsewhere);
    const foreign = await runCli(["keep", `${imported.stdout.trim()}/twice/0.run_program`, "--as", "other", "--yes"], elsewhere);
    expect(foreign, imported.stderr).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("came from elsewhere") });
    expect(existsSync(join(cwd, "other.program.js"))).toBe(false);
  });

  it("belongs to the program: no approval lets a worker write one", async () => {
    const ran = await run("writer.worker");
    expect(ran.stdout).toContain("belongs to the running program");
    expect(existsSync(join(cwd, "other.program.js"))).toBe(false);
  });
});
