// How long `llm-do runs list .` takes with 100 and with 10,000 runs: `node bench/run-list.ts` (of `dist/`: build first).
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { printRow } from "./timing.ts";

const folder = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
const command = join(import.meta.dirname, "../bin/llm-do.js");
const worker = "---\nmodel: scripted:s.yaml\ninput: { input?: string }\n---\nAnswer.\n";

/** Runs a command of a program, whose state folder lies beside it. */
function llmDo(cwd: string, ...args: readonly string[]): void {
  const env = { ...process.env, LLM_DO_STATE_DIR: join(dirname(cwd), "state") };
  execFileSync(process.execPath, [command, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
}

/** A program with so many records, copies of one. */
function programWith(runs: number): string {
  const cwd = join(folder, String(runs), "program");
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "main.worker"), worker);
  writeFileSync(join(cwd, "s.yaml"), `- reply: ${"an answer ".repeat(20)}\n`);
  llmDo(cwd, ".", "a prompt of a usual length, such as this one is");
  const state = join(cwd, "../state/runs");
  const records = join(state, readdirSync(state)[0] ?? "");
  const id = readdirSync(records).find((name) => /^\d/.test(name)) ?? "";
  const journal = readFileSync(join(records, id, "journal.jsonl"), "utf8");
  for (let number = 1; number < runs; number++) {
    const copy = `${id.slice(0, -6)}${number.toString(36).padStart(6, "0")}`;
    mkdirSync(join(records, copy), { mode: 0o700 });
    writeFileSync(join(records, copy, "journal.jsonl"), journal.replaceAll(id, copy));
  }
  return cwd;
}

const sizes = [100, 10_000];
const programs = sizes.map(programWith);
const timeOf = (cwd: string) => {
  const began = performance.now();
  llmDo(cwd, "runs", "list", ".");
  return performance.now() - began;
};
const anew = programs.map(timeOf);
const rounds = Array.from({ length: 15 }, () => programs.map(timeOf));
printRow("runs", "least, ms", "median, ms", "index made anew, ms");
printRow("---", "---", "---", "---");
const medians = sizes.map((size, at) => {
  const times = rounds.map((round) => round[at] ?? 0).sort((a, b) => a - b);
  printRow(size.toLocaleString("en-US"), times[0] ?? 0, times[7] ?? 0, anew[at] ?? 0);
  return times[7] ?? 0;
});
console.log(`10,000 take ${((medians[1] ?? 0) / (medians[0] ?? 1)).toFixed(2)} times as long as 100 (bar: 1.5)`);
rmSync(folder, { recursive: true });
