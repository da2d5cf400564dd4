/** Aligns the cells of rows; the last cell of a row is not padded. */
export function renderColumns(rows: readonly (readonly string[])[]): string {
  const count = Math.max(0, ...rows.map((row) => row.length - 1));
  const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const renderRow = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return rows.map((row) => `${renderRow(row).trimEnd()}\n`).join("");
}
