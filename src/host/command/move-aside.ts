import type { ScopeTable } from "../scopes/scope-table.ts";
import { openParent } from "../scopes/scope-walk.ts";
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
 * `git.moved-aside-k2x9`, which steers nothing. Returns the virtual paths where they appeared. Entries that existed before and
 * moved with their folder stay. Entries that another program made meanwhile are moved, too: they cannot be distinguished.
 */
export async function moveAside(options: MoveOptions): Promise<readonly string[]> {
  const { table, places, before } = options;
  if (places.length === 0) return [];
  const { entries } = await findProtected({ ...options, unlock: { except: before.locked } });
  const known = new Set(before.entries.map(keyOf));
  const moved: string[] = [];
  for (const entry of entries) {
    if (known.has(keyOf(entry)) || options.isOurs(entry)) continue;
    await rename(table, entry, options.randomName());
    moved.push(table.format(entry.scope, entry.components));
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

async function rename(table: ScopeTable, entry: ProtectedEntry, random: string): Promise<void> {
  const { scope, components } = entry;
  const parent = await openParent(table, { scope, components, virtualPath: "" });
  const aside = `${parent.name.replace(/^\.+/, "").slice(0, 60)}.moved-aside-${random}`;
  try {
    await parent.directory.rename(parent.name, aside).catch(async () => {
      // The command may have taken away the right to change the folder.
      await parent.directory.unlock(".");
      await parent.directory.rename(parent.name, aside);
    });
  } finally {
    await parent.close();
  }
}
