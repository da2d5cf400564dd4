import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTerminal } from "../cli/open-terminal.ts";
import { runCli, writeProgram } from "../cli/run-cli.ts";

/** The repository; the program is a folder of it. Nothing but a case itself writes beside them. */
const folder = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-compare-command-")));
const cwd = join(folder, "program");
/** The temporary folder of the command: its copies lie in it. */
const copies = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-compare-copies-")));
const loaded = join(folder, "loaded.txt");
const listing = join(folder, "listing.txt");

const triage = (instructions: string, more = "") =>
  `---\ndescription: Sorts.\ninput: { message: string, note?: attachment }\noutput: { kind(enum): [bug, wish] }\ntoolsets: { filesystem: {} }\n${more}---\n${instructions}\n`;

/** Says `bug` where the message holds the word of words.txt. */
const model = `export default ({ turn, ...request }) => {
  const text = JSON.stringify(request);
  if (text.includes("old way")) return { json: { kind: "wish" } };
  if (turn === 1) return { calls: [{ tool: "read_file", args: { path: "words.txt" } }] };
  return { json: { kind: /m\\d+ it hangs/.test(text) && text.includes("WORD=hangs") ? "bug" : "wish" } };
};
`;

const tools = `import { appendFileSync } from "node:fs";
appendFileSync(${JSON.stringify(loaded)}, "today ");
const kind = (message) => ({ kind: message.includes("hangs") ? "bug" : "wish" });
export const sort = ({ message }) => kind(message);
let waited = 0;
export const slow = ({ message }) => new Promise((resolve) => setTimeout(resolve, waited++ === 0 ? 0 : 6000, kind(message)));
export const half = () => ({ kind: "bug" });
export const misfit = ({ message }) => ({ kind: message.includes("hangs") ? "bug" : "feature" });
export const reads = async ({ message }, runtime) => {
  const text = JSON.stringify(await runtime.call("read_file", { path: "words.txt" }));
  return kind(text.includes("WORD=hangs") ? message : "");
};
export const unrecorded = async ({ message }, runtime) => {
  const text = JSON.stringify(await runtime.call("read_file", { path: "extra.txt" }));
  return kind(text.includes("EXTRA") ? message : "");
};
export const writes = async ({ message }, runtime) => {
  await runtime.call("write_file", { path: "made.txt", content: "made" });
  return kind(message);
};
`;

/** The code of an earlier revision: says which files it lies among. */
const listingTools = `import { readdirSync, writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(listing)}, import.meta.dirname + "\\n" + readdirSync(import.meta.dirname).sort().join(" "));
export const old = ({ message }) => ({ kind: message.includes("hangs") ? "bug" : "wish" });
`;

function git(...args: readonly string[]): string {
  const user = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...user, ...args], { cwd, encoding: "utf8", stdio: "pipe" }).trim();
}

async function commit(tag: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(cwd, path), text);
  git("add", "-A", ".");
  git("commit", "-qm", tag);
  git("tag", tag);
}

beforeAll(async () => {
  await mkdir(cwd);
  execFileSync("git", ["init", "-q", folder]);
  const main = "---\ntoolsets: { triage: {} }\n---\nSort.\n";
  const prose = { "main.worker": main, "triage.worker": triage("Sort it the old way."), "model.mjs": model };
  await commit("prose", { ...prose, "words.txt": "WORD=hangs\n" });
  await commit("code", { "triage.worker": triage("Sort it.", "code: tools.ts:old\n"), "tools.ts": listingTools });
  const other = {
    "bug.mjs": 'export default () => ({ json: { kind: "bug" } });\n',
    "other.worker": triage("Sort it the old way."),
  };
  await commit("today", { "triage.worker": triage("Sort it."), "tools.ts": tools, "extra.txt": "EXTRA\n", ...other });
  const rows = Array.from({ length: 24 }, (_, index) => ({ message: `m${index} ${index % 2 === 0 ? "it hangs" : "please"}` }));
  writeFileSync(join(folder, "rows.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const map = ["map", "triage.worker", "--inputs", "../rows.jsonl", "--model", "scripted:model.mjs", "--approve-all"];
  expect(await runCli(map, { cwd })).toMatchObject({ exitCode: 0 });
  // Today's file is not what the calls saw.
  writeFileSync(join(cwd, "words.txt"), "WORD=changed\n");
}, 120_000);

afterAll(() => {
  for (const path of [folder, copies]) rmSync(path, { recursive: true, force: true });
});

interface Figures {
  readonly name: string;
  readonly agreement: { readonly hits: number; readonly count: number; readonly lower: number };
  readonly leftOut: number;
  readonly failed: number;
  readonly judgement?: { readonly verdict: string };
}

/** Runs the command, and sees that the program is afterwards as it was, and that no copy is left. */
async function compare(...args: readonly string[]) {
  const before = [git("status", "--porcelain", "."), git("diff", ".")];
  const result = await runCli(["compare", "triage", "--model", "scripted:model.mjs", ...args], { cwd, env: { TMPDIR: copies } });
  expect(readdirSync(copies).filter((name) => name.startsWith("llm-do"))).toEqual([]);
  expect([git("status", "--porcelain", "."), git("diff", ".")]).toEqual(before);
  return result;
}

async function figures(...args: readonly string[]): Promise<readonly Figures[]> {
  const { exitCode, stdout, stderr } = await compare(...args, "--json", "--trust");
  expect(exitCode, stderr).toBe(0);
  return (JSON.parse(stdout) as { readonly candidates: readonly Figures[] }).candidates;
}

const hits = (all: readonly Figures[]) => all.map(({ name, agreement: { hits, count } }) => [name, hits, count]);

describe("llm-do compare", { timeout: 120_000 }, () => {
  it("asks a function, a worker file, a model, a revision and today's prompt, with tools answered from the record", async () => {
    const names = ["tools.ts:sort", "tools.ts:reads", "other.worker", "model:scripted:bug.mjs", "git:prose", "git:HEAD"];
    const found = await figures("--again", ...names.flatMap((name) => ["--with", name]));
    expect(hits(found)).toEqual([
      ["today's prompt", 24, 24],
      ["tools.ts:sort", 24, 24],
      ["tools.ts:reads", 24, 24],
      ["other.worker", 12, 24],
      ["model:scripted:bug.mjs", 12, 24],
      ["git:prose", 12, 24],
      ["git:HEAD", 24, 24],
    ]);
    expect(found.map(({ judgement }) => judgement?.verdict)).toEqual([
      ...[undefined, "untold", "untold", "worse", "worse", "worse", "untold"],
    ]);
  });

  it("compares a step with a scope beyond the program's folder by a relative root", async () => {
    const root = await writeProgram({
      "research/a.md": "a",
      "program/triage.worker":
        "---\ninput: { message: string }\noutput: { kind(enum): [bug, wish] }\nsandbox: { paths: { research: { root: ../research } } }\ntoolsets: { filesystem: {} }\n---\nSort it.\n",
      "program/model.mjs": 'export default () => ({ json: { kind: "bug" } });\n',
      "program/tools.ts": 'export const sort = () => ({ kind: "bug" });\n',
      "rows.jsonl": '{"message":"it hangs"}\n',
    });
    const given = { cwd: join(root, "program") };
    const map = ["map", "triage.worker", "--inputs", "../rows.jsonl", "--model", "scripted:model.mjs", "--trust"];
    expect(await runCli(map, given)).toMatchObject({ exitCode: 0 });
    const compared = await runCli(["compare", "triage", "--with", "tools.ts:sort", "--trust"], given);
    expect(compared, compared.stderr).toMatchObject({ exitCode: 0, stderr: "" });
    expect(compared.stdout).toContain("agrees: 1 of 1");
  });

  it("runs the code of a revision among the files of that revision, away from the program", async () => {
    expect(hits(await figures("--with", "git:code", "--last", "3"))).toEqual([["git:code", 3, 3]]);
    const [where = "", files] = readFileSync(listing, "utf8").split("\n");
    expect(where.startsWith(copies)).toBe(true);
    expect(files).toBe("main.worker model.mjs tools.ts triage.worker words.txt");
  });

  it("leaves out cases whose tools the record does not answer, and runs reads alone with --live-reads", async () => {
    const candidates = ["--with", "tools.ts:unrecorded", "--with", "tools.ts:writes"];
    const recorded = await figures(...candidates);
    expect(recorded.map(({ leftOut, agreement }) => [leftOut, agreement.count])).toEqual([
      [24, 0],
      [24, 0],
    ]);
    const live = await figures(...candidates, "--live-reads");
    expect(live.map(({ leftOut, agreement }) => [leftOut, agreement.hits])).toEqual([
      [0, 24],
      [24, 0],
    ]);
    expect(readdirSync(cwd)).not.toContain("made.txt");
  });

  it("exits with 1 where the lower end of an interval misses --at-least", async () => {
    const sort = ["--with", "tools.ts:sort", "--trust", "--at-least"];
    expect((await compare(...sort, "0.8")).exitCode).toBe(0);
    // 24 of 24 is 86.2 to 100 %.
    expect((await compare(...sort, "0.9")).exitCode).toBe(1);
    expect((await compare("--again", "--at-least", "0.9", "--trust")).exitCode).toBe(1);
    expect((await compare("--with", "tools.ts:writes", "--trust", "--at-least", "0.1")).exitCode).toBe(1);
  });

  it("says why a candidate failed, and for which case, in the table, side by side and as JSON", async () => {
    const misfit = ["--with", "tools.ts:misfit", "--trust"];
    const table = await compare(...misfit, "--show", "1");
    // Runs that began in one second have no order.
    expect(table.stdout).toMatch(/\n {4}failed: .*kind.* \(12 times, first case \d+\)\n/);
    expect(table.stdout).toMatch(/case \d+ \(.*\)\n {2}asked: .*please.*\n {2}expected: \{"kind":"wish"\}\n {2}failed: .*kind/);
    const { candidates } = JSON.parse((await compare(...misfit, "--json")).stdout);
    expect(candidates[0].unanswered).toHaveLength(12);
    expect(candidates[0].unanswered[0]).toMatchObject({
      index: expect.any(Number),
      type: "failed",
      reason: expect.stringContaining("kind"),
      input: { message: expect.stringMatching(/^m\d+ please$/) },
    });
  });

  it("writes the cases of disagreements, which can be compared again, and no file over another", async () => {
    const out = join(folder, "review.jsonl");
    const half = ["--with", "tools.ts:half", "--trust", "--out", out];
    const first = await compare(...half);
    expect(first).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("12 cases to review in ") });
    const text = readFileSync(out, "utf8");
    expect(text.match(/please/g)).toHaveLength(12);
    expect(hits(await figures("--with", "tools.ts:half", "--with", "tools.ts:sort", "--cases", out))).toEqual([
      ["tools.ts:half", 0, 12],
      ["tools.ts:sort", 12, 12],
    ]);
    rmSync(loaded, { force: true });
    expect(await compare(...half)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("there is such a file") });
    expect(readFileSync(out, "utf8")).toBe(text);
    // Refused before anything was asked.
    expect(readdirSync(folder)).not.toContain("loaded.txt");
  });

  it.each(["git:--upload-pack=x", "git:-1", "git:", "git:nowhere", "sort"])("refuses %s", async (name) => {
    const result = await compare("--with", name, "--trust");
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toContain(
      name === "git:nowhere" ? "git has no folder program/ at the revision `nowhere`" : "no candidate",
    );
  });

  it("finds a worker that the entry does not reach, and names the file of one that lies deeper", async () => {
    const prose = triage("Sort it.").replace("description: Sorts.", "description: Sorts again.");
    writeFileSync(join(cwd, "alone.worker"), prose);
    await mkdir(join(cwd, "deep"));
    writeFileSync(join(cwd, "deep/under.worker"), prose);
    writeFileSync(join(cwd, "alone.jsonl"), '{"worker":"alone","input":{"message":"m0 it hangs"},"output":{"kind":"bug"}}\n');
    const args = (step: string) => ["compare", step, "--with", "tools.ts:sort", "--cases", "alone.jsonl", "--trust"];
    const found = await runCli(args("alone"), { cwd });
    expect(found, found.stderr).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("agrees: 1 of 1") });
    const under = await runCli(args("under"), { cwd });
    expect(under).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("name the file as the target: `deep/under.worker`"),
    });
    expect((await runCli(args("triagge"), { cwd })).stderr).toContain("did you mean `triage`?");
    for (const name of ["alone.worker", "alone.jsonl", "deep"]) rmSync(join(cwd, name), { recursive: true });
  });

  it.each([
    ["tols.ts:sort", "there is no file `tols.ts` in ", "did you mean `tools.ts`?"],
    ["othr.worker", "there is no file `othr.worker` in ", "did you mean `other.worker`?"],
    ["tools.ts:srt", "tools.ts:srt: ", "sort"],
  ])("names %s as it was typed", async (name, ...said) => {
    const result = await compare("--with", name, "--trust");
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    for (const text of said) expect(result.stderr).toContain(text);
    expect(result.stderr).not.toContain(copies);
  });

  it("refuses a tree whose paths lead out of the copy", async () => {
    const blob = git("hash-object", "-w", "words.txt");
    const entry = (mode: string, name: string, id: string) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
    const tree = (content: Buffer) =>
      execFileSync("git", ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], {
        cwd,
        input: content,
        encoding: "utf8",
      }).trim();
    const evil = tree(entry("40000", "program", tree(entry("40000", "..", tree(entry("100644", "evil.txt", blob))))));
    git("tag", "evil", git("commit-tree", evil, "-m", "evil"));
    const result = await compare("--with", "git:evil", "--trust");
    expect(result).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("a path that git refuses: ../evil.txt") });
  });

  it("shows a bar at a terminal while it works, and takes it back", async () => {
    const options = ["--with", "tools.ts:slow", "--last", "4", "--trust"];
    const terminal = openTerminal(["compare", "triage", ...options], { cwd });
    await terminal.waitFor(/^comparing triage \[[#-]+\] \d of 4$/m);
    expect(await terminal.exitCode, terminal.screen()).toBe(0);
    expect(terminal.screen()).not.toMatch(/comparing|\\u\{/);
  });

  it("runs no code without trust, be it the program's or a revision's, and asks again for a revision that can do more", async () => {
    const clear = () => {
      for (const path of [loaded, listing]) rmSync(path, { force: true });
    };
    const written = () => readdirSync(folder).filter((name) => ["loaded.txt", "listing.txt"].includes(name));
    clear();
    const refused = { exitCode: 2, stderr: expect.stringContaining("runs code: tools.ts") };
    for (const name of ["tools.ts:sort", "git:code"]) expect(await compare("--with", name)).toMatchObject(refused);
    // Git reads nothing in the folder of a program that is not trusted.
    writeFileSync(join(cwd, "triage.worker"), triage("Sort it.", "code: tools.ts:sort\n"));
    expect(await compare("--with", "git:prose")).toMatchObject(refused);
    writeFileSync(join(cwd, "triage.worker"), triage("Sort it."));
    expect(written()).toEqual([]);
    const terminal = openTerminal(["compare", "triage", "--with", "tools.ts:sort", "--last", "2"], { cwd });
    await terminal.waitFor("do not run it");
    terminal.type("always\r");
    expect(await terminal.exitCode, terminal.screen()).toBe(0);
    expect(await compare("--with", "git:HEAD", "--last", "2")).toMatchObject({ exitCode: 0 });
    clear();
    git("checkout", "-q", "-b", "more");
    writeFileSync(join(cwd, "more.ts"), tools);
    await commit("more", { "triage.worker": triage("Sort it.", "code: more.ts:sort\n") });
    git("checkout", "-q", "today", "--", ".");
    rmSync(join(cwd, "more.ts"));
    expect(await compare("--with", "git:more", "--last", "2")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/is trusted, and can do more now than it could then:\n.*more\.ts/),
    });
    expect(written()).toEqual([]);
  });
});
