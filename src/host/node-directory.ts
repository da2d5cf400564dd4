import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import type { Directory, DirectoryEntry, EntryFacts, NewFile, OpenFile } from "./directory.ts";
import { toFacts, toNewFile, toOpenFile, typeOf } from "./node-entry.ts";
import { assertComponent, errorCode, SystemError } from "./system-error.ts";

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * A directory on Linux, held by its descriptor. Node has no `openat`, but a path through `/proc/self/fd/<descriptor>/`
 * means the same: the kernel starts at the open directory itself, so nobody can swap a parent under us.
 */
export class NodeDirectory implements Directory {
  readonly identity: string;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, identity: string) {
    this.#handle = handle;
    this.identity = identity;
  }

  /** `path` is used as it is: no link in its last component. */
  static async open(path: string): Promise<NodeDirectory> {
    const handle = await open(path, directoryFlags);
    try {
      return new NodeDirectory(handle, toFacts(await handle.stat({ bigint: true })).identity);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async look(name: string): Promise<EntryFacts | undefined> {
    try {
      return toFacts(await lstat(this.#path(name), { bigint: true }));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async openDirectory(name: string): Promise<Directory> {
    try {
      return await NodeDirectory.open(this.#path(name));
    } catch (error) {
      // With both flags the kernel says ENOTDIR for a link as for a file: callers need to know which.
      if (errorCode(error) === "ENOTDIR" && (await this.look(name))?.type === "link") throw new SystemError("ELOOP");
      throw error;
    }
  }

  async openFile(name: string): Promise<OpenFile> {
    // Looked at before it is opened: to open a device can have effects (a tape rewinds).
    const facts = await this.look(name);
    if (facts === undefined) throw new SystemError("ENOENT");
    if (facts.type === "link") throw new SystemError("ELOOP");
    if (facts.type === "directory") throw new SystemError("EISDIR");
    if (facts.type === "other") throw new SystemError("ENXIO");
    return toOpenFile(await open(this.#path(name), readFlags));
  }

  async entries(): Promise<readonly DirectoryEntry[]> {
    const entries = await readdir(`/proc/self/fd/${this.#handle.fd}`, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, type: typeOf(entry) }));
  }

  async makeDirectory(name: string): Promise<void> {
    await mkdir(this.#path(name));
  }

  async createFile(name: string, mode: number): Promise<NewFile> {
    return toNewFile(await open(this.#path(name), createFlags, mode));
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(this.#path(from), this.#path(to));
  }

  async removeFile(name: string): Promise<void> {
    await unlink(this.#path(name));
  }

  async sync(): Promise<void> {
    await this.#handle.sync().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  #path(name: string): string {
    assertComponent(name);
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }
}

/** Whether paths through descriptors work here: `/proc` can be missing in a container, and is nowhere but on Linux. */
export async function canOpenByDescriptor(path: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const handle = await open(path, directoryFlags);
  try {
    const held = toFacts(await handle.stat({ bigint: true }));
    const seen = toFacts(await stat(`/proc/self/fd/${handle.fd}/.`, { bigint: true }));
    return held.identity === seen.identity;
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}
