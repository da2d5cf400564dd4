import { join, relative, sep } from "node:path";
import { isWithin } from "../../util/within.ts";
import type { CommandRequest } from "../commands.ts";
import type { EntryHandle } from "../files/directory.ts";
import { replacedRoot } from "../scopes/scope-refusals.ts";
import type { ScopeTable } from "../scopes/scope-table.ts";
import { inFolder, type OpenFolder } from "../scopes/scope-walk.ts";
import type { ScopeDeclaration } from "../scopes/scopes.ts";
import type { FolderInScope } from "./hidden-entries.ts";
import { enclosing, type Mount } from "./mount.ts";
import type { ProtectedEntry } from "./protected-entries.ts";
import { hostPathOf, isWritable, type WritePlace } from "./write-places.ts";

/** Folders that the wall makes itself. */
const ownFolders = ["/proc", "/dev", "/sys"];

export interface ScopeRights {
  readonly request: Pick<CommandRequest, "rights">;
  readonly places: readonly WritePlace[];
}

/** The roots of scopes with their rights. `handles`: of the roots, in their order. */
export function toRootMounts(table: ScopeTable, handles: readonly EntryHandle[], given: ScopeRights): readonly Mount[] {
  return table.roots.flatMap(({ declaration, realPath: path }, index): readonly Mount[] => {
    if (ownFolders.some((folder) => isWithin(path, folder))) return [];
    if (!isShown(declaration, given)) return [{ kind: "hidden-folder", path }];
    if (given.request.rights?.scratch) return [{ ...toMount("writable", path, handles[index]), isLayer: true }];
    const kind = isWritable(given.places, { scope: declaration, components: [] }) ? "writable" : "read-only";
    return [toMount(kind, path, handles[index])];
  });
}

/** What needs an approval to be read, or has files that file tools do not show, is shown by name alone. */
export function isShown(
  { name, readApproval, suffixes }: ScopeDeclaration,
  { request: { rights } }: Pick<ScopeRights, "request">,
): boolean {
  return rights === undefined || (readApproval !== true && suffixes === undefined) || rights.reads.includes(name);
}

/** The folders in scopes that may be written. `handles`: of the places, in their order. */
export function toPlaceMounts(
  table: ScopeTable,
  places: readonly WritePlace[],
  handles: readonly EntryHandle[],
): readonly Mount[] {
  return places.flatMap((place, index) =>
    place.components.length === 0 ? [] : [toMount("writable", hostPathOf(table, place), handles[index])],
  );
}

/** Keeps a handle until the command has ended. */
export type KeepHandle = (opening: Promise<EntryHandle>) => Promise<EntryHandle>;

export interface Pinning {
  /** All mounts of the command's view. */
  readonly mounts: readonly Mount[];
  /** Folders that something lies in which the command may not write to or see. */
  readonly folders: readonly string[];
  readonly places: readonly WritePlace[];
  readonly keep: KeepHandle;
}

/**
 * Mounts the folders of writable scopes that something closed lies in onto themselves: a mount point cannot be renamed. Otherwise the
 * next command would find the closed files at another path, where nothing closes them.
 */
export async function pinFolders(table: ScopeTable, { mounts, folders, places, keep }: Pinning): Promise<readonly Mount[]> {
  const around = enclosing(mounts);
  const pins: Mount[] = [];
  const isMounted = new Set(mounts.map(({ path }) => path));
  for (const folder of new Set(folders)) {
    const outer = around(folder);
    const place = outer?.kind === "writable" && places.find((one) => hostPathOf(table, one) === outer.path);
    if (!place || isMounted.has(folder)) continue;
    const components = [...place.components, ...relative(outer.path, folder).split(sep)];
    pins.push(toMount("writable", folder, await keep(openInside(table, place.scope, components))));
  }
  return pins;
}

/** Folders of dependencies that a command writes in as it likes, and of which nothing remains. */
export async function toLayerMounts(
  table: ScopeTable,
  folders: readonly FolderInScope[],
  keep: KeepHandle,
): Promise<readonly Mount[]> {
  return Promise.all(
    folders.map(async ({ scope, components }) => {
      const mount = toMount(
        "writable",
        hostPathOf(table, { scope, components }),
        await keep(openInside(table, scope, components)),
      );
      return { ...mount, isLayer: true };
    }),
  );
}

/** Follows no link, and rejects if the folder has become the root of another scope. */
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

function toMount(
  kind: "read-only" | "writable",
  path: string,
  handle: EntryHandle | undefined,
): Extract<Mount, { source: string }> {
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
