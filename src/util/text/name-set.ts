/** Returns the names in texts, which are separated by blanks or line ends. */
export function nameSet(...texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.join(" ").trim().split(/\s+/));
}
