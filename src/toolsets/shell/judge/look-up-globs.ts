import type { ResolvedPath, Scopes } from "../../../host/scopes.ts";
import { matchesFlatGlob } from "../../../util/flat-glob.ts";
import { type Expansions, expansionKey, isExpandable } from "../parse/expand.ts";
import { everyCommand, type ShellPlan, type SimpleCommand } from "../parse/plan.ts";
import { fearsOptions } from "../programs/registry.ts";
import { unlessRefused } from "./look-up-paths.ts";

/** Of larger folders, and of globs that match more, nothing is looked up. */
const mostNames = 5000;
const mostMatches = 100;

/**
 * Names that globs stand for, where one could become an option that matters: `sort *.txt`. Where no name begins with `-` the names take
 * the glob's place. Others are left to the shell, and ask.
 */
export async function lookUpGlobs(scopes: Scopes, base: ResolvedPath, plan: ShellPlan): Promise<Expansions> {
  const wanted = new Map([...everyCommand(plan)].flatMap(globsOf));
  const found = await Promise.all(
    [...wanted].map(async ([key, { folder, pattern }]) => {
      const names = await unlessRefused(() => scopes.names(`${base.scope.name}:${folder.join("/")}`, mostNames));
      const matches = names === undefined ? undefined : matching(names, pattern);
      return matches === undefined ? [] : [[key, matches] as const];
    }),
  );
  return new Map(found.flat());
}

function globsOf({ words: [program, ...args], folders }: SimpleCommand) {
  const [folder, ...others] = folders ?? [];
  if (program === undefined || folder === undefined || others.length > 0 || !fearsOptions(program.value)) return [];
  return args
    .filter((word) => word.head === "" && isExpandable(word))
    .map(({ value: pattern }) => [expansionKey(folder, pattern), { folder, pattern }] as const);
}

/** As bash does it: a leading dot is matched by a dot alone, and what matches nothing stays as it is. */
function matching(names: readonly string[], pattern: string): readonly string[] | undefined {
  // What is no ASCII has another length, and another place in the order, in another locale.
  if (names.some((name) => !/^[\x20-\x7e]*$/.test(name))) return undefined;
  const matches = names.filter((name) => !name.startsWith(".") && matchesFlatGlob(pattern, name)).sort();
  if (matches.length > mostMatches || matches.some((name) => name.startsWith("-"))) return undefined;
  return matches.length > 0 ? matches : [pattern];
}
