import type { ShellWord } from "../parse/plan.ts";
import { nameWord } from "../parse/quote.ts";
import type { Effect } from "../programs/program.ts";
import { usesItsFolder } from "../programs/registry.ts";
import { effectOf, isThere, type PathWork } from "./judge-paths.ts";
import { folderOfGlob, leadsElsewhere, lookedUp, type Where, whereIs, withEnds } from "./path-table.ts";

/** The first path of a command that does not lie in the named scopes, with their rights and suffixes. Undefined where all do. */
export function findOutside(work: PathWork, scopes: readonly string[]): string | undefined {
  const { command, reading, table } = work;
  const { words, folders } = command;
  if (folders === undefined) return "a folder that is not known";
  const makesFolders = /(?:^|\/)mkdir$/.test(words[0]?.value ?? "");
  const isIn = (path: string, effect: Effect) =>
    folders.every((folder) => liesIn(whereIs(table, folder, path), { scopes, effect, makesFolders }));
  let named = 0;
  for (const { word, paths, effect } of pathsOf(work)) {
    if (!isKnown(word)) return nameWord(word);
    named += paths.length;
    if (!paths.every((path) => isIn(path, effect))) return nameWord(word);
  }
  const isSomewhere = named > 0 && !usesItsFolder(words, reading);
  return isSomewhere || isIn(".", reading.effect) ? undefined : "the folder that it runs in";
}

/** True unless all that a command names, or the folder that it works on, surely lies elsewhere than in the named scopes. */
export function couldTouch(work: PathWork, scopes: readonly string[]): boolean {
  const { command, reading, table } = work;
  const { words, folders } = command;
  if (folders === undefined) return true;
  const couldBeIn = (path: string) => folders.some((folder) => couldLieIn(whereIs(table, folder, path), scopes));
  const all = pathsOf(work);
  if (all.some(({ word, paths }) => !isKnown(word) || paths.some(couldBeIn))) return true;
  const isSomewhere = all.some(({ paths }) => paths.length > 0) && !usesItsFolder(words, reading);
  return !isSomewhere && couldBeIn(".");
}

interface NamedPaths {
  readonly word: ShellWord;
  readonly paths: readonly string[];
  readonly effect: Effect;
}

/** All that a command could name, with what `<` reads. A glob is the folder that it looks in. */
function pathsOf({ command, reading, table }: PathWork): readonly NamedPaths[] {
  const { words, folders = [], redirects } = command;
  const named = [...withEnds(words).entries()].flatMap(([index, [word, ended]]): readonly NamedPaths[] => {
    if (index === 0 || word.value === "--" || reading.texts?.has(index) === true) return [];
    const found = lookedUp(word, ended).filter((path) => {
      const isPath = ended || !word.value.startsWith("-") || /[/.~]/.test(path);
      return isPath || folders.some((folder) => isThere(whereIs(table, folder, path)));
    });
    return [{ word, paths: word.kind === "glob" ? found.map(folderOfGlob) : found, effect: effectOf(reading, index) }];
  });
  const read = redirects.flatMap(({ type, target }) => (type === "read" && target !== undefined ? [target] : []));
  return [...named, ...read.map((word) => ({ word, paths: [word.value], effect: "read" as const }))];
}

function isKnown(word: ShellWord): boolean {
  return !leadsElsewhere(word) && (word.kind === "static" || (word.kind === "glob" && !word.value.startsWith("-")));
}

interface Lying {
  readonly scopes: readonly string[];
  readonly effect: Effect;
  readonly makesFolders: boolean;
}

function liesIn(where: Where, { scopes, effect, makesFolders }: Lying): boolean {
  if (where.type === "outside" || where.fact === undefined || where.fact.type === "link") return false;
  const { scope, type } = where.fact;
  if (!scopes.includes(scope.name) || (effect === "write" && scope.mode === "ro")) return false;
  const isFile = type === "file" || (type === "missing" && effect === "write" && !makesFolders);
  const name = where.components.at(-1)?.toLowerCase() ?? "";
  return !isFile || scope.suffixes === undefined || scope.suffixes.some((suffix) => name.endsWith(suffix.toLowerCase()));
}

function couldLieIn(where: Where, scopes: readonly string[]): boolean {
  const fact = where.type === "inside" ? where.fact : undefined;
  return fact === undefined || fact.type === "link" || scopes.includes(fact.scope.name);
}
