import { join, relative, sep } from "node:path";
import { isWithin } from "../../util/within.ts";
import type { EntryHandle } from "../directory.ts";
import { replacedRoot } from "../scope-refusals.ts";
import type { ScopeTable } from "../scope-table.ts";
import { inFolder, type OpenFolder } from "../scope-walk.ts";
import type { ScopeDeclaration } from "../scopes.ts";
import { enclosing, foldersAbove, type Mount } from "./mount.ts";
import type { ProtectedEntry } from "./protected-entries.ts";

/** Folders that the wall makes itself. */
const ownFolders = ["/proc", "/dev", "/sys"];

/** The roots of scopes with their rights. `handles`: of the roots, in their order. `open`: as `CommandRequest.openScopes`. */
export function toRootMounts(
  table: ScopeTable,
  handles: readonly EntryHandle[],
  open: readonly string[] | undefined,
): readonly Mount[] {
  return table.roots.flatMap(({ declaration, realPath: path }, index): readonly Mount[] => {
    if (ownFolders.some((folder) => isWithin(path, folder))) return [];
    const isOpen = open?.includes(declaration.name) !== false;
    if (!isOpen && declaration.readApproval === true) return [{ kind: "hidden-folder", path }];
    const isWritable = declaration.mode === "rw" && (isOpen || declaration.writeApproval !== true);
    return [toMount(isWritable ? "writable" : "read-only", path, handles[index])];
  });
}

/** Keeps a handle until the command has ended. */
export type KeepHandle = (opening: Promise<EntryHandle>) => Promise<EntryHandle>;

export interface Pinning {
  /** All mounts of the command's view. */
  readonly mounts: readonly Mount[];
  /** Those with what the command may not write to or see. */
  readonly closed: readonly Mount[];
  readonly keep: KeepHandle;
}

/**
 * Mounts the folders of writable scopes that something closed lies in onto themselves: a mount point cannot be renamed. Otherwise the
 * next command would find the closed files at another path, where nothing closes them.
 */
export async function pinFolders(table: ScopeTable, { mounts, closed, keep }: Pinning): Promise<readonly Mount[]> {
  const around = enclosing(mounts);
  const pins: Mount[] = [];
  const isMounted = new Set(mounts.map(({ path }) => path));
  for (const folder of new Set(closed.flatMap(({ path }) => foldersAbove(path)))) {
    const outer = around(folder);
    const root = outer?.kind === "writable" && table.roots.find(({ realPath }) => realPath === outer.path);
    if (!root || isMounted.has(folder)) continue;
    const components = relative(root.realPath, folder).split(sep);
    pins.push(toMount("writable", folder, await keep(openInside(table, root.declaration, components))));
  }
  return pins;
}

/** Follows no link, and rejects where the folder has become the root of another scope. */
function openInside(table: ScopeTable, scope: ScopeDeclaration, components: readonly string[]): Promise<EntryHandle> {
  return inFolder(table, { scope, components, virtualPath: table.format(scope, components) }, (folder) => {
    if (folder.scope !== scope) throw replacedRoot(table.format(folder.scope, []));
    return folder.directory.openHandle(".");
  });
}

/** Nothing can be mounted over a link. A command can replace one; the new one is moved aside then. */
export function toMask(entry: ProtectedEntry): readonly Mount[] {
  const { facts, hostPath: path, handle } = entry;
  if (facts.type === "link") return [];
  if (entry.access === "hidden") return [{ kind: facts.type === "directory" ? "hidden-folder" : "hidden-file", path }];
  return handle === undefined ? [] : [toMount("read-only", path, handle)];
}

function toMount(kind: "read-only" | "writable", path: string, handle: EntryHandle | undefined): Mount {
  const { descriptor } = handle ?? {};
  return descriptor === undefined ? { kind, path, source: path } : { kind, path, source: path, descriptor };
}

/** Finds the folder in which a command starts in the wall. `isFixed`: a root that lies in no other; nothing else can be at its path. */
export function findStart(table: ScopeTable, folder: OpenFolder): { readonly path: string; readonly isFixed: boolean } {
  const root = table.root(folder.scope).realPath;
  const isNested = table.roots.some(({ realPath }) => realPath !== root && isWithin(root, realPath));
  const isFixed = folder.components.length === 0 && !isNested;
  return { path: join(root, ...folder.components), isFixed };
}
