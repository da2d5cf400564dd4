import type { CatalogueEntry } from "../catalogue-entry.ts";

/** Raised by the collector of diagnostics itself. */
export const generalCodes = {
  "too-many-diagnostics": {
    severity: "hint",
    title: "More mistakes than are shown",
    explanation:
      "Only the first hundred mistakes are shown, errors before warnings. Often many of them have one cause. Mend the first ones and check again.",
  },
} as const satisfies Record<string, CatalogueEntry>;
