import { nearestNames } from "../util/nearest-names.ts";
import type { Directory, EntryFacts } from "./directory.ts";
import { linkRefused, notADirectory, notFound, replacedRoot, systemRefused } from "./scope-refusals.ts";
import type { ScopeRoot, ScopeTable } from "./scope-table.ts";
import { type FileFacts, type ResolvedPath, type ScopeDeclaration, ScopeError } from "./scopes.ts";
import { errorCode } from "./system-error.ts";

/** An open directory and what it is: the deepest scope that it lies in, and where below that scope's root. */
export interface Place {
  readonly directory: Directory;
  readonly scope: ScopeDeclaration;
  readonly components: readonly string[];
  close(): Promise<void>;
}

/** The directory that a path's last name is in, as far as there is one: `missing` are the folders that are not. */
export interface ParentPlace extends Place {
  readonly name: string;
  readonly missing: readonly string[];
}

export function placeOfRoot(root: ScopeRoot): Place {
  // The root stays open until the scopes are closed.
  return { directory: root.directory, scope: root.declaration, components: [], close: async () => {} };
}

/** The open folder leads nowhere outside, wherever it was moved to; but it is no longer the one that people see at its path. */
export async function assertInPlace(table: ScopeTable, scope: ScopeDeclaration): Promise<void> {
  if (!(await table.root(scope).directory.isInPlace())) throw replacedRoot(table.format(scope, []));
}

/** One step down, through the open directory. Closes nothing; `ENOENT` and the like come as they are. */
export async function enter(table: ScopeTable, place: Place, name: string): Promise<Place> {
  const directory = await place.directory.openDirectory(name);
  const components = [...place.components, name];
  const declared = table.rootAt(place.scope, components);
  const actual = table.rootWithIdentity(directory.identity);
  const close = () => directory.close();
  if (actual !== undefined) return { directory, scope: actual.declaration, components: [], close };
  if (declared === undefined) return { directory, scope: place.scope, components, close };
  await close();
  throw replacedRoot(table.format(declared.declaration, []));
}

/** The directory that holds the path's last name. The caller closes it. */
export async function openParent(table: ScopeTable, path: ResolvedPath): Promise<ParentPlace> {
  const name = path.components.at(-1) ?? "";
  const folders = path.components.slice(0, -1);
  let place = placeOfRoot(table.root(path.scope));
  for (const [index, folder] of folders.entries()) {
    let next: Place | undefined;
    try {
      next = await enterOrMiss(table, place, folder);
    } catch (error) {
      await place.close();
      throw error;
    }
    if (next === undefined) return { ...place, name, missing: folders.slice(index) };
    await place.close();
    place = next;
  }
  return { ...place, name, missing: [] };
}

/** A directory itself. The caller closes it. */
export async function openPlace(table: ScopeTable, path: ResolvedPath): Promise<Place> {
  if (path.components.length === 0) return placeOfRoot(table.root(path.scope));
  const parent = await openParent(table, path);
  try {
    if (parent.missing.length > 0) throw await missing(table, parent);
    const place = await enterOrMiss(table, parent, parent.name);
    if (place === undefined) throw await missing(table, parent);
    return place;
  } finally {
    await parent.close();
  }
}

async function enterOrMiss(table: ScopeTable, place: Place, name: string): Promise<Place | undefined> {
  const virtualPath = table.format(place.scope, [...place.components, name]);
  try {
    return await enter(table, place, name);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    if (error instanceof ScopeError) throw error;
    if (errorCode(error) === "ELOOP") throw linkRefused(virtualPath, table.allowed);
    throw errorCode(error) === "ENOTDIR" ? notADirectory(virtualPath) : systemRefused(virtualPath, error);
  }
}

/** What is there under the parent's last name; refuses a link. */
export async function lookAt(table: ScopeTable, parent: ParentPlace): Promise<EntryFacts | undefined> {
  if (parent.missing.length > 0) return undefined;
  const virtualPath = virtualPathOf(table, parent);
  let facts: EntryFacts | undefined;
  try {
    facts = await parent.directory.look(parent.name);
  } catch (error) {
    throw systemRefused(virtualPath, error);
  }
  if (facts?.type === "link") throw linkRefused(virtualPath, table.allowed);
  return facts;
}

export function componentsOf(parent: ParentPlace): readonly string[] {
  return [...parent.components, ...parent.missing, parent.name];
}

export function virtualPathOf(table: ScopeTable, parent: ParentPlace): string {
  return table.format(parent.scope, componentsOf(parent));
}

/** `not_found` with the nearest names of those that could be read here. */
export async function missing(table: ScopeTable, parent: ParentPlace): Promise<ScopeError> {
  const wanted = parent.missing[0] ?? parent.name;
  const isFolder = parent.missing.length > 0;
  const names = parent.scope.readApproval === true ? [] : await readableNames(table, parent, isFolder);
  const nearest = nearestNames(wanted, names).map((name) => table.format(parent.scope, [...parent.components, name]));
  return notFound(virtualPathOf(table, parent), nearest);
}

async function readableNames(table: ScopeTable, place: Place, foldersAlone: boolean): Promise<readonly string[]> {
  const entries = await place.directory.entries().catch(() => []);
  return entries
    .slice(0, 10_000)
    .filter(
      (entry) => entry.type === "directory" || (entry.type === "file" && !foldersAlone && hasSuffix(place.scope, entry.name)),
    )
    .filter((entry) => !entry.name.startsWith(".") && table.rootAt(place.scope, [...place.components, entry.name]) === undefined)
    .filter((entry) => table.protection(place.scope, [...place.components, entry.name]) !== "ask-read-and-write")
    .map((entry) => entry.name);
}

export function hasSuffix(scope: ScopeDeclaration, name: string): boolean {
  if (scope.suffixes === undefined) return true;
  const lower = name.toLowerCase();
  return scope.suffixes.some((suffix) => lower.endsWith(suffix.toLowerCase()));
}

export function toFileFacts(place: { scope: ScopeDeclaration; virtualPath: string }, facts: EntryFacts): FileFacts {
  return {
    virtualPath: place.virtualPath,
    scope: place.scope,
    type: facts.type === "directory" ? "directory" : "file",
    bytes: facts.bytes,
    mode: facts.mode,
    modifiedMilliseconds: facts.modifiedMilliseconds,
    identity: facts.type === "directory" ? facts.identity : facts.version,
  };
}
