import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

if (process.env["LLM_DO_STATE_DIR"] === undefined) {
  // Records of runs do not land among the user's.
  const state = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
  process.env["LLM_DO_STATE_DIR"] = state;
  process.on("exit", () => rmSync(state, { recursive: true, force: true }));
}

/** Milliseconds that the rounds of one figure take, but for the first three. */
const most = 2000;

/**
 * The least and the median of so many rounds, in milliseconds, after one that does not count; of fewer where they take more than two
 * seconds, and of three at least. What else the machine does counts least in the least.
 */
export async function measure(rounds: number, action: () => Promise<unknown>): Promise<{ least: number; median: number }> {
  await action();
  const times: number[] = [];
  const end = performance.now() + most;
  for (let round = 0; round < rounds && (round < 3 || performance.now() < end); round++) {
    const began = performance.now();
    await action();
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return { least: times[0] ?? 0, median: times[Math.floor(times.length / 2)] ?? 0 };
}

/** Rows of a Markdown table. */
export function printRow(...cells: readonly (string | number)[]): void {
  const shown = cells.map((cell) => (typeof cell === "number" ? cell.toFixed(cell < 10 ? 2 : 0) : cell));
  console.log(`| ${shown.join(" | ")} |`);
}
