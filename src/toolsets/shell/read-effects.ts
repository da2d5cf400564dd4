import { describeScope } from "../../host/scopes/scope-refusals.ts";
import { type ResolvedPath, type ScopeDeclaration, ScopeError, type Scopes } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { type ToolFailure, toolFailure } from "../toolset.ts";
import { type Effects, effectNames } from "./effects.ts";
import { followPath } from "./parse/folders.ts";
import { everyCommand, type Folder, type ShellPlan, type ShellWord } from "./parse/plan.ts";
import { refusalToOpen } from "./warnings.ts";

export interface EffectContext {
  readonly scopes: Scopes;
  readonly networkEnabled: boolean;
  /** The folder that the command runs in. */
  readonly cwd: ResolvedPath;
  readonly plan: ShellPlan;
}

/**
 * Reads the effects that a call asks for by its arguments, and by what the grammar sees: files that it redirects into, and paths in
 * scopes that a look hides. Throws a `ToolFailure` or a `ScopeError` that says what could be asked for.
 */
export async function readEffects(args: JsonObject, context: EffectContext): Promise<Effects> {
  const { scopes, networkEnabled } = context;
  const [writes = [], opens = [], reads = []] = effectNames.slice(0, 3).map((name) => textsOf(args[name]));
  const network = args["network"] === true;
  const scratch = args["scratch"] === true;
  if (scratch && writes.length + opens.length > 0)
    throw refused("what `scratch` writes is thrown away: leave out `writes` and `opens`", scopes);
  if (network && !networkEnabled) throw refused("this worker has no network (sandbox.network_enabled)", scopes);
  const folders = await Promise.all([
    ...writes.map((path) => findWritable(scopes, path)),
    ...(scratch ? [] : redirectedTo(context)).map((path) => findWritable(scopes, path).catch(unlessRefused)),
  ]);
  for (const name of opens) assertOpenable(name, scopes);
  if (opens.length > 0 && folders.length === 0)
    throw refused("`opens` needs `writes`: the folders that hold these names", scopes);
  return {
    writes: withoutInner(folders.filter((folder) => folder !== undefined)),
    opens: sorted(opens),
    reads: sorted([...reads.flatMap((name) => findHidden(scopes, name)), ...pathsInto(context)]),
    network,
    scratch,
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

function refused(why: string, { declarations }: Scopes): ToolFailure {
  const writable = declarations.filter(({ mode }) => mode === "rw").map(({ name }) => describeScope(name));
  const hidden = declarations.filter(isHidden).map(({ name }) => name);
  const hint = `\`writes\` can name ${writable.join(", ") || "nothing"}, and folders in them; \`reads\`: ${hidden.join(", ") || "nothing"}`;
  return toolFailure("invalid_arguments", `The command was not run: ${why}.`, `${hint}.`);
}

/** Returns whether a look does not show a scope: it asks before it is read, or file tools show a part of it alone. */
export function isHidden({ readApproval, suffixes }: ScopeDeclaration): boolean {
  return readApproval === true || suffixes !== undefined;
}

/** Finds the folder in terms of the deepest scope that it lies in. It may be missing. */
async function findWritable(scopes: Scopes, path: string): Promise<ResolvedPath> {
  const resolved = await toDeepest(scopes, scopes.resolve(path));
  const { scope, virtualPath } = resolved;
  if (scope.mode !== "rw") throw refused(`\`${virtualPath}\` is read-only`, scopes);
  const protection = scopes.protection(resolved);
  if (protection === "program") throw refused(`\`${virtualPath}\` belongs to the running program`, scopes);
  if (protection !== undefined) {
    throw refused(`\`${virtualPath}\` is a protected name: \`opens\` names it, and \`writes\` the folder that it is in`, scopes);
  }
  return resolved;
}

async function toDeepest(scopes: Scopes, { scope, components }: ResolvedPath): Promise<ResolvedPath> {
  for (let length = components.length; ; length--) {
    const path = `${scope.name}:${components.slice(0, length).join("/")}`;
    try {
      const { type, virtualPath } = await scopes.facts(path);
      if (type === "file") throw refused(`\`${virtualPath}\` is a file: \`writes\` names folders`, scopes);
      const found = scopes.resolve(virtualPath);
      return scopes.resolve(`${found.scope.name}:${[...found.components, ...components.slice(length)].join("/")}`);
    } catch (error) {
      if (length === 0 || !(error instanceof ScopeError) || error.type !== "not_found") throw error;
    }
  }
}

/** A redirection to where nothing can be written fails by itself. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof ScopeError || (error instanceof Error && "toolError" in error)) return undefined;
  throw error;
}

/** The folders of files that the line writes by `>`. */
function redirectedTo({ cwd, plan }: EffectContext): readonly string[] {
  return [...everyCommand(plan)].flatMap(({ redirects, folders = [] }) =>
    redirects.flatMap(({ type, target }) => {
      if (type !== "write" || target?.kind !== "static") return [];
      return folders.flatMap((folder) => pathOf(cwd, followPath(folder, target.value)?.slice(0, -1)) ?? []);
    }),
  );
}

/** The scopes that a look hides, and that a path of the line or its folder leads into. */
function pathsInto({ scopes, cwd, plan }: EffectContext): readonly string[] {
  const commands = [...everyCommand(plan)];
  const named = commands.flatMap(({ words, redirects, folders = [] }) =>
    [...words.slice(1), ...redirects.flatMap(({ target }) => target ?? [])].flatMap((word) =>
      folders.flatMap((folder) => pathOf(cwd, followPath(folder, beginningOf(word))) ?? []),
    ),
  );
  const own = commands.flatMap(({ folders = [] }) => folders.flatMap((folder) => pathOf(cwd, folder) ?? []));
  return [cwd.virtualPath, ...own, ...named].flatMap((path) => {
    try {
      const [scope] = scopes.covered(path);
      return scope && isHidden(scope) ? [scope.name] : [];
    } catch (error) {
      if (error instanceof ScopeError) return [];
      throw error;
    }
  });
}

/** The part of a word that is a path for sure: up to a glob or a variable. */
function beginningOf({ kind, value, head }: ShellWord): string {
  if (kind === "static") return value.startsWith("-") ? value.slice(value.indexOf("=") + 1) : value;
  return head.slice(0, head.lastIndexOf("/") + 1);
}

function pathOf({ scope }: ResolvedPath, components: Folder | undefined): string | undefined {
  return components && `${scope.name}:${components.join("/")}`;
}

function assertOpenable(name: string, scopes: Scopes): void {
  const why = refusalToOpen(name);
  if (why !== undefined) throw refused(`\`${name}\` ${why}`, scopes);
}

/** A scope that every command sees needs no right. `.git`: the history of repositories that hold files which ask. */
function findHidden(scopes: Scopes, name: string): readonly string[] {
  if (name === ".git") return [name];
  const scope = scopes.declarations.find((one) => one.name === name);
  if (scope === undefined) throw refused(`\`reads\` names no scope: \`${name}\``, scopes);
  return isHidden(scope) ? [name] : [];
}

function withoutInner(folders: readonly ResolvedPath[]): readonly string[] {
  const isIn = (inner: ResolvedPath, outer: ResolvedPath) =>
    inner !== outer &&
    inner.scope === outer.scope &&
    inner.virtualPath !== outer.virtualPath &&
    outer.components.every((name, index) => name === inner.components[index]);
  return sorted(folders.filter((folder) => !folders.some((one) => isIn(folder, one))).map(({ virtualPath }) => virtualPath));
}
