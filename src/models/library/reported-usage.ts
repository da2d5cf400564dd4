import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { isRecord } from "../../protocol/json.ts";
import type { ReportedUsage } from "../model.ts";

/** More tokens than any request takes, and more dollars than it costs: such figures are errors. */
const mostTokens = 1_000_000_000;
const mostDollars = 1_000_000;

export interface UsageFacts {
  /** True if `cost` in a usage is what the request cost, in dollars: a number, or a record with the sum as `total_cost`. */
  readonly reportsCost?: boolean;
}

/**
 * Returns the usage that a provider reported, as far as it is possible. No request has 0 tokens of input: servers that do not count
 * report so. A count that is negative, endless or larger than the sum that it belongs to refutes the whole.
 */
export function readUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage, facts: UsageFacts = {}): ReportedUsage {
  const wire: Record<string, unknown> = isRecord(raw) ? raw : {};
  const written = inputTokens.cacheWrite ?? writtenTokens(wire);
  // The library of Cohere takes all input for new.
  const cached = inputTokens.cacheRead ?? numberOf(wire["cached_tokens"]);
  const input = sumOf(inputTokens.total, [cached === inputTokens.cacheRead ? inputTokens.noCache : undefined, cached, written]);
  const output = sumOf(outputTokens.total, []);
  const usd = facts.reportsCost ? readCost(wire) : undefined;
  const longWritten = countIn(wire, "cache_creation", "ephemeral_1h_input_tokens");
  const webSearches = countIn(wire, "server_tool_use", "web_search_requests");
  return {
    requests: 1,
    ...(input ? { inputTokens: input, cachedInputTokens: cached ?? 0 } : {}),
    ...(input && written ? { cacheWriteTokens: written } : {}),
    ...(input && longWritten ? { longCacheWriteTokens: longWritten } : {}),
    ...(webSearches ? { webSearches } : {}),
    ...(output === undefined
      ? {}
      : { outputTokens: output + uncounted(wire, { input, output }), reasoningTokens: outputTokens.reasoning ?? 0 }),
    ...(usd === undefined ? {} : { usd }),
  };
}

/** Returns the usage in an event, or in a body that the library rejected, of any wire format. */
export function findUsage(answer: unknown): LanguageModelV4Usage | undefined {
  if (!isRecord(answer)) return undefined;
  const holders = [answer, memberOf(answer, "message"), memberOf(answer, "response")];
  const usage = holders.map((holder) => holder && memberOf(holder, "usage")).find((found) => found !== undefined);
  return usage && toLibraryUsage(usage);
}

function toLibraryUsage(wire: Record<string, unknown>): LanguageModelV4Usage {
  // Anthropic counts what is cached apart from the other input.
  const apart = [wire["cache_read_input_tokens"], wire["cache_creation_input_tokens"]].map(numberOf);
  const [read = 0, written = 0] = apart;
  const details = memberOf(wire, "input_tokens_details") ?? memberOf(wire, "prompt_tokens_details");
  const fresh = numberOf(wire["input_tokens"] ?? wire["prompt_tokens"]);
  return {
    inputTokens: {
      total: fresh === undefined ? undefined : fresh + read + written,
      noCache: apart.some((tokens) => tokens !== undefined) ? fresh : undefined,
      cacheRead: apart[0] ?? numberOf(details?.["cached_tokens"]),
      cacheWrite: apart[1],
    },
    outputTokens: { total: numberOf(wire["output_tokens"] ?? wire["completion_tokens"]), text: undefined, reasoning: undefined },
    raw: wire as NonNullable<LanguageModelV4Usage["raw"]>,
  };
}

/** The library of chat completions does not read what was written to the cache. */
function writtenTokens(wire: Record<string, unknown>): number | undefined {
  return numberOf(memberOf(wire, "prompt_tokens_details")?.["cache_write_tokens"]);
}

/** Some servers count what a model thinks in the sum alone. */
function uncounted(
  wire: Record<string, unknown>,
  { input, output }: { readonly input: number | undefined; readonly output: number },
): number {
  const total = numberOf(wire["total_tokens"]);
  return input && total !== undefined && isCount(total) ? Math.max(0, total - input - output) : 0;
}

/** With the user's own key at the upstream provider, `cost` is the fee alone; the upstream cost is a member of its own. */
function readCost(wire: Record<string, unknown>): number | undefined {
  const upstream = wire["is_byok"] === true ? memberOf(wire, "cost_details")?.["upstream_inference_cost"] : 0;
  const [cost, more] = [memberOf(wire, "cost")?.["total_cost"] ?? wire["cost"], upstream].map(numberOf);
  return isAmount(cost) && isAmount(more) ? cost + more : undefined;
}

function isAmount(dollars: number | undefined): dollars is number {
  return dollars !== undefined && dollars >= 0 && dollars <= mostDollars;
}

function sumOf(total: number | undefined, parts: readonly (number | undefined)[]): number | undefined {
  const isPossible = [total, ...parts].every((tokens) => tokens === undefined || isCount(tokens));
  return isPossible && total !== undefined && parts.every((part) => (part ?? 0) <= total) ? total : undefined;
}

function isCount(tokens: number): boolean {
  return Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= mostTokens;
}

/** More searches than any answer makes are an error, too. */
function countIn(wire: Record<string, unknown>, member: string, name: string): number | undefined {
  const count = numberOf(memberOf(wire, member)?.[name]);
  return count !== undefined && isCount(count) ? count : undefined;
}

function memberOf(record: Record<string, unknown>, name: string): Record<string, unknown> | undefined {
  const member = record[name];
  return isRecord(member) ? member : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
