import { matchesFlatGlob } from "../../util/text/flat-glob.ts";

/**
 * Tells whether a model may be used by a worker that declares `compatible_models`. Globs are flat (`*` is any run of characters,
 * slashes included; `?` is one), compared with the whole `provider:name`, both sides trimmed and in lower case. A glob
 * `provider/name` is read as `provider:name`. A `scripted:` model plays any model.
 */
export function isCompatibleModel(modelId: string, globs: readonly string[]): boolean {
  return normalize(modelId).startsWith("scripted:") || globs.some((glob) => matchesModel(glob, modelId));
}

/** Returns whether a glob matches a model's whole `provider:name`. */
export function matchesModel(glob: string, modelId: string): boolean {
  return matchesFlatGlob(normalize(glob), normalize(modelId));
}

/** As in model ids, `/` after a provider is `:`; after a star it stays what it is. */
function normalize(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^([^:/*?]+)\//, "$1:");
}
