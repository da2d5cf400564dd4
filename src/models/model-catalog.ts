import { getOrMake } from "../util/get-or-make.ts";
import { editDistance } from "../util/text/nearest-names.ts";
import { findPriceTable, isPriced, type ListedPrice, listPrices } from "./prices.ts";
import type { Provider, ProviderEnvironment } from "./provider.ts";
import { matchesModel } from "./providers/compatible-models.ts";

/** A model of the table of listed prices. */
export interface ListedModel {
  /** `provider:name`. */
  readonly id: string;
  readonly price: ListedPrice | undefined;
  /** Tokens that a request and its answer can have together. */
  readonly contextWindow: number | undefined;
}

/**
 * Returns the listed models that fit a pattern: a glob over `provider:name`, or a part of it. In order of their ids. Where it begins with a
 * provider that has no table, and there is an environment, its server is asked. Rejects with a `ModelError` if it does not say.
 */
export async function listModels(
  pattern: string,
  providers: readonly Provider[],
  environment?: ProviderEnvironment,
): Promise<readonly ListedModel[]> {
  const glob = /[*?]/.test(pattern) ? pattern : `*${pattern}*`;
  const named = providers.find(({ name }) => pattern === name || pattern.startsWith(`${name}:`));
  const served = environment ? await named?.listModels?.(environment) : undefined;
  if (named && served) {
    const ids = served.map((name) => `${named.name}:${name}`).sort();
    return ids.filter((id) => matchesModel(glob, id)).map((id) => ({ id, price: undefined, contextWindow: undefined }));
  }
  const tables = await Promise.all(
    providers.map(async ({ name, priceTable }) => {
      const listed = priceTable === undefined ? [] : await findPriceTable(priceTable);
      return listed.map(({ id, contextWindow }) => ({ id: `${name}:${id}`, contextWindow }));
    }),
  );
  const found = tables.flat().filter(({ id }) => matchesModel(glob, id));
  const prices = await listPrices(found.map(({ id }) => id));
  return found.map((model) => ({ ...model, price: prices.get(model.id) })).sort((a, b) => (a.id < b.id ? -1 : 1));
}

const mostKept = 100;
const nearModels = new Map<string, Promise<string | undefined>>();

/**
 * Returns the listed model that a name is probably a misspelling of. Undefined if the name is listed, or differs from a listed one
 * in the numbers alone: a version that is newer than the list. Remembers what it found: the list stays as it is, and workers share models.
 */
export function findNearModel(name: string, priceTable: string): Promise<string | undefined> {
  const key = `${priceTable}:${name}`;
  if (nearModels.size >= mostKept && !nearModels.has(key)) nearModels.clear();
  return getOrMake(nearModels, key, () => lookForNear(name, priceTable));
}

async function lookForNear(name: string, priceTable: string): Promise<string | undefined> {
  const ids = (await findPriceTable(priceTable)).map(({ id }) => id);
  if (ids.includes(name)) return undefined;
  const alike = ids.find((id) => compact(id) === compact(name)) ?? newestWith(name, ids);
  if (alike !== undefined) return alike;
  if (await isPriced(priceTable, name)) return undefined;
  const letters = lettersOf(name);
  const listed = ids.map((id) => ({ id, distance: editDistance(lettersOf(id), letters) }));
  const nearest = Math.min(...listed.map(({ distance }) => distance));
  if (nearest === 0 || nearest > Math.min(2, letters.length / 4)) return undefined;
  const near = listed.filter(({ distance }) => distance === nearest).map(({ id }) => id);
  return near.sort((a, b) => editDistance(a, name) - editDistance(b, name))[0];
}

/** The name without what parts its words: `gpt5` and `gpt-5`, `claude-sonnet-4.5` and `claude-sonnet-4-5` are the same. */
function compact(id: string): string {
  return id.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** The listed model with the highest numbers whose family a name without a number names: `sonnet`. */
function newestWith(name: string, ids: readonly string[]): string | undefined {
  if (!/^[a-z]{4,}$/i.test(name)) return undefined;
  const family = ids.filter((id) =>
    id
      .toLowerCase()
      .split(/[^a-z]+/)
      .includes(name.toLowerCase()),
  );
  const numbersOf = (id: string) => (id.match(/\d+/g) ?? []).filter((digits) => digits.length < 4).map(Number);
  const compare = (a: string, b: string) => {
    const [left, right] = [numbersOf(a), numbersOf(b)];
    return (right[0] ?? 0) - (left[0] ?? 0) || (right[1] ?? 0) - (left[1] ?? 0) || a.length - b.length;
  };
  return family.toSorted(compare)[0];
}

function lettersOf(id: string): string {
  return id.toLowerCase().replace(/[^a-z]/g, "");
}
