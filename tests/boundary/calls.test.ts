import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin } from "../cli/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "llm-do-calls-"));
const state = join(folder, "state");

function llmDo(args: readonly string[], cwd = join(folder, "triage")) {
  const env = { PATH: process.env["PATH"] ?? "", LLM_DO_STATE_DIR: state, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd, encoding: "utf8", env });
  return { status, stdout, stderr };
}

function linesOf(text: string): Record<string, unknown>[] {
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

const worker = () =>
  `---\ndescription: Sorts a message.\ninput: { message: string, note?: attachment }\noutput: { kind(enum): [bug, wish] }\n---\nSort it.\n`;

beforeAll(() => {
  cpSync(join(import.meta.dirname, "fixtures/triage"), join(folder, "triage"), { recursive: true });
  writeFileSync(join(folder, "triage/triage.worker"), worker());
  writeFileSync(join(folder, "triage/main.worker"), "---\ntoolsets: { triage: {} }\n---\nSort.\n");
  for (const message of ["it hangs", "please add", "it hangs", "fail"])
    llmDo(["triage.worker", "--model", "scripted:script.mjs", "-i", `message=${message}`, "-a", "note.txt"]);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("llm-do calls", () => {
  it("shows the calls of a worker, newest first, without those that teach nothing", () => {
    const { status, stdout } = llmDo(["calls", "triage"]);
    expect(status).toBe(0);
    expect(stdout.match(/->/g)).toHaveLength(2);
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}by prompt {2}\S+ {2}\d+(?:\.\d)? m?s {2}\S+\/triage\n {2}.*it hangs/);
    expect(stdout).toMatch(/\n2 calls, 0 by code, /);
  });

  it("shows all with their marks, and takes filters", () => {
    const all = linesOf(llmDo(["calls", "triage", "--all", "--json"]).stdout);
    expect(all.map(({ marks }) => marks)).toEqual([["failed"], [], [], ["repeated"]]);
    expect(linesOf(llmDo(["calls", "triage", "--outcome", "failed", "--json"]).stdout)).toHaveLength(1);
    expect(linesOf(llmDo(["calls", "triage", "--last", "1", "--json"]).stdout)).toMatchObject([
      { input: { message: "it hangs" } },
    ]);
    const [run = ""] = String(all[2]?.["from"]).split("/");
    expect(linesOf(llmDo(["calls", "triage", "--run", run, "--json"]).stdout)).toMatchObject([
      { input: { message: "please add" } },
    ]);
    expect(llmDo(["calls", "triage", "--model", "openai:"]).stdout).toBe("");
  });

  it("writes a case file, with the files of the calls beside it", () => {
    expect(llmDo(["calls", "triage", "--out", "x.cases.jsonl"])).toEqual({
      ...{ status: 0, stdout: "", stderr: "llm-do: 2 cases in x.cases.jsonl\n" },
    });
    const cases = linesOf(readFileSync(join(folder, "triage/x.cases.jsonl"), "utf8"));
    expect(cases).toMatchObject([
      { worker: "triage", output: { kind: "bug" }, files: [{ name: "note.txt" }] },
      { worker: "triage", output: { kind: "wish" } },
    ]);
    const [digest = ""] = readdirSync(join(folder, "triage/x.cases.jsonl.files"));
    expect(readFileSync(join(folder, "triage/x.cases.jsonl.files", digest), "utf8")).toBe("A note.\n");
    expect(readdirSync(join(folder, "triage")).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  it("says what there is where there is nothing, and writes no file", () => {
    expect(llmDo(["calls", "triag"]).stderr).toContain("did you mean `triage`?");
    expect(llmDo(["calls", "triage", "--since", "2999-01-01", "--out", "none.jsonl"]).stderr).toContain("--all shows those");
    expect(existsSync(join(folder, "triage/none.jsonl"))).toBe(false);
    expect(llmDo(["calls", "triage"], folder)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("is in no program: go into"),
    });
    expect(llmDo(["calls", "triage", "--out", "x.json"])).toMatchObject({ status: 2 });
  });

  it("says which calls code answered", () => {
    const text = worker().replace("---\nSort it.", "code: tools.ts:sort\n---\nSort it.");
    writeFileSync(join(folder, "triage/triage.worker"), text);
    writeFileSync(join(folder, "triage/tools.ts"), 'export const sort = () => ({ kind: "bug" });\n');
    llmDo(["triage.worker", "--model", "scripted:script.mjs", "-i", "message=by code", "--trust"]);
    expect(linesOf(llmDo(["calls", "triage", "--by", "code", "--json"]).stdout)).toMatchObject([
      { input: { message: "by code" }, by: "code" },
    ]);
    expect(llmDo(["runs", "show", "last"]).stdout).toContain("triage > code answers\n");
    writeFileSync(join(folder, "triage/triage.worker"), worker());
  });

  it("leaves out runs that cannot be read, and names them", () => {
    const [program = ""] = readdirSync(join(state, "runs"));
    const [run = ""] = readdirSync(join(state, "runs", program)).filter((name) => /^\d{8}-/.test(name));
    const journal = join(state, "runs", program, run, "journal.jsonl");
    const text = readFileSync(journal, "utf8");
    writeFileSync(journal, text.replace(/\n\{/, "\nnot json {"));
    expect(llmDo(["calls", "triage", "--all", "--json"])).toMatchObject({ status: 0, stderr: expect.stringContaining(run) });
    writeFileSync(journal, text);
  });

  it("holds secrets as tokens, and leaves them out of case files", () => {
    const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    llmDo(["triage.worker", "--model", "scripted:script.mjs", "-i", `message=it hangs with ${secret}`]);
    const { stdout } = llmDo(["calls", "triage", "--all", "--json"]);
    expect(stdout).not.toContain(secret);
    expect(linesOf(stdout)[0]?.["marks"]).toContain("secret");
    llmDo(["calls", "triage", "--all", "--out", "all.jsonl"]);
    expect(readFileSync(join(folder, "triage/all.jsonl"), "utf8")).not.toContain("secret:");
  });
});
