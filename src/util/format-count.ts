export function formatCount(count: number): string {
  // The first use of `toLocaleString` takes milliseconds.
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
