/** Returns whether a glob matches a text with this beginning. */
export function couldMatchFlatGlob(glob: string, beginning: string): boolean {
  const star = glob.indexOf("*");
  const head = star === -1 ? glob : glob.slice(0, star);
  if (star === -1 && beginning.length > head.length) return false;
  const common = Math.min(head.length, beginning.length);
  return matchesFlatGlob(head.slice(0, common), beginning.slice(0, common));
}

/** Returns whether a glob matches a whole text: `*` is any run of characters, `?` is one. Backtracks to the last star only: no glob takes long. */
export function matchesFlatGlob(glob: string, text: string): boolean {
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
