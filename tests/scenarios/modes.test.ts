import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { type ApprovalDecision, type ApprovalPolicy, RunError, run } from "../../src/index.ts";
import type { JournalEntry } from "../../src/protocol/fact.ts";
import { openTerminal } from "../cli/open-terminal.ts";
import { runCli, writeProgram } from "../cli/run-cli.ts";
import { cliRuns, readJournal } from "../records.ts";

/** One program in every mode of the product: `main` calls `a`, it calls `b`, it calls `c`, and `c`, at depth 3, wants to write. */
const caller = (callee: string) =>
  `---\ndescription: Passes it on.\ntoolsets: { ${callee}: { _approval_config: { ${callee}: { pre_approved: true } } } }\n---\nPass it on.\n`;
const files = {
  "main.worker": caller("a"),
  "a.worker": caller("b"),
  "b.worker": caller("c"),
  "c.worker":
    "---\ndescription: Writes.\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { filesystem: {} }\n---\nWrite.\n",
  "model.mjs": `
    const next = { main: "a", a: "b", b: "c" };
    export default ({ worker, turn, toolResults }) => {
      const callee = next[worker];
      const write = { tool: "write_file", args: { path: "out/report.md", content: "written at depth 3\\n" } };
      if (turn === 1) return { calls: [callee ? { tool: callee, args: { input: "go" } } : write] };
      const [{ result }] = toolResults();
      if (!result.ok) return result.error.type;
      return callee ? String(result.value) : "written";
    };`,
};

interface Outcome {
  readonly exitCode: number;
  /** Output of the entry; undefined where the run ended without one. */
  readonly said?: string;
}

interface Mode {
  readonly name: string;
  readonly play: (cwd: string) => Promise<Outcome>;
  readonly expected: Outcome;
  /** By whom, and what: empty where nothing was decided. */
  readonly decision: string;
}

const args = (cwd: string) => [".", "go", "--model", `scripted:${join(cwd, "model.mjs")}`];

/** At a terminal; where no key is given, nothing may be asked. `redirect` is shell text after the command, `before` in front of it. */
function atTerminal(key: string | undefined, { before = "", redirect = "", flags = "" } = {}): Mode["play"] {
  return async (cwd) => {
    const model = `scripted:${join(cwd, "model.mjs")}`;
    const command = `${before} $LLM_DO . go --model '${model}' ${flags} ${redirect}; code=$?; echo "exit $code"; exit $code`;
    const terminal = openTerminal([], { cwd, command });
    if (key !== undefined) {
      await terminal.waitFor("Approval 1 of 1: c wants to call write_file");
      await terminal.waitFor("Call: main > a#0 > b#0 > c#0 > write_file#0");
      await terminal.waitFor("[?]\n>");
      terminal.type(`${key}\r`);
    }
    const exitCode = await terminal.exitCode;
    const screen = terminal.screen();
    if (key === undefined) expect(screen).not.toContain("Approval 1");
    const stdout = redirect.includes("> stdout") ? await readFile(join(cwd, "stdout"), "utf8") : screen;
    const said = /"output":"(\w+)"/.exec(stdout)?.[1] ?? /^(written|denied)$/m.exec(stdout)?.[1];
    return { exitCode, ...(said === undefined ? {} : { said }) };
  };
}

function piped(...flags: string[]): Mode["play"] {
  return async (cwd) => {
    const { exitCode, stdout } = await runCli([...args(cwd), ...flags], { cwd, input: "a\n".repeat(1000) });
    return { exitCode: exitCode ?? -1, ...(stdout === "" ? {} : { said: stdout.trim() }) };
  };
}

function json(...flags: string[]): Mode["play"] {
  return async (cwd) => {
    const { exitCode, stdout } = await runCli([...args(cwd), "--json", ...flags], { cwd, input: "a\n".repeat(1000) });
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ v: 1, exitCode });
    return { exitCode: exitCode ?? -1, ...(result.output === null ? {} : { said: result.output }) };
  };
}

/** The library has no exit codes: 0 for a result, and otherwise what the command line makes of the same failure. */
function library(approval: ApprovalPolicy): Mode["play"] {
  return async (cwd) => {
    try {
      const host = createNodeHost({ environment: { ...process.env, LLM_DO_STATE_DIR: join(cwd, "../state") } });
      const model = `scripted:${join(cwd, "model.mjs")}`;
      const { output, denied } = await run({ target: cwd, model, input: "go", approval, host });
      return { exitCode: denied.some(({ source }) => source === "nobody") ? 4 : 0, said: String(output) };
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(RunError);
      const { code, run: failed } = thrown as RunError;
      expect(code).toBe("denied");
      return { exitCode: failed?.denied.some(({ source }) => source === "nobody") ? 4 : 5 };
    }
  };
}

const answering = (decision: ApprovalDecision): ApprovalPolicy => ({ mode: "prompt", approver: async () => decision });

const written: Outcome = { exitCode: 0, said: "written" };
const denied: Outcome = { exitCode: 0, said: "denied" };
const needed: Outcome = { exitCode: 4, said: "denied" };
const stopped: Outcome = { exitCode: 5 };

const modes: readonly Mode[] = [
  { name: "terminal, approved", play: atTerminal("a"), expected: written, decision: "approve by person" },
  { name: "terminal, denied", play: atTerminal("d no"), expected: denied, decision: "deny by person" },
  { name: "terminal, stopped", play: atTerminal("s"), expected: stopped, decision: "stop by person" },
  {
    name: "terminal, denied, --on-denied stop",
    play: atTerminal("d", { flags: "--on-denied stop" }),
    expected: stopped,
    decision: "deny by person",
  },
  {
    name: "terminal, --headless",
    play: atTerminal(undefined, { flags: "--headless" }),
    expected: needed,
    decision: "deny by nobody",
  },
  {
    name: "terminal, stdout redirected",
    play: atTerminal("a", { redirect: "> stdout" }),
    expected: written,
    decision: "approve by person",
  },
  {
    name: "terminal, stdout redirected, --json",
    play: atTerminal("d", { redirect: "> stdout", flags: "--json" }),
    expected: denied,
    decision: "deny by person",
  },
  {
    name: "terminal, stdin is a pipe",
    play: atTerminal("a", { before: "yes d |" }),
    expected: written,
    decision: "approve by person",
  },
  {
    name: "stderr is a terminal that does not control the process",
    play: atTerminal(undefined, { before: "yes a | setsid --wait" }),
    expected: needed,
    decision: "deny by nobody",
  },
  {
    name: "terminal, stderr redirected",
    play: atTerminal("a", { redirect: "2> stderr" }),
    expected: written,
    decision: "approve by person",
  },
  { name: "piped", play: piped(), expected: needed, decision: "deny by nobody" },
  { name: "piped, --on-denied stop", play: piped("--on-denied", "stop"), expected: { exitCode: 4 }, decision: "deny by nobody" },
  { name: "piped, --reject-all", play: piped("--reject-all"), expected: denied, decision: "deny by reject_all" },
  {
    name: "piped, --reject-all, --on-denied stop",
    play: piped("--reject-all", "--on-denied", "stop"),
    expected: stopped,
    decision: "deny by reject_all",
  },
  { name: "piped, --approve-all", play: piped("--approve-all"), expected: written, decision: "approve by approve_all" },
  { name: "--json", play: json(), expected: needed, decision: "deny by nobody" },
  { name: "--json, --on-denied stop", play: json("--on-denied", "stop"), expected: { exitCode: 4 }, decision: "deny by nobody" },
  { name: "--json, --approve-all", play: json("--approve-all"), expected: written, decision: "approve by approve_all" },
  {
    name: "library, callback approves",
    play: library(answering({ type: "approve" })),
    expected: written,
    decision: "approve by person",
  },
  { name: "library, callback denies", play: library(answering({ type: "deny" })), expected: denied, decision: "deny by person" },
  { name: "library, callback stops", play: library(answering({ type: "stop" })), expected: stopped, decision: "stop by person" },
  {
    name: "library, callback answers true",
    play: library(answering(true as never)),
    expected: denied,
    decision: "deny by error",
  },
  { name: "library, no callback", play: library({ mode: "prompt" }), expected: needed, decision: "deny by nobody" },
  {
    name: "library, no callback, onDenied stop",
    play: library({ mode: "prompt", onDenied: "stop" }),
    expected: { exitCode: 4 },
    decision: "deny by nobody",
  },
];

async function journalOf(cwd: string): Promise<readonly JournalEntry[]> {
  const [id = "", ...others] = (await readdir(cliRuns(cwd))).filter((name) => /^\d/.test(name));
  expect(others).toEqual([]);
  const { entries, torn } = await readJournal(createNodeHost(), join(cliRuns(cwd), id));
  expect([torn, entries.at(-1)?.type]).toEqual([false, "run-end"]);
  return entries;
}

function verdictsOf(entries: readonly JournalEntry[]) {
  return entries.flatMap((entry) => {
    if (entry.type !== "verdict") return [];
    const { callPath, tool, args: given, verdict } = entry;
    return [{ callPath, tool, args: given, verdict }];
  });
}

/** Outcome in every mode: three pre-approved calls, and the write at depth 3, which asks. */
const callPaths = ["main/0.a", "main/0.a/0.b", "main/0.a/0.b/0.c", "main/0.a/0.b/0.c/0.write_file"];
let common: ReturnType<typeof verdictsOf> | undefined;

describe("the same write of a worker three deep", { timeout: 30_000 }, () => {
  test.each(modes)("$name", async ({ play, expected, decision }) => {
    const cwd = await writeProgram(files);
    expect(await play(cwd)).toEqual(expected);

    const entries = await journalOf(cwd);
    const verdicts = verdictsOf(entries);
    common ??= verdicts;
    expect(verdicts).toEqual(common);
    expect(verdicts.map(({ callPath }) => callPath)).toEqual(callPaths);
    expect(verdicts.map(({ verdict }) => verdict.type)).toEqual(["allowed", "allowed", "allowed", "ask"]);

    const decisions = entries.flatMap((entry) =>
      entry.type === "decision" ? [`${entry.decision.type} by ${entry.source}`] : [],
    );
    expect(decisions).toEqual([decision]);
    const isWritten = decision.startsWith("approve");
    const content = await readFile(join(cwd, "out/report.md"), "utf8").catch(() => undefined);
    expect(content).toBe(isWritten ? "written at depth 3\n" : undefined);
    expect(entries.at(-1)).toMatchObject({ denied: isWritten ? 0 : 1 });
    const granted = entries.some((entry) => entry.type === "grant" && entry.callPath === callPaths[3]);
    expect(granted).toBe(isWritten);
  });
});
