/**
 * What a provider's headers ask for, in milliseconds. A date is taken against the answer's own `date`: the clocks of two
 * machines differ.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>): number | undefined {
  const exact = readNumber(headers["retry-after-ms"]);
  if (exact !== undefined) return exact;
  const after = headers["retry-after"];
  if (after === undefined) return undefined;
  const seconds = readNumber(after);
  if (seconds !== undefined) return Math.round(seconds * 1000);
  const milliseconds = Date.parse(after) - Date.parse(headers["date"] ?? "");
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined;
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
