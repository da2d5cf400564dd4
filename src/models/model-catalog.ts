import { matchesModel } from "./compatible-models.ts";
import { findPriceTable, type ListedPrice, listPrices } from "./prices.ts";
import type { Provider } from "./provider.ts";

/** A model of the table of listed prices. */
export interface ListedModel {
  /** `provider:name`. */
  readonly id: string;
  readonly price: ListedPrice | undefined;
  /** Tokens that a request and its answer can have together. */
  readonly contextWindow: number | undefined;
}

/** Returns the listed models that fit a pattern: a glob over `provider:name`, or a part of it. In order of their ids. */
export async function listModels(pattern: string, providers: readonly Provider[]): Promise<readonly ListedModel[]> {
  const glob = /[*?]/.test(pattern) ? pattern : `*${pattern}*`;
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
