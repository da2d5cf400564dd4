import type { Directory } from "../files/directory.ts";
import type { ScopeTable } from "../scopes/scope-table.ts";
import { closing, openParent, openSubfolder } from "../scopes/scope-walk.ts";
import { type FindOptions, findProtected, type ProtectedEntries, type ProtectedEntry } from "../wall/protected-entries.ts";

export interface MoveOptions extends Pick<FindOptions, "table" | "unprotected" | "places" | "followsLinks" | "gitFolders"> {
  /** The entries before the command. */
  readonly before: ProtectedEntries;
  /** Unguessable letters and digits. */
  readonly randomName: () => string;
  /** True for what llm-do itself wrote while the command ran. */
  readonly isOurs: (entry: ProtectedEntry) => boolean;
}

/**
 * Renames protected names that a command brought into writable scopes, in their own folders: `.git` becomes
 * `git.moved-aside-k2x9`, which steers nothing; and then those in a folder that was renamed, which no walk looks into under its protected
 * name. Returns the virtual paths where they appeared. Entries that existed before and
 * moved with their folder stay. Entries that another program made meanwhile are moved, too: they cannot be distinguished.
 */
export async function moveAside(options: MoveOptions): Promise<readonly string[]> {
  const known = new Set(options.before.entries.map(keyOf));
  return options.places.length === 0 ? [] : moveIn(options, known);
}

async function moveIn(options: MoveOptions, known: ReadonlySet<string>): Promise<readonly string[]> {
  const { table, before } = options;
  const { entries } = await findProtected({ ...options, unlock: { except: before.locked } });
  const moved: string[] = [];
  for (const entry of entries) {
    if (known.has(keyOf(entry)) || options.isOurs(entry)) continue;
    const folder = await rename(table, entry, options.randomName());
    moved.push(table.format(entry.scope, entry.components));
    if (folder) moved.push(...(await closing(folder, (place) => moveIn({ ...options, places: [place] }, known))));
  }
  return moved;
}

/**
 * Files and folders are compared by inode. The inode of a link can be reused at once, so its times count, too, and what it leads to:
 * a command can have put something there.
 */
function keyOf({ facts, target }: ProtectedEntry): string {
  return facts.type === "link" ? `${facts.version} ${target}` : facts.identity;
}

/** Resolves with the folder under its new name, if it is one. The caller closes it. */
async function rename(table: ScopeTable, { scope, components, facts }: ProtectedEntry, random: string) {
  return closing(await openParent(table, { scope, components, virtualPath: "" }), async (parent) => {
    const { directory, name } = parent;
    const aside = `${name.replace(/^\.+/, "").slice(0, 60)}.moved-aside-${random}`;
    // The command may have taken away the rights to change the folder, and to look into what is renamed.
    await unlocking(directory, ".", () => directory.rename(name, aside));
    if (facts.type !== "directory") return undefined;
    return unlocking(directory, aside, () => openSubfolder(table, parent, aside)).catch(() => undefined);
  });
}

async function unlocking<T>(directory: Directory, name: string, change: () => Promise<T>): Promise<T> {
  return change().catch(async () => {
    await directory.unlock(name);
    return change();
  });
}
