import { didYouMean, quoteNames } from "../util/text/did-you-mean.ts";
import type { ConfigWarning } from "./toolset.ts";

/** Errors for names in a list of a configuration that are no scope of the worker. `path` leads to the list. */
export function unknownScopes(
  names: readonly string[],
  scopes: readonly string[],
  path: readonly (string | number)[],
): readonly ConfigWarning[] {
  return names.flatMap((name, index) => {
    if (scopes.includes(name)) return [];
    const hint = didYouMean(name, scopes) ?? `its scopes: ${quoteNames(scopes) || "none"}`;
    return [{ path: [...path, index], message: `\`${name}\` is no scope of this worker; ${hint}`, isError: true as const }];
  });
}
