import { basename, relative, sep } from "node:path";
import { isWithin } from "../../util/within.ts";
import type { CommandResult } from "../commands.ts";
import type { Directory, EntryFacts } from "../files/directory.ts";
import { closing, mostLevels, type OpenFolder, openParent, openSubfolder } from "../scopes/scope-walk.ts";
import { insideOpenGit } from "../wall/git/git-parts.ts";
import {
  type FindOptions,
  findProtected,
  type HeldLink,
  type ProtectedEntries,
  type ProtectedEntry,
} from "../wall/protected-entries.ts";
import { hostPathOf, type WritePlace } from "../wall/write-places.ts";
import { textOfLink } from "./look.ts";
import { dependencyFolders } from "./program-folders.ts";

export interface MoveOptions
  extends Pick<FindOptions, "table" | "unprotected" | "places" | "followsLinks" | "gitFolders" | "steering"> {
  readonly before: EntriesBefore;
  /** Unguessable letters and digits. */
  readonly randomName: () => string;
  /** True for what llm-do itself wrote while the command ran. */
  readonly isOurs: (entry: ProtectedEntry) => boolean;
}

/** The entries before the command, with their handles still open. */
export interface EntriesBefore extends Pick<ProtectedEntries, "locked"> {
  readonly entries: readonly EntryBefore[];
  readonly targets: readonly EntryBefore[];
  readonly links: readonly HeldBefore[];
}

export type HeldBefore = Pick<HeldLink, "scope" | "components" | "hostPath" | "text">;

export interface EntryBefore extends Pick<ProtectedEntry, "hostPath" | "text" | "target" | "handle"> {
  readonly facts: Pick<EntryFacts, "type" | "identity" | "version">;
}

/** Another process can rename a folder at the same time. More failures are no accident. */
const attempts = 3;

/** Virtual paths. */
export interface Restored extends Pick<CommandResult, "movedAside" | "putBack"> {
  /** The first of what could not be done. */
  readonly failure?: unknown;
}

interface Restoring extends MoveOptions {
  /** The entries that may stay. */
  readonly known: Set<string>;
  readonly movedAside: string[];
  readonly putBack: string[];
  readonly failures: unknown[];
}

/**
 * Sets protected names right after a command. Links that it removed or replaced are put back. Protected names that it brought into
 * writable scopes are renamed, in their own folders: `.git` becomes `git.moved-aside-k2x9`, which steers nothing; and then those in a
 * folder that was renamed, which no walk looks into under its protected name. Entries that existed before and
 * moved with their folder stay; where that lies in a folder of dependencies now, this one is renamed, since no name in it is protected.
 * Entries that another program made meanwhile are moved, too: they cannot be distinguished. What fails keeps nothing else from being
 * done, and is tried again.
 */
export async function moveAside(options: MoveOptions): Promise<Restored> {
  const { before, places } = options;
  const known = new Set(before.entries.flatMap(keysOf));
  const restoring: Restoring = { ...options, known, movedAside: [], putBack: [], failures: [] };
  const { movedAside, putBack, failures } = restoring;
  if (places.length === 0) return { movedAside };
  for (let left = attempts; left > 0; left--) {
    failures.length = 0;
    // First: what protected links lead to is compared.
    for (const link of before.links) await trying(restoring, () => putLinkBack(restoring, link));
    for (const entry of [...before.entries, ...before.targets])
      await trying(restoring, () => leaveDependencies(restoring, entry));
    await moveIn(restoring, places);
    if (failures.length === 0) break;
  }
  return { movedAside, putBack: putBack.length > 0 ? putBack : undefined, failure: failures[0] };
}

async function trying({ failures }: Restoring, change: () => Promise<void>): Promise<void> {
  await change().catch((error: unknown) => void failures.push(error));
}

async function moveIn(restoring: Restoring, places: readonly WritePlace[]): Promise<void> {
  const { before, known, isOurs, unprotected } = restoring;
  const { entries } = await findProtected({ ...restoring, places, unlock: { except: before.locked } });
  for (const entry of entries) {
    if (keysOf(entry).some((key) => known.has(key)) || isOurs(entry)) continue;
    // A folder that lies too deep is not looked into, but hidden whole. In `.git` no program reads the new name.
    const isWhole = entry.components.length > mostLevels || Boolean(insideOpenGit(entry.components, unprotected)?.length);
    await trying(restoring, async () => {
      const aside = await rename(restoring, entry, isWhole ? undefined : (folder) => moveIn(restoring, [folder]));
      if (isWhole) for (const key of keysOf({ ...entry, hostPath: aside })) known.add(key);
    });
  }
}

/**
 * Files and folders are compared by inode and name: a hard link of one is none of another name. The inode of a link can be reused at once, so
 * its times count, too, or its place and text; and what it leads to: a command can have put something there.
 */
export function keysOf({ facts, hostPath, text, target }: EntryBefore): readonly string[] {
  return facts.type === "link"
    ? [`${facts.version} ${target}`, `${hostPath}\0${text}\0${target}`]
    : [`${facts.identity} ${basename(hostPath)}`];
}

type Placed = Pick<ProtectedEntry, "scope" | "components">;

/** `use` gets the folder under its new name, if it is one. Resolves with that name. */
async function rename(
  { table, randomName, movedAside }: Restoring,
  { scope, components }: Placed,
  use?: (folder: OpenFolder) => Promise<void>,
): Promise<string> {
  return closing(await openParent(table, { scope, components, virtualPath: "" }), async (parent) => {
    const { directory, name } = parent;
    const aside = `${name.replace(/^\.+/, "").slice(0, 60)}.moved-aside-${randomName()}`;
    // The command may have taken away the rights to change the folder, and to look into what is renamed.
    await unlocking(directory, ".", () => directory.rename(name, aside));
    movedAside.push(table.format(scope, components));
    if (use === undefined || (await directory.look(aside))?.type !== "directory") return aside;
    const folder = await unlocking(directory, aside, () => openSubfolder(table, parent, aside)).catch(() => undefined);
    if (folder !== undefined) await closing(folder, use);
    return aside;
  });
}

/** Makes a link again that is gone or replaced, under its own name in its own folder. */
async function putLinkBack(restoring: Restoring, { scope, components, text }: HeldBefore): Promise<void> {
  const { table, putBack } = restoring;
  await closing(await openParent(table, { scope, components, virtualPath: "" }), async ({ directory, name, missing }) => {
    if (missing.length > 0) return;
    const facts = await directory.look(name);
    if (facts?.type === "link" && (await directory.readLink(name)) === text) return;
    if (facts !== undefined) await rename(restoring, { scope, components });
    await unlocking(directory, ".", () => directory.createLink(name, text));
    putBack.push(table.format(scope, components));
  });
}

/** Renames the folders of dependencies that a protected entry was moved into, the innermost first. */
async function leaveDependencies(restoring: Restoring, { hostPath, handle }: EntryBefore): Promise<void> {
  const { table, places } = restoring;
  if (handle?.descriptor === undefined) return;
  for (;;) {
    const path = textOfLink(`/proc/self/fd/${handle.descriptor}`);
    if (path === undefined || path === hostPath || path.endsWith(" (deleted)")) return;
    const place = places.find((one) => isWithin(path, hostPathOf(table, one)));
    if (place === undefined) return;
    const names = relative(hostPathOf(table, place), path).split(sep);
    const count = names.findLastIndex((name) => dependencyFolders.has(name)) + 1;
    if (count === 0) return;
    const components = [...place.components, ...names.slice(0, count)];
    await rename(restoring, { scope: place.scope, components });
  }
}

async function unlocking<T>(directory: Directory, name: string, change: () => Promise<T>): Promise<T> {
  return change().catch(async () => {
    await directory.unlock(name);
    return change();
  });
}
