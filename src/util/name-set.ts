/** The names in a text, which stand apart by blanks or line ends. */
export function nameSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
