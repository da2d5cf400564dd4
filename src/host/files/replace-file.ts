import type { Directory, EntryFacts, NewFile } from "./directory.ts";
import { createTemporaryName, isLeftOver, isTemporaryName, lockKeyOf, type Writer } from "./temporary-name.ts";
import { removeLeftLocks } from "./write-lock.ts";

export interface Replacement {
  readonly bytes: Uint8Array;
  readonly writer: Writer;
  /** The file that is replaced, whose mode and, where the system lets us, owner are kept. */
  readonly like?: Pick<EntryFacts, "user" | "group" | "mode"> | undefined;
  /** The mode of a new file, subject to the process's mask. Default 0o666. */
  readonly mode?: number | undefined;
  /** Calls `rename`, after a last check or under a lock. If it throws, nothing is written. Default: calls it at once. */
  readonly commit?: (rename: () => Promise<void>) => Promise<void>;
}

/**
 * Writes a file whole or not at all: a new name in the same directory, on disk, then renamed over the target. Access
 * lists and extended attributes of a replaced file are lost. A file with several hard links is replaced under this one
 * name; the others keep the old content.
 */
export async function replaceFile(directory: Directory, name: string, replacement: Replacement): Promise<void> {
  const { bytes, writer, like, mode = 0o666, commit = (rename) => rename() } = replacement;
  const temporary = createTemporaryName(writer);
  const file = await directory.createFile(temporary, like === undefined ? mode : 0o600);
  try {
    await fill(file, bytes, like);
    await commit(() => directory.rename(temporary, name));
    await writer.writes?.note(() => directory.look(name));
  } catch (error) {
    await directory.removeFile(temporary).catch(() => undefined);
    throw error;
  }
  await directory.sync();
}

async function fill(file: NewFile, bytes: Uint8Array, like: Replacement["like"]): Promise<void> {
  try {
    await file.write(bytes);
    if (like !== undefined) {
      await file.setOwner(like.user, like.group).catch(() => undefined);
      await file.setMode(like.mode);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Removes the temporaries and locks that killed processes left in a directory. Never fails. Returns the names of the folders in it. */
export async function removeLeftOvers(directory: Directory, writer: Writer): Promise<readonly string[]> {
  const entries = await directory.entries().catch(() => []);
  try {
    const locks = entries.map(({ name }) => name).filter((name) => lockKeyOf(name) !== undefined);
    await removeLeftLocks(directory, locks, writer);
    for (const entry of entries) {
      if (entry.type !== "file" || !isTemporaryName(entry.name)) continue;
      const facts = await directory.look(entry.name);
      if (facts?.type !== "file" || !isLeftOver(entry.name, facts.modifiedMilliseconds, writer)) continue;
      await directory.removeFile(entry.name);
    }
  } catch {
    // A later write tries again.
  }
  return entries.filter(({ type }) => type === "directory").map(({ name }) => name);
}
