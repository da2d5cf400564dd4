import { type ResolvedPath, ScopeError, type Scopes } from "../../../host/scopes.ts";
import { matchesFlatGlob } from "../../../util/flat-glob.ts";
import { type Expansions, expansionKey, isExpandable } from "../parse/expand.ts";
import type { Folder, ShellPlan } from "../parse/plan.ts";
import { fearsOptions } from "../programs/registry.ts";

/** Of larger folders, and of globs that match more, nothing is looked up. */
const mostNames = 5000;
const mostMatches = 100;

/**
 * Names that globs stand for, where one could become an option that matters: `sort *.txt`. Where no name begins with `-` the names take
 * the glob's place. Others are left to the shell, and ask.
 */
export async function lookUpGlobs(scopes: Scopes, base: ResolvedPath, plan: ShellPlan): Promise<Expansions> {
  const wanted = new Map<string, { readonly folder: Folder; readonly pattern: string }>();
  gather(plan, (folder, pattern) => wanted.set(expansionKey(folder, pattern), { folder, pattern }));
  const found = await Promise.all(
    [...wanted].map(async ([key, { folder, pattern }]) => {
      const names = await namesIn(scopes, `${base.scope.name}:${folder.join("/")}`);
      const matches = names === undefined ? undefined : matching(names, pattern);
      return matches === undefined ? [] : [[key, matches] as const];
    }),
  );
  return new Map(found.flat());
}

function gather(plan: ShellPlan, add: (folder: Folder, pattern: string) => void): void {
  for (const { words, folders } of plan.commands) {
    for (const { script } of words) if (script !== undefined) gather(script, add);
    const [program, ...args] = words;
    const [folder, ...others] = folders ?? [];
    if (program === undefined || folder === undefined || others.length > 0 || !fearsOptions(program.value)) continue;
    for (const word of args) if (word.head === "" && isExpandable(word)) add(folder, word.value);
  }
}

async function namesIn(scopes: Scopes, virtualPath: string): Promise<readonly string[] | undefined> {
  try {
    return await scopes.names(virtualPath, mostNames);
  } catch (error) {
    if (error instanceof ScopeError) return undefined;
    throw error;
  }
}

/** As bash does it: a leading dot is matched by a dot alone, and what matches nothing stays as it is. */
function matching(names: readonly string[], pattern: string): readonly string[] | undefined {
  // What is no ASCII has another length, and another place in the order, in another locale.
  if (names.some((name) => !/^[\x20-\x7e]*$/.test(name))) return undefined;
  const matches = names.filter((name) => !name.startsWith(".") && matchesFlatGlob(pattern, name)).sort();
  if (matches.length > mostMatches || matches.some((name) => name.startsWith("-"))) return undefined;
  return matches.length > 0 ? matches : [pattern];
}
