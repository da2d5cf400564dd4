import { type ResolvedPath, ScopeError, type Scopes } from "../../../host/scopes.ts";
import { matchesFlatGlob } from "../../../util/flat-glob.ts";
import { type Expansions, expansionKey, isExpandable } from "../parse/expand.ts";
import { followPath } from "../parse/folders.ts";
import { everyCommand, type Folder, type ShellPlan, type ShellWord, type SimpleCommand } from "../parse/plan.ts";
import { everyStart, fearsOptions, type StartReading } from "../programs/registry.ts";
import { lookUp } from "./look-up-paths.ts";
import { folderOfGlob, isLeading, lookedUp, withEnds } from "./path-table.ts";

/** Larger folders, and globs that match more, are not looked up. */
const mostNames = 5000;
const mostMatches = 100;

/**
 * Names that globs stand for, where one could become an option that matters (`sort *.txt`), or is written (`rm out/*.log`). The names
 * take the glob's place. Globs that could mean other names when the command runs are left to the shell, and ask.
 */
export async function lookUpGlobs(scopes: Scopes, base: ResolvedPath, plan: ShellPlan): Promise<Expansions> {
  const found = await Promise.all(
    [...wantedGlobs(plan)].map(async ([key, glob]) => {
      const names = await expand({ scopes, base }, glob);
      return names === undefined ? [] : [[key, names] as const];
    }),
  );
  return new Map(found.flat());
}

interface Glob {
  readonly folder: Folder;
  readonly pattern: string;
}

/** By `expansionKey`. */
function wantedGlobs(plan: ShellPlan): ReadonlyMap<string, Glob> {
  const wanted = new Map<string, Glob>();
  const stale: string[] = [];
  const changed: (Folder | undefined)[] = [];
  for (const command of everyCommand(plan)) {
    const starts = [...everyStart(command)];
    const [folder, ...others] = command.folders ?? [];
    for (const word of command.words.slice(1)) {
      if (folder === undefined || others.length > 0 || !isExpandable(word)) continue;
      const glob = { folder, pattern: word.value };
      const key = expansionKey(folder, word.value);
      if (changed.some((path) => touches(path, glob))) stale.push(key);
      else if (starts.some((start) => needsNames(start, word))) wanted.set(key, glob);
    }
    changed.push(...changedBy(command, starts));
  }
  for (const key of stale) wanted.delete(key);
  return wanted;
}

function needsNames({ words, reading }: StartReading, word: ShellWord): boolean {
  const { effect, takesAnything } = reading;
  if (takesAnything === true || !words.includes(word, 1)) return false;
  return effect === "write" || effect === "unknown" || (isLeading(word) && fearsOptions(words[0]?.value ?? "", false));
}

/** Paths that a command can change, with all below them. Undefined stands for any path. */
function changedBy({ redirects, folders }: SimpleCommand, starts: readonly StartReading[]): readonly (Folder | undefined)[] {
  const written = redirects.flatMap(({ type, target }) => (type === "write" ? (target ?? []) : []));
  for (const { words, reading } of starts) {
    const { effect, hatches, startsUnknown } = reading;
    if (effect === "unknown" || startsUnknown === true || hatches.length > 0) return [undefined];
    if (effect === "write") written.push(...words.slice(1));
  }
  const isClear = folders !== undefined && written.every(({ kind }) => kind === "static" || kind === "glob");
  if (!isClear) return written.length > 0 ? [undefined] : [];
  const paths = withEnds(written).flatMap(([word, ended]) => {
    return word.kind === "glob" ? lookedUp(word, ended).map(folderOfGlob) : lookedUp(word, ended);
  });
  return folders.flatMap((folder) => paths.map((path) => followPath(folder, path)));
}

/** True where a changed path can change what a glob means. */
function touches(path: Folder | undefined, { folder, pattern }: Glob): boolean {
  const place = followPath(folder, folderOfGlob(pattern));
  if (path === undefined || place === undefined) return true;
  if (!path.slice(0, place.length).every((name, index) => name === place[index])) return false;
  const name = path[place.length];
  return name === undefined || matchesFlatGlob(pattern.split("/").find(isGlob) ?? "", name);
}

function isGlob(component: string): boolean {
  return /[*?]/.test(component);
}

interface Disk {
  readonly scopes: Scopes;
  readonly base: ResolvedPath;
}

/** As bash does it: what matches nothing stays as it is. Undefined where the names cannot take the glob's place. */
async function expand(disk: Disk, { folder, pattern }: Glob): Promise<readonly string[] | undefined> {
  const components = pattern.split("/");
  const first = components.findIndex(isGlob);
  let found: readonly string[] = [components.slice(0, first).join("/")];
  for (const [index, component] of components.entries()) {
    if (index < first) continue;
    const beginnings = index === 0 ? [""] : found.map((one) => `${one}/`);
    const names = await Promise.all(beginnings.map((one) => namesIn(disk, followPath(folder, one))));
    const matches = names.map((some) => some && matching(some, component));
    if (matches.includes(undefined)) return undefined;
    found = matches.flatMap((some = [], at) => some.map((name) => `${beginnings[at]}${name}`));
    if (found.length > mostMatches) return undefined;
  }
  if (found.some((name) => name.startsWith("-"))) return undefined;
  return found.length > 0 ? found.toSorted() : [pattern];
}

/** Names in a folder, with an empty one for `FOLDER/`; none where there is no folder. Undefined where they are too many, cannot be read, or ask before they are. */
async function namesIn({ scopes, base }: Disk, folder: Folder | undefined): Promise<readonly string[] | undefined> {
  if (folder === undefined) return undefined;
  const path = `${base.scope.name}:${folder.join("/")}`;
  try {
    const { type, scope, protection } = await lookUp(scopes, path);
    if (type === "missing" || type === "file") return [];
    if (type !== "directory" || scope.readApproval === true || protection === "ask-read-and-write") return undefined;
    const names = await scopes.names(path, mostNames);
    return names && ["", ...names];
  } catch (error) {
    if (error instanceof ScopeError) return undefined;
    throw error;
  }
}

/** A leading dot is matched by a dot alone. */
function matching(names: readonly string[], component: string): readonly string[] | undefined {
  if (!isGlob(component)) return names.filter((name) => name === component);
  // Other characters than ASCII have another length, and another place in the order, in another locale.
  const isUnclear = (name: string) => !/^[\x20-\x7e]*$/.test(name) && matchesFlatGlob(component.replaceAll("?", "*"), name);
  if (names.some(isUnclear)) return undefined;
  return names.filter((name) => name !== "" && !name.startsWith(".") && matchesFlatGlob(component, name));
}
