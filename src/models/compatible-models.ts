/**
 * Whether a model may be used by a worker that declares `compatible_models`. Globs are flat (`*` is any run of characters,
 * slashes included; `?` is one), compared with the whole `provider:name`, both sides trimmed and in lower case. A glob
 * `provider/name` is read as `provider:name`. A `scripted:` model plays any model.
 */
export function isCompatibleModel(modelId: string, globs: readonly string[]): boolean {
  const id = normalize(modelId);
  return id.startsWith("scripted:") || globs.some((glob) => matchesGlob(normalize(glob), id));
}

/** As in model ids, `/` after a provider is `:`; after a star it stays what it is. */
function normalize(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^([^:/*?]+)\//, "$1:");
}

/** Goes back only to the last star, so that no glob takes long. */
function matchesGlob(glob: string, text: string): boolean {
  let [g, t, star, mark] = [0, 0, -1, 0];
  while (t < text.length) {
    if (glob[g] === "*") [star, mark, g] = [g, t, g + 1];
    else if (glob[g] === "?" || glob[g] === text[t]) [g, t] = [g + 1, t + 1];
    else if (star >= 0) [g, mark, t] = [star + 1, mark + 1, mark + 1];
    else return false;
  }
  while (glob[g] === "*") g++;
  return g === glob.length;
}
