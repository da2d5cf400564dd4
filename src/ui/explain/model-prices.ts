/** Prices by a model's id: dollars for a million tokens, and for the most expensive million. */
export type ModelPrices = ReadonlyMap<string, { readonly input: number; readonly output: number; readonly highest: number }>;

/** Returns the highest cost of so many tokens on any of these models; undefined if one of them has no price. */
export function highestCost(
  prices: ModelPrices,
  { models, tokens }: { readonly models: readonly string[]; readonly tokens: number },
): number | undefined {
  const highest = Math.max(...models.map((id) => prices.get(id)?.highest ?? Number.POSITIVE_INFINITY));
  return models.length > 0 && Number.isFinite(highest) ? (tokens * highest) / 1_000_000 : undefined;
}

/** `$3`, `$0.15`, `$22.50`. */
export function dollars(amount: number): string {
  const exact = Number(amount.toFixed(4));
  return `$${Number.isInteger(exact) || exact < 0.1 ? exact : exact.toFixed(2)}`;
}
