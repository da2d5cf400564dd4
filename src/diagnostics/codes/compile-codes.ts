import type { CatalogueEntry } from "../catalogue-entry.ts";

/** What is wrong with a program, though each of its files reads well: raised by resolve, check and plan. */
export const compileCodes = {} as const satisfies Record<string, CatalogueEntry>;
