import { nameWord } from "../parse/quote.ts";
import type { Effect } from "../programs/program.ts";
import { usesItsFolder } from "../programs/registry.ts";
import { effectOf, isThere, type PathWork } from "./judge-paths.ts";
import { folderOfGlob, leadsElsewhere, lookedUp, type Where, whereIs, withEnds } from "./path-table.ts";

/**
 * The first path of a command that does not lie in the named scopes. Undefined where all do. `byScope`: the rights and suffixes of the
 * scopes do not matter, because the rule restricts.
 */
export function findOutside(work: PathWork, scopes: readonly string[], byScope: boolean): string | undefined {
  const { command, reading, table } = work;
  const { words, folders } = command;
  if (folders === undefined) return "a folder that is not known";
  const isIn = (path: string, effect: Effect) =>
    folders.every((folder) => liesIn(whereIs(table, folder, path), { scopes, effect, byScope, makesFolders }));
  const program = words[0]?.value ?? "";
  const makesFolders = /(?:^|\/)mkdir$/.test(program);
  let named = 0;
  for (const [index, [word, ended]] of withEnds(words).entries()) {
    if (index === 0 || word.value === "--" || reading.texts?.has(index) === true) continue;
    if (leadsElsewhere(word)) return nameWord(word);
    const paths = lookedUp(word, ended).filter((path) => {
      const isPath = ended || !word.value.startsWith("-") || /[/.~]/.test(path);
      return isPath || folders.some((folder) => isThere(whereIs(table, folder, path)));
    });
    named += paths.length;
    const isKnown = word.kind === "static" || (word.kind === "glob" && !word.value.startsWith("-"));
    if (!isKnown) return nameWord(word);
    const effect = effectOf(reading, index);
    if (!paths.every((path) => isIn(word.kind === "glob" ? folderOfGlob(path) : path, effect))) return nameWord(word);
  }
  for (const { type, target } of command.redirects)
    if (type === "read" && target !== undefined && !isIn(target.value, "read")) return nameWord(target);
  const isSomewhere = named > 0 && !usesItsFolder(words, reading);
  return isSomewhere || isIn(".", reading.effect) ? undefined : "the folder that it runs in";
}

interface Lying {
  readonly scopes: readonly string[];
  readonly effect: Effect;
  readonly byScope: boolean;
  readonly makesFolders: boolean;
}

function liesIn(where: Where, { scopes, effect, byScope, makesFolders }: Lying): boolean {
  if (where.type === "outside" || where.fact === undefined || where.fact.type === "link") return false;
  const { scope, type } = where.fact;
  if (!scopes.includes(scope.name)) return false;
  if (byScope) return true;
  if (effect === "write" && scope.mode === "ro") return false;
  const isFile = type === "file" || (type === "missing" && effect === "write" && !makesFolders);
  const name = where.components.at(-1)?.toLowerCase() ?? "";
  return !isFile || scope.suffixes === undefined || scope.suffixes.some((suffix) => name.endsWith(suffix.toLowerCase()));
}
