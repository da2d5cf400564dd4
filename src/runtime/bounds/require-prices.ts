import { askedTier } from "../../models/asked-tier.ts";
import { type PriceOf, type PriceOverrides, priceTable, unusedPrices } from "../../models/prices.ts";
import type { Program, ToolsetReference, Worker } from "../../program/program.ts";
import type { CallPath } from "../../protocol/call.ts";
import type { RuntimeConfig } from "../config.ts";
import { RunError } from "../run-error.ts";

/**
 * Throws a `RunError`, before anything is spent, if dollars are limited and a model that draws on them has no known price. The
 * refusal is recorded, and repeated by a replayed run.
 */
export async function requirePrices({ program, limits, priceOf, effects }: RuntimeConfig, callPath: CallPath): Promise<void> {
  const key = { callPath, key: "prices" };
  const error = effects.recall("refusal", key)?.error.error ?? (await findUnpriced(program, { limits, priceOf }));
  if (error === undefined) return;
  effects.record({ type: "refusal", ...key, tool: "", error: { type: "limit", error } });
  throw new RunError("configuration", error);
}

async function findUnpriced(
  program: Program,
  { limits, priceOf }: Pick<RuntimeConfig, "limits" | "priceOf">,
): Promise<string | undefined> {
  const workers = [...program.workers.values()];
  const limited = limits.usd === undefined ? workers.filter((worker) => worker.limits.usd !== undefined) : workers;
  const found = await findUnpricedBelow(program, { workers: limited, priceOf });
  return found === undefined ? undefined : `dollars are limited (\`limits.usd\`), and ${found}`;
}

/** Says what these workers, or any that they can call, use without a known price; undefined if all is priced. */
export async function findUnpricedBelow(
  program: Program,
  { workers, priceOf }: { readonly workers: readonly Worker[] } & Pick<RuntimeConfig, "priceOf">,
): Promise<string | undefined> {
  for (const worker of reachedBy(program, workers)) {
    if (!worker.model) continue;
    const { id } = worker.model;
    const price = await priceOf(id);
    const open = price && findUnbounded(worker, price);
    if (open !== undefined) return `${open} of \`${worker.name}\` costs on \`${id}\` is in no table: leave it out, or the limit`;
    if (price && searchesWithoutEnd(worker, price))
      return (
        `each search on \`${id}\` costs, and \`web_search\` of \`${worker.name}\` has no \`max_uses\`: ` +
        "give it one where the provider takes it, or leave the tool or the limit out"
      );
    if (price) continue;
    return (
      `no price is known for \`${id}\`, the model of \`${worker.name}\`: give one with ` +
      `--price '${id}=INPUT,OUTPUT' or \`prices\`, in dollars for a million tokens (the table is of ${priceTable.date})`
    );
  }
  return undefined;
}

/** Names what a worker uses and has no price, in words that go before "of". */
function findUnbounded({ model, serverTools, modelSettings }: Worker, priceOf: PriceOf): string | undefined {
  const nothing = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 };
  for (const { type } of serverTools)
    if (priceOf({ ...nothing, serverTools: [type], webSearches: type === "web_search" ? 1 : 0 }).isAtLeast)
      return `what the server-side tool \`${type}\``;
  const serviceTier = model && askedTier(model.id, modelSettings);
  return priceOf({ ...nothing, serviceTier }).isAtLeast ? `what the service tier \`${serviceTier}\`` : undefined;
}

/** True if one request can make any number of searches, each of which costs. */
function searchesWithoutEnd({ serverTools }: Worker, priceOf: PriceOf): boolean {
  const nothing = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 };
  const isOpen = serverTools.some(({ type, max_uses: uses }) => type === "web_search" && uses === undefined);
  return isOpen && (priceOf({ ...nothing, webSearches: 1 }).usd ?? 0) > (priceOf(nothing).usd ?? 0);
}

/** These workers and all that they can call, themselves or through the code of tools. */
function reachedBy({ callables }: Program, workers: readonly Worker[]): ReadonlySet<Worker> {
  const reached = new Set(workers);
  const names = new Set<string>();
  const add = ({ worker, tools }: ToolsetReference) => {
    if (worker) reached.add(worker());
    for (const { calls = [] } of tools) for (const name of calls) names.add(name);
  };
  for (const worker of reached) {
    worker.toolsets.forEach(add);
    for (const name of names) {
      const callable = callables.get(name);
      if (callable) add(callable);
    }
  }
  return reached;
}

/** Warns of prices that fit no model of the program. */
export function warnOfPrices({ workers }: Program, { prices = {} }: { readonly prices?: PriceOverrides }): readonly string[] {
  const models = [...new Set([...workers.values()].flatMap(({ model }) => model?.id ?? []))];
  const shown = models.map((id) => `\`${id}\``).join(", ") || "none";
  return unusedPrices(prices, models).map((pattern) => `the price of \`${pattern}\` fits no model of the program: ${shown}`);
}
