import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readBlocks } from "../scripts/check-docs.ts";
import { openTerminal } from "./cli/open-terminal.ts";
import { copyExample, runCli, slowScripted, temporaryFolder, writeProgram } from "./cli/run-cli.ts";

/*
 * Pages show what is printed. A block `text printed=NAME` is a part of what the commands of NAME print here; ids of runs, folders, times
 * and counts are compared by their form.
 */

const root = dirname(import.meta.dirname);
const blocks = globSync(["README.md", "docs/*.md"], { cwd: root }).flatMap((page) =>
  readBlocks(readFileSync(join(root, page), "utf8")).map((block) => ({ ...block, place: `${page}:${block.line}` })),
);
const printed = blocks.filter(({ marks }) => marks.has("printed"));

/** Says `yes` four times of five. */
const moody = 'let asked = 0;\nexport default () => (++asked % 5 > 0 ? "yes" : "no");\n';
const saysYes = (source: string) => `cases:\n  - name: says yes\n    input: Now\n${source}    expect: { output: yes }\n`;

/** A folder with the program that `init` makes of the template. */
async function startLetters() {
  const cwd = join(await temporaryFolder(), "desk");
  mkdirSync(cwd);
  const llmDo = async (...args: readonly string[]) => {
    const { stdout, stderr } = await runCli(args, { cwd });
    return stderr + stdout;
  };
  expect(await llmDo("init", "letters", "--template", "letters")).toContain("letters/main.worker");
  const start = ["letters", "--model", "scripted:letters/script.yaml", "--trust", "List the letters"];
  const changePrompt = () => {
    const file = join(cwd, "letters/main.worker");
    const changed = readFileSync(file, "utf8").replace("Read every letter", "Read each letter");
    expect(changed).toContain("Read each letter");
    writeFileSync(file, changed);
  };
  return { cwd, start, llmDo, changePrompt };
}

/** What a terminal and the commands after it print of one run of the template `letters`. */
async function playLetters(): Promise<Readonly<Record<string, string>>> {
  const { cwd, start, llmDo, changePrompt } = await startLetters();
  const terminal = openTerminal(start, { cwd });
  await terminal.waitFor("[?]");
  const question = terminal.screen();
  terminal.type("a\r");
  expect(await terminal.exitCode).toBe(0);
  const list = await llmDo("runs", "list");
  const view = await llmDo("view", "last", "letters", "--no-open");
  const denied = await llmDo("replay", "last", "letters", "--trust", "--deny", "main/write_file(out/*)");
  changePrompt();
  const changed = await llmDo("replay", "last", "letters", "--trust");
  return { question, list, view, "replay-denied": denied, "replay-changed": changed };
}

async function resumeChanged(): Promise<string> {
  const { start, llmDo, changePrompt } = await startLetters();
  await llmDo(...start, "--hold");
  changePrompt();
  return llmDo("resume", "last", "letters", "--trust", "--approve-all");
}

async function drawTui(): Promise<string> {
  const cwd = await copyExample();
  const args = [".", "--model", slowScripted, "--approve-all"];
  const terminal = openTerminal(args, { cwd, columns: 100, isDrawn: true, env: { SLOW_MILLISECONDS: "3000" } });
  await terminal.waitFor(/evaluator#1.*evaluator#2.*evaluator#3.* in \d+ out/s);
  return terminal.screen();
}

async function testMoody(): Promise<string> {
  const worker = "---\ndescription: Says yes.\n---\nSay yes.\n";
  const cwd = await writeProgram({ "main.worker": worker, "main.test.yaml": saysYes(""), "model.mjs": moody });
  return (await runCli(["test", ".", "--live", "--runs", "50", "--model", "scripted:model.mjs", "--trust"], { cwd })).stdout;
}

async function testRecording(): Promise<string> {
  const worker = "---\ndescription: Says yes.\n---\nSay yes.\n";
  const test = saysYes("    recording: yes.jsonl\n");
  const cwd = await writeProgram({ "main.worker": worker, "main.test.yaml": test, "model.yaml": "- reply: yes\n" });
  expect((await runCli(["test", ".", "--record", "--model", "scripted:model.yaml"], { cwd })).exitCode).toBe(0);
  writeFileSync(join(cwd, "main.worker"), worker.replace("Say yes.", "Say yes, always."));
  return (await runCli(["test", "."], { cwd })).stdout;
}

/** The change of the prompt in docs/tested-prompt.md. */
async function testChangedPrompt(): Promise<string> {
  const files = blocks.filter(({ place, marks }) => place.startsWith("docs/tested-prompt.md:") && marks.has("file"));
  const versions = (name: string) => files.filter(({ marks }) => marks.get("file") === name).map(({ text }) => text);
  const [before = "", after = ""] = versions("triage/main.worker");
  const [, recorded = ""] = versions("triage/main.test.yaml");
  const model = versions("triage/model.yaml").join("");
  const cwd = await writeProgram({
    "triage/main.worker": before,
    "triage/main.test.yaml": recorded,
    "triage/model.yaml": model,
  });
  const record = ["test", "triage", "--record", "--model", "scripted:triage/model.yaml"];
  expect((await runCli(record, { cwd })).exitCode).toBe(0);
  writeFileSync(join(cwd, "triage/main.worker"), after);
  return (await runCli(["test", "triage"], { cwd })).stdout;
}

const sources: Readonly<Record<string, () => Promise<Readonly<Record<string, string>>>>> = {
  letters: playLetters,
  "changed prompt": async () => ({ "resume-changed": await resumeChanged() }),
  "terminal UI": async () => ({ tui: await drawTui() }),
  explain: async () => ({ explain: (await runCli(["explain", "examples/pitchdeck_eval"], { cwd: root })).stdout }),
  tests: async () => ({ flaky: await testMoody(), recording: await testRecording() }),
  "changed prompt of a test": async () => ({ "prompt-changed": await testChangedPrompt() }),
};

/** Replaces what differs from run to run by its form. */
function formOf(text: string): string {
  return text
    .replace(/\d{8}-\d{6}-\w{6}/g, "RUN")
    .replace(/(?:~|\/)[\w./-]*?\/runs\/(\w+)-[0-9a-f]{16}/g, "STATE/runs/$1")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "DATE")
    .replace(/\d[\d,.]* m?s\b/g, "N s")
    .replace(/\d[\d,.]*(?= tokens\b| in \d| out\b|% cached)/g, "N")
    .replace(/ {2,}/g, "  ");
}

describe("pages show what is printed", () => {
  const seen = new Set<string>();

  it.each(Object.entries(sources))(
    "of: %s",
    async (_, play) => {
      const texts = Object.entries(await play());
      for (const [name, text] of texts) {
        const shown = printed.filter(({ marks }) => marks.get("printed") === name);
        expect(shown.length, name).toBeGreaterThan(0);
        for (const block of shown) expect(formOf(text), block.place).toContain(formOf(block.text).trimEnd());
        seen.add(name);
      }
    },
    180_000,
  );

  it("and every block of text in them is compared", () => {
    expect(printed.filter(({ marks }) => !seen.has(marks.get("printed") ?? ""))).toEqual([]);
    const checked = ["file", "same", "stdout", "stderr", "printed"];
    // The page of diagnostics is written by a script from samples of the tests.
    const pages = blocks.filter(({ place }) => !place.startsWith("docs/diagnostics.md"));
    const loose = pages.filter(({ language, marks }) => language === "text" && !checked.some((mark) => marks.has(mark)));
    expect(loose.map(({ place }) => place)).toEqual([]);
  });
});
