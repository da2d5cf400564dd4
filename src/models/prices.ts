import type { GivenPrice } from "../protocol/fact.ts";
import type { Usage } from "../protocol/usage.ts";
import { getOrMake } from "../util/get-or-make.ts";
import type { Modalities } from "./model.ts";
import type { Provider } from "./provider.ts";
import { matchesModel } from "./providers/compatible-models.ts";
import { builtInProviders, byName } from "./providers/providers.ts";

/** Dollars for a million tokens. */
export type Price = Omit<GivenPrice, "model">;

/** By model: `provider:name`, or a pattern with `*` and `?`. Of several that fit, the last one holds. */
export type PriceOverrides = Readonly<Record<string, Price>>;

/** The billed quantities of one request. */
export interface Billed extends Pick<Usage, "inputTokens" | "outputTokens" | "cachedInputTokens"> {
  readonly cacheWriteTokens?: number;
  /** Price of those `cacheWriteTokens` that stay for an hour. */
  readonly longCacheWriteTokens?: number;
  readonly webSearches?: number;
  readonly modalities?: Modalities | undefined;
  /** The names of all tools that the provider executed. */
  readonly serverTools?: readonly string[];
  readonly serviceTier?: string | undefined;
}

/** The cost of a request in dollars; at least so much, where something has no price. */
export interface Cost {
  readonly usd: number;
  readonly isAtLeast: boolean;
}

/** Returns the cost of a request to one model. */
export type PriceOf = (billed: Billed) => Cost;

type Listing = readonly Pick<Provider, "name" | "priceTable" | "isFree" | "freeTools">[];

/** Returns the price of a model; undefined if it is unknown. */
export type PriceLookup = (modelId: string) => Promise<PriceOf | undefined>;

/** The published prices that a release comes with, and the day that they are of. */
export const priceTable = { source: "@pydantic/genai-prices 0.1.8", date: "2026-09-23" } as const;

/**
 * Looks prices up in the table of each provider, under those that were given. The table loads when a model of a provider that it
 * knows is looked up. Of two providers with one name, the later one counts.
 */
export function createPriceLookup(overrides: PriceOverrides = {}, providers: Listing = builtInProviders): PriceLookup {
  const known = new Map<string, Promise<PriceOf | undefined>>();
  return (modelId) => getOrMake(known, modelId, () => findPrice(modelId, overrides, providers));
}

/** Returns what looks up the context windows of listed models, in tokens. Of two providers with one name, the later one counts. */
export function createWindowLookup(providers: Listing): (modelId: string) => Promise<number | undefined> {
  const known = new Map<string, Promise<number | undefined>>();
  const find = async (modelId: string): Promise<number | undefined> => {
    const { table, name } = listedAs(modelId, providers);
    if (table === undefined) return undefined;
    const { calcPrice } = await import("@pydantic/genai-prices");
    return calcPrice({ input_tokens: 1 }, name, { providerId: table })?.model.context_window;
  };
  return (modelId) => getOrMake(known, modelId, () => find(modelId));
}

/** Dollars for a million tokens in short requests, and for the most expensive million. */
export interface ListedPrice {
  readonly input: number;
  readonly output: number;
  /** Some providers ask more for each token of a long request. */
  readonly highest: number;
}

/** By a model's id, where somebody knows it. */
export async function listPrices(modelIds: readonly string[]): Promise<ReadonlyMap<string, ListedPrice>> {
  const priceOf = createPriceLookup();
  const rows = modelIds.map(async (id): Promise<readonly [string, ListedPrice][]> => {
    const price = await priceOf(id);
    return price ? [[id, listPrice(price)]] : [];
  });
  return new Map((await Promise.all(rows)).flat());
}

function listPrice(price: PriceOf): ListedPrice {
  const of = (inputTokens: number, outputTokens: number) => price({ inputTokens, outputTokens, cachedInputTokens: 0 }).usd;
  const million = 1_000_000;
  const few = million / 1000;
  const highest = Math.max(of(million, 0), of(million, million) - of(million, 0));
  return { input: of(few, 0) * 1000, output: of(0, few) * 1000, highest };
}

/** Throws a `TypeError` for an invalid price. */
export function checkPrices(overrides: PriceOverrides): PriceOverrides {
  for (const [model, price] of Object.entries(overrides)) {
    const { input, output, cachedInput = 0 } = price;
    if ([input, output, cachedInput].every((dollars) => Number.isFinite(dollars) && dollars >= 0)) continue;
    throw new TypeError(
      `the price of \`${model}\` must be { input, output, cachedInput? }, in dollars for a million tokens, 0 or more`,
    );
  }
  return overrides;
}

/** Prices as a record has them: a list keeps their order, which decides between patterns. */
export function toGivenPrices(prices: PriceOverrides): readonly GivenPrice[] {
  return Object.entries(prices).map(([model, { input, output, cachedInput }]) => {
    return { model, input, output, ...(cachedInput === undefined ? {} : { cachedInput }) };
  });
}

/** Recorded prices under those of today. */
export function overPrices(recorded: readonly GivenPrice[] = [], today: PriceOverrides = {}): PriceOverrides {
  const kept = recorded.filter(({ model }) => !Object.hasOwn(today, model));
  return { ...Object.fromEntries(kept.map(({ model, ...price }) => [model, price])), ...today };
}

/** Patterns that fit none of the models. */
export function unusedPrices(overrides: PriceOverrides, modelIds: readonly string[]): readonly string[] {
  return Object.keys(overrides).filter((pattern) => !modelIds.some((id) => matchesModel(pattern, id)));
}

async function findPrice(modelId: string, overrides: PriceOverrides, providers: Listing): Promise<PriceOf | undefined> {
  const given = Object.entries(overrides).findLast(([pattern]) => matchesModel(pattern, modelId));
  const { table, name, provider } = listedAs(modelId, providers);
  const listed = given ? flatPrice(given[1]) : table === undefined ? undefined : await tablePrice(table, name);
  // Ollama serves models of its own cloud, too, under names that say so.
  const isFree = provider?.isFree === true && !/[:-]cloud$/.test(name);
  if (!listed) return isFree ? () => ({ usd: 0, isAtLeast: false }) : undefined;
  return (billed) => {
    const { usd, unlisted } = listed(billed);
    const isPaid = (tool: string) => tool !== "web_search" && !provider?.freeTools?.some((one) => one === tool);
    const { share, isUsual } = tierOf(billed.serviceTier);
    return { usd: usd * share, isAtLeast: unlisted || !isUsual || (billed.serverTools ?? []).some(isPaid) };
  };
}

/** Words of providers for a tier that is billed as listed. */
const usualTiers = /^(auto|default|standard|standard_only|on_demand|unspecified)?$/i;

/** Tiers that can wait cost half as much at OpenAI and Google, and elsewhere no less. */
function tierOf(tier = ""): { readonly share: number; readonly isUsual: boolean } {
  return { share: /flex|batch/i.test(tier) ? 0.5 : 1, isUsual: usualTiers.test(tier) };
}

/** `unlisted`: a part of what was billed has no price. */
type Listed = (billed: Billed) => { readonly usd: number; readonly unlisted: boolean };

/** The table that a model's provider has, and the model's name in it. */
function listedAs(modelId: string, providers: Listing) {
  const split = modelId.indexOf(":");
  const provider = byName(providers).get(modelId.slice(0, split).toLowerCase());
  return { provider, table: provider?.priceTable, name: modelId.slice(split + 1) };
}

/** Returns the models of a provider's table; none of an unknown table. */
export async function findPriceTable(
  providerId: string,
): Promise<readonly { readonly id: string; readonly contextWindow: number | undefined }[]> {
  const { findProvider } = await import("@pydantic/genai-prices");
  const { models } = findProvider({ providerId }) ?? { models: [] };
  return models.map(({ id, context_window: contextWindow }) => ({ id, contextWindow }));
}

/** Returns true if a provider's table has a price for the model. */
export async function isPriced(providerId: string, model: string): Promise<boolean> {
  return (await tablePrice(providerId, model)) !== undefined;
}

function flatPrice({ input, output, cachedInput = input }: Price): Listed {
  return ({ inputTokens, outputTokens, cachedInputTokens, webSearches = 0 }) => {
    const fresh = inputTokens - cachedInputTokens;
    const usd = (fresh * input + cachedInputTokens * cachedInput + outputTokens * output) / 1_000_000;
    return { usd, unlisted: webSearches > 0 };
  };
}

/** The table's own name for a kind of tokens, and for their price. */
const listedKinds = {
  audioInput: ["input_audio_tokens", "input_audio_mtok"],
  audioOutput: ["output_audio_tokens", "output_audio_mtok"],
  imageOutput: ["output_image_tokens", "output_image_mtok"],
  videoOutput: ["output_video_tokens", "output_video_mtok"],
} as const;
const kinds = Object.keys(listedKinds) as (keyof Modalities)[];

async function tablePrice(providerId: string, model: string): Promise<Listed | undefined> {
  const { calcPrice } = await import("@pydantic/genai-prices");
  const costOf = ({ inputTokens, outputTokens, webSearches = 0, modalities = {}, ...billed }: Billed) => {
    // The table takes no more cached tokens than there are, and no counts of 0.
    const cached = Math.min(billed.cachedInputTokens, inputTokens);
    const written = Math.min(billed.cacheWriteTokens ?? 0, inputTokens - cached);
    const longWritten = Math.min(billed.longCacheWriteTokens ?? 0, written);
    const usage = {
      ...{ input_tokens: inputTokens, output_tokens: outputTokens, cache_read_tokens: cached },
      ...(written > 0 ? { cache_write_tokens: written } : {}),
      ...(longWritten > 0 ? { cache_write_1h_tokens: longWritten } : {}),
      ...(webSearches > 0 ? { web_searches: webSearches } : {}),
      ...Object.fromEntries(kinds.filter((kind) => modalities[kind]).map((kind) => [listedKinds[kind][0], modalities[kind]])),
    };
    const found = calcPrice(usage, model, { providerId });
    if (!found) return undefined;
    const prices: object = found.model_price;
    const isListed = (name: string) => name in prices;
    const unlisted =
      (webSearches > 0 && !isListed("web_searches_kcount")) ||
      kinds.some((kind) => modalities[kind] && !isListed(listedKinds[kind][1]));
    return { usd: found.total_price, unlisted };
  };
  if (costOf({ inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 }) === undefined) return undefined;
  return (billed) => costOf(billed) ?? { usd: 0, unlisted: true };
}
