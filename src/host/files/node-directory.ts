import { chmodSync, constants, fchmodSync, fchownSync, openSync, readlinkSync, statSync } from "node:fs";
import type { Directory, EntryFacts, EntryHandle } from "./directory.ts";
import { Descriptor, sync, toFacts } from "./node-entry.ts";
import { SystemDirectory } from "./system-directory.ts";
import { assertComponent, errorCode, SystemError } from "./system-error.ts";
import { type SystemPath, toSystemPath } from "./system-path.ts";

const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
// O_PATH, for which Node has no name. Opens no content: no mode forbids it, and no device notices it.
const pathFlags = 0o10000000 | constants.O_NOFOLLOW;

/** `/proc/self/fd` without the link in it, which the kernel would follow at each use. Leads there in this process alone. */
let descriptors: string | undefined;

function pathIn(directory: Descriptor, name: string): SystemPath {
  descriptors ??= `/proc/${readlinkSync("/proc/self")}/fd`;
  return toSystemPath(`${descriptors}/${directory.number}/${name}`);
}

/**
 * A directory on Linux, held by its descriptor. Node has no `openat`, but a path through `/proc/self/fd/<descriptor>/`
 * means the same: the kernel starts at the open directory itself, so no swapped parent can redirect it.
 */
export class NodeDirectory extends SystemDirectory {
  readonly #descriptor: Descriptor;
  readonly #pending = new Set<Promise<unknown>>();

  private constructor(descriptor: Descriptor, identity: string) {
    super(identity);
    this.#descriptor = descriptor;
  }

  /** `path` is used as it is: no link in its last component. */
  static open(path: SystemPath): NodeDirectory {
    const descriptor = new Descriptor(openSync(path, directoryFlags));
    try {
      return new NodeDirectory(descriptor, descriptor.facts().identity);
    } catch (error) {
      descriptor.close();
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
    return this.use(name, (path) => {
      const descriptor = new Descriptor(openSync(path, pathFlags));
      const { number } = descriptor;
      return { path: `/proc/self/fd/${number}`, descriptor: number, close: async () => descriptor.close() };
    });
  }

  async unlock(name: string): Promise<void> {
    await this.use(name, (path) => {
      // A path through a locked directory leads nowhere, not even to itself; its open descriptor does.
      if (name === ".") return fchmodSync(this.#descriptor.number, this.#descriptor.facts().mode | 0o700);
      const descriptor = new Descriptor(openSync(path, pathFlags | constants.O_DIRECTORY));
      try {
        // Through the descriptor: the name could have become a link to another user's file.
        chmodSync(`/proc/self/fd/${descriptor.number}`, descriptor.facts().mode | 0o700);
      } finally {
        descriptor.close();
      }
    });
  }

  async facts(): Promise<EntryFacts> {
    return this.#descriptor.facts();
  }

  async setMode(mode: number): Promise<void> {
    fchmodSync(this.#descriptor.number, mode);
  }

  async setOwner(user: number, group: number): Promise<void> {
    fchownSync(this.#descriptor.number, user, group);
  }

  async sync(): Promise<void> {
    await this.use(".", () => sync(this.#descriptor.number)).catch(() => undefined);
  }

  /** Waits for running operations: the number of a closed descriptor is reused for another file at once. */
  async close(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
    this.#descriptor.close();
  }

  protected openPath(path: SystemPath): Directory {
    return NodeDirectory.open(path);
  }

  protected async use<T>(name: string, operation: (path: SystemPath) => T | Promise<T>): Promise<T> {
    if (name !== ".") assertComponent(name);
    const running = operation(pathIn(this.#descriptor, name));
    if (!(running instanceof Promise)) return running;
    this.#pending.add(running);
    try {
      return await running;
    } finally {
      this.#pending.delete(running);
    }
  }
}

/** False without `/proc`, which can be missing in a container, and on other systems than Linux. */
export function canOpenByDescriptor(path: SystemPath): boolean {
  if (process.platform !== "linux") return false;
  const descriptor = new Descriptor(openSync(path, directoryFlags));
  try {
    return toFacts(statSync(pathIn(descriptor, "."), { bigint: true })).identity === descriptor.facts().identity;
  } catch {
    return false;
  } finally {
    descriptor.close();
  }
}
