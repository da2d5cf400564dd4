/**
 * The least and the median of so many rounds, in milliseconds, after one that does not count. What else the machine does
 * counts least in the least.
 */
export async function measure(rounds: number, action: () => Promise<unknown>): Promise<{ least: number; median: number }> {
  await action();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await action();
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return { least: times[0] ?? 0, median: times[Math.floor(rounds / 2)] ?? 0 };
}

/** Rows of a Markdown table. */
export function printRow(...cells: readonly (string | number)[]): void {
  const shown = cells.map((cell) => (typeof cell === "number" ? cell.toFixed(cell < 10 ? 2 : 0) : cell));
  console.log(`| ${shown.join(" | ")} |`);
}
