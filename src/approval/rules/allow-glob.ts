import { matchesFlatGlob } from "../../util/text/flat-glob.ts";

/** The argument with this name is compared as a command, word by word. */
export const commandArgument = "command";

/**
 * Returns whether a glob of a rule that allows matches a text. Wildcards of a path stay below it: in a glob with a `/` they match no
 * `..` component, and in JSON no comma, which parts values. In a command this holds for each word of the glob with a `/`, whose
 * wildcards match neither blanks nor signs of the shell.
 */
export function allowsText(glob: string, text: string, isCommand: boolean): boolean {
  if (!matchesFlatGlob(glob, text)) return false;
  const confined = wildcardsOfPaths(glob, isCommand);
  if (confined.size === 0) return true;
  const closed = closedPlaces(text, isCommand);
  return closed.size === 0 || matchesConfined(glob, text, { confined, closed });
}

function wildcardsOfPaths(glob: string, isCommand: boolean): ReadonlySet<number> {
  const paths = [...glob.matchAll(isCommand ? /\S+/g : /.+/gs)].filter(([word]) => word.includes("/"));
  return new Set(paths.flatMap(({ 0: word, index }) => [...word.matchAll(/[*?]/g)].map((wildcard) => index + wildcard.index)));
}

/** `..` as disks and addresses know it: between separators of either kind, and percent-encoded. */
const parents = /(?<!\.)(?:\.|%2e){2}(?![\w.-])/gi;

function closedPlaces(text: string, isCommand: boolean): ReadonlySet<number> {
  const signs = isCommand ? /[\s"'`$\\{}()<>|;&]/g : /^[[{]/.test(text) ? /,/g : undefined;
  const found = [...text.matchAll(parents), ...(signs ? text.matchAll(signs) : [])];
  return new Set(found.flatMap(({ 0: part, index }) => [...part].map((_, at) => index + at)));
}

interface Confinement {
  /** Indexes of wildcards in the glob. */
  readonly confined: ReadonlySet<number>;
  /** Indexes in the text that these wildcards do not match. */
  readonly closed: ReadonlySet<number>;
}

/** Follows all ways through the glob at once: a wildcard that ends early can leave the rest to one before it. */
function matchesConfined(glob: string, text: string, { confined, closed }: Confinement): boolean {
  let reached = withSkipped(new Set([0]), glob);
  for (let at = 0; at < text.length && reached.size > 0; at++) {
    const next = new Set<number>();
    for (const place of reached) {
      const sign = glob[place];
      const isWildcard = sign === "*" || sign === "?";
      if (isWildcard ? confined.has(place) && closed.has(at) : sign !== text[at]) continue;
      next.add(sign === "*" ? place : place + 1);
    }
    reached = withSkipped(next, glob);
  }
  return reached.has(glob.length);
}

/** Adds the places behind stars, which match nothing as well. */
function withSkipped(places: Set<number>, glob: string): ReadonlySet<number> {
  for (const place of places) if (glob[place] === "*") places.add(place + 1);
  return places;
}
