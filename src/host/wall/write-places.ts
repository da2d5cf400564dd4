import { join } from "node:path";
import type { CommandRequest } from "../commands.ts";
import { makeFolder } from "../files/make-folders.ts";
import { notWritable, replacedRoot, systemRefused } from "../scopes/scope-refusals.ts";
import type { ScopeTable } from "../scopes/scope-table.ts";
import { folderOfRoot, type OpenFolder, openParent, openSubfolder } from "../scopes/scope-walk.ts";
import { type ResolvedPath, type ScopeDeclaration, ScopeError } from "../scopes/scopes.ts";

/** A folder that a command may write in, whole: a scope's root, or a folder in one. Nested scopes are places of their own. */
export type WritePlace = OpenFolder;

/**
 * Opens the folders that a command may write in, and makes those that are missing. Without rights: the roots of all `rw` scopes.
 * The caller closes them.
 */
export async function openPlaces(table: ScopeTable, { rights }: Pick<CommandRequest, "rights">): Promise<readonly WritePlace[]> {
  if (rights === undefined) return writableRoots(table);
  const places: WritePlace[] = [];
  try {
    for (const path of rights.writes) places.push(await openPlace(table, path));
    return places;
  } catch (error) {
    await closePlaces(places);
    throw error;
  }
}

export function writableRoots(table: ScopeTable): readonly WritePlace[] {
  return table.roots.filter(({ declaration }) => declaration.mode === "rw").map(folderOfRoot);
}

export async function closePlaces(places: readonly WritePlace[]): Promise<void> {
  await Promise.all(places.map((place) => place.close()));
}

async function openPlace(table: ScopeTable, path: ResolvedPath): Promise<WritePlace> {
  const { scope, components, virtualPath } = path;
  if (scope.mode !== "rw") throw notWritable(`"${virtualPath}" cannot be written: its scope is read-only.`, table.allowed);
  if (components.length === 0) return folderOfRoot(table.root(scope));
  const parent = await openParent(table, path);
  let folder: OpenFolder = parent;
  try {
    for (const name of [...parent.missing, parent.name]) folder = await enter(table, folder, name);
    if (folder.scope === scope) return folder;
    throw replacedRoot(table.format(folder.scope, []));
  } catch (error) {
    await folder.close();
    throw error instanceof ScopeError ? error : systemRefused(virtualPath, error);
  }
}

/** Opens a folder in another one, which it closes; makes it where it is missing. */
async function enter(table: ScopeTable, above: OpenFolder, name: string): Promise<OpenFolder> {
  const components = [...above.components, name];
  if (table.protection(above.scope, components) !== undefined) {
    throw new ScopeError("path_protected", `"${table.format(above.scope, components)}" is a protected name.`);
  }
  await makeFolder(above.directory, name, { writer: table.writer });
  const next = await openSubfolder(table, above, name);
  await above.close();
  return next;
}

/** Returns whether all that is directly in a folder may be written. */
export function isWritable(places: readonly Pick<WritePlace, "scope" | "components">[], folder: FolderOfScope): boolean {
  return places.some(({ scope, components }) => {
    return scope === folder.scope && components.every((name, index) => name === folder.components[index]);
  });
}

interface FolderOfScope {
  readonly scope: ScopeDeclaration;
  readonly components: readonly string[];
}

export function hostPathOf(table: ScopeTable, { scope, components }: FolderOfScope): string {
  return join(table.root(scope).realPath, ...components);
}
