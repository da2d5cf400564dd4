import { type ResolvedPath, type ScopeDeclaration, ScopeError, type Scopes } from "../../../host/scopes.ts";
import { enter } from "../parse/folders.ts";
import type { ShellPlan, ShellWord, SimpleCommand } from "../parse/plan.ts";
import { folderOfGlob, lookedUp, type PathFact, type PathTable, pathKey, withEnds } from "./path-table.ts";

/** A line that could mean more paths than this is never allowed. */
const mostPaths = 500;

export interface LookedUpPaths {
  readonly table: PathTable;
  /** Whether all of them were looked up. */
  readonly isComplete: boolean;
}

/** Looks at everything that a command line could mean by its words; opens nothing, and follows no link. */
export async function lookUpPaths(scopes: Scopes, base: ResolvedPath, plan: ShellPlan): Promise<LookedUpPaths> {
  const wanted: Wanted = { paths: new Map(), written: new Set() };
  gather(plan, wanted);
  const facts = [...wanted.paths].slice(0, mostPaths).map(async ([key, components]): Promise<[string, PathFact][]> => {
    const fact = await lookUp(scopes, base.scope, components);
    if (fact === undefined) return [];
    const writable = wanted.written.has(key) ? await findWritable(scopes, virtualPathOf(base.scope, components)) : undefined;
    return [[key, writable === undefined ? fact : { ...fact, writable }]];
  });
  return { table: new Map((await Promise.all(facts)).flat()), isComplete: wanted.paths.size <= mostPaths };
}

interface Wanted {
  readonly paths: Map<string, readonly string[]>;
  /** Keys of those that a redirection writes. */
  readonly written: Set<string>;
}

function gather(plan: ShellPlan, wanted: Wanted): void {
  for (const command of plan.commands) {
    gatherCommand(command, wanted);
    for (const { script } of command.words) if (script !== undefined) gather(script, wanted);
  }
}

function gatherCommand(command: SimpleCommand, wanted: Wanted): void {
  for (const folder of command.folders ?? []) {
    wanted.paths.set(pathKey(folder), folder);
    const words = withEnds([...command.words.slice(1), ...targetsOf(command)]);
    for (const path of words.flatMap(([word, ended]) => namesOf(word, ended))) {
      const components = enter(folder, path);
      if (components !== undefined) wanted.paths.set(pathKey(components), components);
    }
    for (const { type, target } of command.redirects) {
      const components = type === "write" && target?.kind === "static" ? enter(folder, target.value) : undefined;
      if (components !== undefined) wanted.written.add(pathKey(components));
    }
  }
}

function targetsOf({ redirects }: SimpleCommand): readonly ShellWord[] {
  return redirects.flatMap(({ target }) => (target === undefined ? [] : [target]));
}

function namesOf(word: ShellWord, ended: boolean): readonly string[] {
  if (word.kind === "static") return lookedUp(word, ended);
  return word.kind === "glob" ? lookedUp(word, ended).map(folderOfGlob) : [];
}

/** Undefined where no file can have such a name. */
async function lookUp(scopes: Scopes, base: ScopeDeclaration, components: readonly string[]): Promise<PathFact | undefined> {
  const virtualPath = virtualPathOf(base, components);
  try {
    const resolved = scopes.resolve(virtualPath);
    const protection = scopes.protection(resolved);
    const [scope = resolved.scope] = scopes.covered(virtualPath);
    const found = await look(scopes, virtualPath);
    if (typeof found === "string") return { type: found, scope, protection, identity: null };
    return { type: found.type, scope: found.scope, protection, identity: found.identity };
  } catch (error) {
    if (error instanceof ScopeError) return undefined;
    throw error;
  }
}

function virtualPathOf({ name }: ScopeDeclaration, components: readonly string[]): string {
  return `${name}:${components.join("/")}`;
}

async function findWritable(scopes: Scopes, virtualPath: string): Promise<string | undefined> {
  try {
    return (await scopes.inspect(virtualPath, "write")).virtualPath;
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
