import type { Usage } from "../protocol/usage.ts";

/** `7 requests, 12,345 tokens in (1,000 cached), 678 out`. */
export function renderUsage({ requests, inputTokens, cachedInputTokens, outputTokens }: Usage): string {
  const cached = cachedInputTokens > 0 ? ` (${count(cachedInputTokens)} cached)` : "";
  return `${count(requests)} ${requests === 1 ? "request" : "requests"}, ${count(inputTokens)} tokens in${cached}, ${count(outputTokens)} out`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
