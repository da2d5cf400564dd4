import type { Severity } from "./diagnostic.ts";

/** One row of the catalogue. The reference page of diagnostics is made from these. */
export interface CatalogueEntry {
  readonly severity: Severity;
  /** Something that is written has no effect: runs report it, too. Default false. */
  readonly withoutEffect?: true;
  /** The mistake in a few words. */
  readonly title: string;
  /** Two to four sentences: why it is a mistake, and how to mend it. */
  readonly explanation: string;
}
