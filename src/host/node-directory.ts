import { constants } from "node:fs";
import { chmod, type FileHandle, open, stat } from "node:fs/promises";
import type { Directory, EntryHandle } from "./directory.ts";
import { toFacts } from "./node-entry.ts";
import { SystemDirectory } from "./system-directory.ts";
import { assertComponent, errorCode, SystemError } from "./system-error.ts";

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// O_PATH, for which Node has no name. Opens no content: no mode forbids it, and no device notices it.
const pathFlags = 0o10000000 | constants.O_NOFOLLOW;

/**
 * A directory on Linux, held by its descriptor. Node has no `openat`, but a path through `/proc/self/fd/<descriptor>/`
 * means the same: the kernel starts at the open directory itself, so no swapped parent can redirect it.
 */
export class NodeDirectory extends SystemDirectory {
  readonly #handle: FileHandle;
  readonly #pending = new Set<Promise<unknown>>();
  #isClosing = false;

  private constructor(handle: FileHandle, identity: string) {
    super(identity);
    this.#handle = handle;
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

  override openDirectory(name: string): Promise<Directory> {
    return super.openDirectory(name).catch(async (error: unknown) => {
      // With both flags the kernel says ENOTDIR for a link as for a file: callers need to know which.
      if (errorCode(error) === "ENOTDIR" && (await this.look(name))?.type === "link") throw new SystemError("ELOOP");
      throw error;
    });
  }

  openHandle(name: string): Promise<EntryHandle> {
    return this.use(name, async (path) => {
      const handle = await open(path, pathFlags);
      return { path: `/proc/self/fd/${handle.fd}`, descriptor: handle.fd, close: () => handle.close() };
    });
  }

  async unlock(name: string): Promise<void> {
    await this.use(name, async (path) => {
      // A path through a locked directory leads nowhere, not even to itself; its open handle does.
      if (name === ".") return this.#handle.chmod(toFacts(await this.#handle.stat({ bigint: true })).mode | 0o700);
      const handle = await open(path, pathFlags | constants.O_DIRECTORY);
      try {
        // Through the descriptor: the name could have become a link to another user's file.
        await chmod(`/proc/self/fd/${handle.fd}`, toFacts(await handle.stat({ bigint: true })).mode | 0o700);
      } finally {
        await handle.close();
      }
    });
  }

  async sync(): Promise<void> {
    await this.use(".", () => this.#handle.sync()).catch(() => undefined);
  }

  /** Waits for running operations: the number of a closed descriptor is reused for another file at once. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    await this.#handle.close();
  }

  protected openPath(path: string): Promise<Directory> {
    return NodeDirectory.open(path);
  }

  protected async use<T>(name: string, operation: (path: string) => Promise<T>): Promise<T> {
    if (this.#isClosing && this.#pending.size === 0) throw new SystemError("EBADF");
    if (name !== ".") assertComponent(name);
    const running = operation(`/proc/self/fd/${this.#handle.fd}/${name}`);
    this.#pending.add(running);
    try {
      return await running;
    } finally {
      this.#pending.delete(running);
    }
  }
}

/** False without `/proc`, which can be missing in a container, and on other systems than Linux. */
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
