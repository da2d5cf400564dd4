import { constants } from "node:fs";
import { chmod, type FileHandle, lstat, mkdir, open, readdir, readlink, rename, stat, symlink, unlink } from "node:fs/promises";
import type { Directory, DirectoryEntry, EntryFacts, HeldEntry, NewFile, OpenFile } from "./directory.ts";
import { assertFile, toFacts, toNewFile, toOpenFile, typeOf } from "./node-entry.ts";
import { assertComponent, errorCode, SystemError } from "./system-error.ts";

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
// Opens nothing, so that neither a mode forbids it nor a device notices. Node has no name for it.
const pathFlags = 0o10000000 | constants.O_NOFOLLOW;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * A directory on Linux, held by its descriptor. Node has no `openat`, but a path through `/proc/self/fd/<descriptor>/`
 * means the same: the kernel starts at the open directory itself, so nobody can swap a parent under us.
 */
export class NodeDirectory implements Directory {
  readonly identity: string;
  readonly #handle: FileHandle;
  readonly #pending = new Set<Promise<unknown>>();
  #isClosing = false;

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

  look(name: string): Promise<EntryFacts | undefined> {
    return this.#use(name, async (path) => {
      try {
        return toFacts(await lstat(path, { bigint: true }));
      } catch (error) {
        if (errorCode(error) === "ENOENT") return undefined;
        throw error;
      }
    });
  }

  openDirectory(name: string): Promise<Directory> {
    return this.#use(name, async (path) => {
      try {
        return await NodeDirectory.open(path);
      } catch (error) {
        // With both flags the kernel says ENOTDIR for a link as for a file: callers need to know which.
        if (errorCode(error) === "ENOTDIR" && (await this.look(name))?.type === "link") throw new SystemError("ELOOP");
        throw error;
      }
    });
  }

  openFile(name: string): Promise<OpenFile> {
    return this.#use(name, async (path) => {
      // Looked at before it is opened: to open a device can have effects (a tape rewinds).
      assertFile(await this.look(name));
      return toOpenFile(await open(path, readFlags));
    });
  }

  entries(): Promise<readonly DirectoryEntry[]> {
    return this.#use(".", async (path) => {
      const entries = await readdir(path, { withFileTypes: true });
      return entries.map((entry) => ({ name: entry.name, type: typeOf(entry) }));
    });
  }

  async makeDirectory(name: string, mode?: number): Promise<void> {
    await this.#use(name, (path) => mkdir(path, mode));
  }

  createFile(name: string, mode: number): Promise<NewFile> {
    return this.#use(name, async (path) => toNewFile(await open(path, createFlags, mode)));
  }

  async createLink(name: string, target: string): Promise<void> {
    await this.#use(name, (path) => symlink(target, path));
  }

  readLink(name: string): Promise<string> {
    return this.#use(name, (path) => readlink(path));
  }

  rename(from: string, to: string): Promise<void> {
    assertComponent(to);
    return this.#use(from, (path) => rename(path, this.#path(to)));
  }

  removeFile(name: string): Promise<void> {
    return this.#use(name, (path) => unlink(path));
  }

  async sync(): Promise<void> {
    await this.#use(".", () => this.#handle.sync()).catch(() => undefined);
  }

  hold(): Promise<HeldEntry> {
    return this.#use(".", async (path) => toHeldEntry(await open(path, directoryFlags)));
  }

  holdEntry(name: string): Promise<HeldEntry> {
    return this.#use(name, async (path) => toHeldEntry(await open(path, pathFlags)));
  }

  async unlock(name: string): Promise<void> {
    await this.#use(name, async (path) => {
      // Itself, by what is open already: a path through a locked directory leads nowhere, not even to itself.
      if (name === ".") return this.#handle.chmod(toFacts(await this.#handle.stat({ bigint: true })).mode | 0o700);
      const handle = await open(path, pathFlags | constants.O_DIRECTORY);
      try {
        // Through the descriptor: by its name it could be a link to somebody else's file by now.
        await chmod(`/proc/self/fd/${handle.fd}`, toFacts(await handle.stat({ bigint: true })).mode | 0o700);
      } finally {
        await handle.close();
      }
    });
  }

  /** Waits for what is under way: a descriptor's number is given away at once, and then means another directory. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    await this.#handle.close();
  }

  async #use<T>(name: string, operation: (path: string) => Promise<T>): Promise<T> {
    if (this.#isClosing && this.#pending.size === 0) throw new SystemError("EBADF");
    if (name !== ".") assertComponent(name);
    const running = operation(this.#path(name));
    this.#pending.add(running);
    try {
      return await running;
    } finally {
      this.#pending.delete(running);
    }
  }

  #path(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }
}

function toHeldEntry(handle: FileHandle): HeldEntry {
  return { path: `/proc/self/fd/${handle.fd}`, descriptor: handle.fd, close: () => handle.close() };
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
