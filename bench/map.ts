// Rows of `llm-do map`: `node bench/map.ts [ROWS…]` (uses `dist/`: build first). Prints rows a second, and the memory of the process as it goes on.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printRow } from "./timing.ts";

const given = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
writeFileSync(join(folder, "llm-do.yaml"), "name: tickets\n");
writeFileSync(join(folder, "main.worker"), "---\nmodel: scripted:s.yaml\ninput: { subject: string }\n---\nSort: {{ subject }}\n");
writeFileSync(join(folder, "s.yaml"), `- reply: ${"an answer ".repeat(20)}\n`);

/** Resident memory of a process, in MB; undefined for one that has ended. */
function memoryOf(pid: number | undefined): number | undefined {
  const status = `/proc/${pid}/status`;
  const [, kilobytes] = (existsSync(status) && /VmRSS:\s+(\d+)/.exec(readFileSync(status, "utf8"))) || [];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

async function measure(rows: number): Promise<void> {
  const [inputs, out] = [join(folder, `${rows}.jsonl`), join(folder, `${rows}.out.jsonl`)];
  writeFileSync(inputs, Array.from({ length: rows }, (_, row) => `${JSON.stringify({ subject: `ticket ${row}` })}\n`).join(""));
  const line = [join(import.meta.dirname, "../bin/llm-do.js"), "map", folder, "--inputs", inputs, "--out", out, "--trust", "-q"];
  const env = { ...process.env, LLM_DO_STATE_DIR: join(folder, `state-${rows}`) };
  const start = performance.now();
  const child = spawn(process.execPath, line, { env, stdio: ["ignore", "inherit", "inherit"] });
  const seen: { readonly bytes: number; readonly memory: number }[] = [];
  const timer = setInterval(() => {
    const bytes = statSync(out, { throwIfNoEntry: false })?.size ?? 0;
    const memory = memoryOf(child.pid);
    if (memory !== undefined) seen.push({ bytes, memory });
  }, 100);
  const code = await new Promise((resolve) => child.once("exit", resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`map ended with ${String(code)}`);
  const seconds = (performance.now() - start) / 1000;
  const whole = statSync(out).size;
  const after = (share: number) => Math.round(seen.find(({ bytes }) => bytes >= whole * share)?.memory ?? 0);
  const figures = [rows, Math.round(rows / seconds), ...[0.1, 0.25, 0.5, 0.75].map(after), Math.round(seen.at(-1)?.memory ?? 0)];
  printRow(...figures.map(String));
}

try {
  printRow("rows", "rows a second", "MB after a tenth", "a quarter", "half", "three quarters", "at the end");
  for (const rows of given.length > 0 ? given : [1000, 10_000]) await measure(rows);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
