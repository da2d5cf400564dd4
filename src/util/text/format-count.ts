/** Writes a count with commas: `12,345`. Throws a `TypeError` for what is no number, as damaged records have it. */
export function formatCount(count: number): string {
  if (typeof count !== "number") throw new TypeError("a count must be a number");
  // The first use of `toLocaleString` takes milliseconds.
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
