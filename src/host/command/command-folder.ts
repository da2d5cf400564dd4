import { chmod, lstat, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Processes } from "../host.ts";

/** The folder of the commands of one call that has no scopes. Owned by the scopes of that call, which remove it. */
export interface CommandFolder {
  /** Absolute and real. */
  readonly path: string;
  /** Never rejects: what cannot be removed now is removed by a later process. */
  remove(): Promise<void>;
}

const prefix = "llm-do-commands_";

export function createCommandFolders(processes: Processes): () => Promise<CommandFolder> {
  const make = createTemporaryFolders(prefix, processes);
  return async () => {
    const path = await make();
    return { path, remove: () => removeTree(path) };
  };
}

/**
 * Makes empty folders that only this user can enter, in the machine's folder for temporary files, and returns their real paths. Their names
 * say which process owns them: the first one that a process makes removes those of processes that have ended.
 */
export function createTemporaryFolders(prefix: string, processes: Processes): () => Promise<string> {
  let swept: Promise<void> | undefined;
  return async () => {
    const parent = await realpath(tmpdir());
    swept ??= sweepFolders(parent, prefix, processes);
    await swept;
    return mkdtemp(join(parent, nameOwned(prefix, processes)));
  };
}

/** The beginning of the names of folders that belong to this process. */
export function nameOwned(prefix: string, processes: Processes): string {
  return `${prefix}${processes.self.replaceAll(" ", "_")}_`;
}

/** The process that a name from `nameOwned` with more behind it belongs to; undefined for other names. */
export function ownerOf(name: string, prefix: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length, name.lastIndexOf("_")).replaceAll("_", " ") : undefined;
}

/**
 * Removes folders of processes that have ended, by the names that `nameOwned` gives. Those of another user stay: that user could replace
 * what is in them meanwhile.
 */
export async function sweepFolders(parent: string, prefix: string, processes: Processes): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const owner = ownerOf(name, prefix);
    if (owner === undefined || processes.isRunning(owner) !== false) continue;
    const facts = await lstat(join(parent, name)).catch(() => undefined);
    if (facts?.isDirectory() && facts.uid === (process.getuid?.() ?? facts.uid)) await removeTree(join(parent, name));
  }
}

/** Removes folders, too, that a command has made unreadable. */
async function removeTree(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 2 });
  await remove()
    .catch(() => openFolders(path).then(remove))
    .catch(() => undefined);
}

async function openFolders(path: string): Promise<void> {
  await chmod(path, 0o700);
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await openFolders(join(path, entry.name));
}
