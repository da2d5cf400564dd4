/** The least of so many rounds, in milliseconds, after one that does not count: what else the machine does counts least in it. */
export async function measure(rounds: number, action: () => Promise<unknown>): Promise<number> {
  await action();
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await action();
    least = Math.min(least, performance.now() - began);
  }
  return least;
}

/** Rows of a Markdown table. */
export function printRow(...cells: readonly (string | number)[]): void {
  const shown = cells.map((cell) => (typeof cell === "number" ? cell.toFixed(cell < 10 ? 2 : 0) : cell));
  console.log(`| ${shown.join(" | ")} |`);
}
