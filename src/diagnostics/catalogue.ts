import { getOwn } from "../util/get-own.ts";
import type { CatalogueEntry } from "./catalogue-entry.ts";
import { boundaryCodes } from "./codes/boundary-codes.ts";
import { compileCodes } from "./codes/compile-codes.ts";
import { generalCodes } from "./codes/general-codes.ts";
import { languageCodes } from "./codes/language-codes.ts";
import { moduleCodes } from "./codes/module-codes.ts";

/** Every diagnostic there is, by its code. A new one is a row in the table of its room. */
export const catalogue = {
  ...languageCodes,
  ...compileCodes,
  ...boundaryCodes,
  ...moduleCodes,
  ...generalCodes,
} satisfies Record<string, CatalogueEntry>;

export type DiagnosticCode = keyof typeof catalogue;

/** Returns true if the diagnostic is about something that is written and has no effect. */
export function isWithoutEffect({ code }: { readonly code: string }): boolean {
  const entry: CatalogueEntry | undefined = getOwn(catalogue, code);
  return entry?.withoutEffect === true;
}
