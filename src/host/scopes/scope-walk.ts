import { nearestNames } from "../../util/text/nearest-names.ts";
import type { Directory, EntryFacts } from "../files/directory.ts";
import { errorCode } from "../files/system-error.ts";
import { linkRefused, notADirectory, notFound, privateFolder, replacedRoot, systemRefused } from "./scope-refusals.ts";
import type { ScopeRoot, ScopeTable } from "./scope-table.ts";
import { type FileFacts, type ResolvedPath, type ScopeDeclaration, ScopeError } from "./scopes.ts";

/** How many levels down a walk goes. Each level opens a descriptor. */
export const mostLevels = 200;

/** How many names or folders a walk looks at. */
export const mostWalked = 1_000_000;

/** How many of the folders below the deepest level are named. */
export const mostNamed = 10;

/** An open folder with the deepest scope that it lies in, and its path below that scope's root. */
export interface OpenFolder {
  readonly directory: Directory;
  readonly scope: ScopeDeclaration;
  readonly components: readonly string[];
  close(): Promise<void>;
}

/** The deepest folder on the way to a path that exists, and the path in terms of that folder's scope. */
export interface ParentFolder extends OpenFolder {
  /** Folders that do not exist yet, from this one down to the one that would hold `name`. */
  readonly missing: readonly string[];
  readonly name: string;
  /** The path below the scope's root. */
  readonly path: readonly string[];
  readonly virtualPath: string;
}

export function folderOfRoot(root: ScopeRoot): OpenFolder {
  // The root stays open until the scopes are closed.
  return { directory: root.directory, scope: root.declaration, components: [], close: async () => {} };
}

/** Rejects if another folder took the root's path: the open one leads nowhere outside, but users see the other one there. */
export async function assertInPlace(table: ScopeTable, scope: ScopeDeclaration): Promise<void> {
  if (!(await table.root(scope).directory.isInPlace())) throw replacedRoot(table.format(scope, []));
}

/** Opens a folder in an open one. System errors such as `ENOENT` are not translated. The caller closes it. */
export async function openSubfolder(table: ScopeTable, above: OpenFolder, name: string): Promise<OpenFolder> {
  const components = [...above.components, name];
  if (table.isPrivate(above.scope, components)) throw privateFolder(table.format(above.scope, components));
  const directory = await above.directory.openDirectory(name);
  const declared = table.rootAt(above.scope, components);
  const actual = table.rootWithIdentity(directory.identity);
  const close = () => directory.close();
  if (actual !== undefined) return { directory, scope: actual.declaration, components: [], close };
  if (declared === undefined) return { directory, scope: above.scope, components, close };
  await close();
  throw replacedRoot(table.format(declared.declaration, []));
}

type Use<T> = (folder: OpenFolder) => Promise<T>;

/** Runs a function with the folder of a path. */
export async function inFolder<T>(table: ScopeTable, path: ResolvedPath, use: Use<T>): Promise<T> {
  return closing(await openFolder(table, path), use);
}

/** Runs a function and closes what it was given. */
export async function closing<F extends { close(): Promise<void> }, T>(open: F, use: (open: F) => Promise<T>): Promise<T> {
  try {
    return await use(open);
  } finally {
    await open.close();
  }
}

/** Opens the deepest folder that exists above a path's last name. The caller closes it. */
export async function openParent(table: ScopeTable, { scope, components }: ResolvedPath): Promise<ParentFolder> {
  const folders = components.slice(0, -1);
  let folder = folderOfRoot(table.root(scope));
  for (const [index, name] of folders.entries()) {
    const next = await openOrMiss(table, folder, name).catch(async (error: unknown) => {
      await folder.close();
      throw error;
    });
    if (next === undefined) return toParent(table, folder, components.slice(index));
    await folder.close();
    folder = next;
  }
  return toParent(table, folder, components.slice(-1));
}

/** `rest`: the names below the folder, the last one included. */
export function toParent(table: ScopeTable, folder: OpenFolder, rest: readonly string[]): ParentFolder {
  const path = [...folder.components, ...rest];
  const virtualPath = table.format(folder.scope, path);
  return { ...folder, missing: rest.slice(0, -1), name: rest.at(-1) ?? "", path, virtualPath };
}

/** The caller closes it. */
export async function openFolder(table: ScopeTable, path: ResolvedPath): Promise<OpenFolder> {
  if (path.components.length === 0) return folderOfRoot(table.root(path.scope));
  return closing(await openParent(table, path), async (parent) => {
    const folder = parent.missing.length > 0 ? undefined : await openOrMiss(table, parent, parent.name);
    if (folder === undefined) throw await notFoundIn(table, parent);
    return folder;
  });
}

async function openOrMiss(table: ScopeTable, above: OpenFolder, name: string): Promise<OpenFolder | undefined> {
  try {
    return await openSubfolder(table, above, name);
  } catch (error) {
    const virtualPath = table.format(above.scope, [...above.components, name]);
    if (errorCode(error) === "ENOENT") return undefined;
    if (error instanceof ScopeError) throw error;
    if (errorCode(error) === "ELOOP") throw linkRefused(virtualPath, table.allowed);
    throw errorCode(error) === "ENOTDIR" ? notADirectory(virtualPath) : systemRefused(virtualPath, error);
  }
}

/** Looks at a path's last name; rejects a link. */
export async function lookAt(table: ScopeTable, parent: ParentFolder): Promise<EntryFacts | undefined> {
  if (table.isPrivate(parent.scope, parent.path)) throw privateFolder(parent.virtualPath);
  if (parent.missing.length > 0) return undefined;
  const facts = await parent.directory.look(parent.name).catch((error: unknown) => {
    throw systemRefused(parent.virtualPath, error);
  });
  if (facts?.type === "link") throw linkRefused(parent.virtualPath, table.allowed);
  return facts;
}

/** `not_found` with the nearest names of those that can be read here. */
export async function notFoundIn(table: ScopeTable, parent: ParentFolder): Promise<ScopeError> {
  const names = parent.scope.readApproval === true ? [] : await readableNames(table, parent);
  const nearest = nearestNames(parent.missing[0] ?? parent.name, names);
  return notFound(
    parent.virtualPath,
    nearest.map((name) => table.format(parent.scope, [...parent.components, name])),
  );
}

async function readableNames(table: ScopeTable, { directory, scope, components, missing }: ParentFolder) {
  const entries = await directory.entries().catch(() => []);
  return entries
    .slice(0, 10_000)
    .filter(({ type, name }) => type === "directory" || (type === "file" && missing.length === 0 && hasSuffix(scope, name)))
    .filter(({ name }) => !name.startsWith(".") && table.rootAt(scope, [...components, name]) === undefined)
    .filter(({ name }) => table.protection(scope, [...components, name]) !== "ask-read-and-write")
    .map(({ name }) => name);
}

export function hasSuffix(scope: ScopeDeclaration, name: string): boolean {
  if (scope.suffixes === undefined) return true;
  const lower = name.toLowerCase();
  return scope.suffixes.some((suffix) => lower.endsWith(suffix.toLowerCase()));
}

export function toFileFacts(at: Pick<FileFacts, "scope" | "virtualPath">, facts: EntryFacts): FileFacts {
  const { bytes, mode, modifiedMilliseconds } = facts;
  const { scope, virtualPath } = at;
  const isFolder = facts.type === "directory";
  const identity = isFolder ? facts.identity : facts.version;
  return { virtualPath, scope, type: isFolder ? "directory" : "file", bytes, mode, modifiedMilliseconds, identity };
}
