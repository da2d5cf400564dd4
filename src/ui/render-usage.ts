import type { Usage } from "../protocol/usage.ts";
import { formatCount } from "../util/text/format-count.ts";
import { counted } from "./explain/phrases.ts";

/** In dollars. Smaller sums are errors of rounding. */
const smallestSaving = 1e-9;

/**
 * `7 requests, 12,345 tokens in (1,000 cached), 678 out, $0.0472`; without dollars where a price is not known. What rests on
 * an estimate says so: `678 out, 120 of them estimated, about $0.0472`, and `at least` where something that was billed has no price. Behind it stands what the provider's cache saved, or what writing
 * to it cost.
 */
export function renderUsage(usage: Usage): string {
  const { requests, inputTokens, cachedInputTokens, outputTokens, estimatedTokens = 0, unknownTokens, savedUsd = 0 } = usage;
  const cost = renderCost(usage);
  const estimated = estimatedTokens > 0 ? `, ${formatCount(estimatedTokens)} of them estimated` : "";
  const unknown = unknownTokens === undefined ? "" : `, unknown: up to ${formatCount(unknownTokens)} tokens`;
  const cached = cachedInputTokens > 0 ? ` (${formatCount(cachedInputTokens)} cached)` : "";
  return `${counted(requests, "request")}, ${formatCount(inputTokens)} tokens in${cached}, ${formatCount(outputTokens)} out${estimated}${cost === undefined ? "" : `, ${cost}`}${renderSaved(savedUsd)}${unknown}`;
}

interface Costs {
  readonly usd?: number | undefined;
  readonly usdAtLeast?: true | undefined;
  readonly estimatedTokens?: number | undefined;
}

/** `$0.0472`, `about $0.0472` or `at least $0.0472`; undefined if a price is not known. */
export function renderCost({ usd, usdAtLeast, estimatedTokens = 0 }: Costs): string | undefined {
  if (usd === undefined) return undefined;
  return `${usdAtLeast ? "at least " : estimatedTokens > 0 ? "about " : ""}${dollars(usd)}`;
}

function renderSaved(usd: number): string {
  if (Math.abs(usd) < smallestSaving) return "";
  return ` (the cache ${usd > 0 ? "saved" : "cost"} ${dollars(Math.abs(usd))})`;
}

/** Rounds to the cent; amounts under a dollar to three significant digits, because a cent is much for one request. */
export function dollars(usd: number): string {
  if (usd === 0 || usd >= 1) return `$${usd.toFixed(2)}`;
  const places = Math.min(10, 2 - Math.floor(Math.log10(usd)));
  return `$${usd.toFixed(places).replace(/(\.\d\d.*?)0+$/, "$1")}`;
}
