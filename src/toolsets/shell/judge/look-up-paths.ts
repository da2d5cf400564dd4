import { type ResolvedPath, ScopeError, type Scopes } from "../../../host/scopes.ts";
import { followPath } from "../parse/folders.ts";
import { everyCommand, type ShellPlan, type ShellWord } from "../parse/plan.ts";
import { everyStart } from "../programs/registry.ts";
import { folderOfGlob, lookedUp, type PathFact, type PathTable, pathKey, withEnds } from "./path-table.ts";

/** A line that could mean more paths than this is never allowed. */
const mostPaths = 500;

/** Looks at everything that a command line could mean by its words. Opens nothing, and follows no link. */
export async function lookUpPaths(scopes: Scopes, base: ResolvedPath, plan: ShellPlan) {
  const { paths, written } = wantedBy(plan);
  const facts = [...paths].slice(0, mostPaths).map(async (key): Promise<[string, PathFact][]> => {
    const virtualPath = `${base.scope.name}:${key}`;
    const fact = await unlessRefused(() => lookUp(scopes, virtualPath));
    if (fact === undefined) return [];
    const inspected = written.has(key) ? await unlessRefused(() => scopes.inspect(virtualPath, "write")) : undefined;
    return [[key, inspected === undefined ? fact : { ...fact, writable: inspected.virtualPath }]];
  });
  const table: PathTable = new Map((await Promise.all(facts)).flat());
  return { table, isComplete: paths.size <= mostPaths };
}

/** Keys of all paths, and of those that a redirection writes. */
function wantedBy(plan: ShellPlan) {
  const paths = new Set<string>();
  const written = new Set<string>();
  for (const command of everyCommand(plan)) {
    const { words, redirects, folders = [] } = command;
    const targets = redirects.flatMap(({ target }) => target ?? []);
    const names = withEnds([...words.slice(1), ...targets]).flatMap(([word, ended]) => namesOf(word, ended));
    const landings = [...everyStart(command)].flatMap(({ reading }) => reading.lands?.paths ?? []);
    for (const folder of folders) {
      for (const components of [folder, ...[...names, ...landings].map((name) => followPath(folder, name))]) {
        if (components !== undefined) paths.add(pathKey(components));
      }
      for (const { type, target } of redirects) {
        const components = type === "write" && target?.kind === "static" ? followPath(folder, target.value) : undefined;
        if (components !== undefined) written.add(pathKey(components));
      }
    }
  }
  return { paths, written };
}

function namesOf(word: ShellWord, ended: boolean): readonly string[] {
  if (word.kind === "static") return lookedUp(word, ended);
  return word.kind === "glob" ? lookedUp(word, ended).map(folderOfGlob) : [];
}

/** The facts of a path, whatever lies there. */
export async function lookUp(scopes: Scopes, virtualPath: string): Promise<PathFact> {
  const resolved = scopes.resolve(virtualPath);
  const protection = scopes.protection(resolved);
  const [scope = resolved.scope] = scopes.covered(virtualPath);
  const found = await look(scopes, virtualPath);
  if (typeof found === "string") return { type: found, scope, protection, identity: null };
  return { type: found.type, scope: found.scope, protection, identity: found.identity };
}

/** Undefined where the scopes refuse: no file can have such a name, say. */
async function unlessRefused<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ScopeError) return undefined;
    throw error;
  }
}

async function look(scopes: Scopes, virtualPath: string) {
  try {
    return await scopes.facts(virtualPath);
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error;
    if (error.type === "path_outside_scope") return "link";
    return error.type === "not_found" || error.type === "not_a_directory" ? "missing" : "other";
  }
}
