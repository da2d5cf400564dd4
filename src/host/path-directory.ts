import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, readlink, rename, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Directory, DirectoryEntry, EntryFacts, HeldEntry, NewFile, OpenFile } from "./directory.ts";
import { assertFile, toFacts, toNewFile, toOpenFile, typeOf } from "./node-entry.ts";
import { assertComponent, errorCode, SystemError } from "./system-error.ts";

interface Held {
  readonly path: string;
  readonly identity: string;
}

// macOS refuses links in every component of the path with this flag, not in the last one alone.
const noFollowAny = process.platform === "darwin" ? 0x2000_0000 : 0;
// Windows knows none of these; its links and junctions are seen by lstat.
const noFollow = (constants.O_NOFOLLOW ?? 0) | noFollowAny;
const readFlags = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;

/**
 * A directory where the system has no paths through descriptors (macOS, Windows, Linux without `/proc`). It remembers
 * who every directory from the root down was, and looks again before and after each operation; what was read or opened
 * while one of them was another is thrown away. Weaker than `NodeDirectory`: somebody who swaps directories at exactly the
 * right moments can make a *creation* happen elsewhere before it is noticed.
 */
export class PathDirectory implements Directory {
  readonly identity: string;
  readonly #path: string;
  readonly #chain: readonly Held[];

  private constructor(path: string, identity: string, above: readonly Held[]) {
    this.#path = path;
    this.identity = identity;
    this.#chain = [...above, { path, identity }];
  }

  /** `path` is used as it is: no link in its last component. */
  static async open(path: string, above: readonly Held[] = []): Promise<PathDirectory> {
    const facts = toFacts(await lstat(path, { bigint: true }));
    if (facts.type === "link") throw new SystemError("ELOOP");
    if (facts.type !== "directory") throw new SystemError("ENOTDIR");
    return new PathDirectory(path, facts.identity, above);
  }

  async look(name: string): Promise<EntryFacts | undefined> {
    const path = this.#child(name);
    return this.#confirmed(async () => {
      try {
        return toFacts(await lstat(path, { bigint: true }));
      } catch (error) {
        if (errorCode(error) === "ENOENT") return undefined;
        throw error;
      }
    });
  }

  async openDirectory(name: string): Promise<Directory> {
    const path = this.#child(name);
    return this.#confirmed(() => PathDirectory.open(path, this.#chain));
  }

  async openFile(name: string): Promise<OpenFile> {
    const path = this.#child(name);
    const facts = assertFile(await this.look(name));
    const file = await toOpenFile(await open(path, readFlags));
    try {
      if (file.facts.identity !== facts.identity) throw new SystemError("ESTALE");
      await this.#confirm();
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async entries(): Promise<readonly DirectoryEntry[]> {
    const entries = await this.#confirmed(() => readdir(this.#path, { withFileTypes: true }));
    return entries.map((entry) => ({ name: entry.name, type: typeOf(entry) }));
  }

  async makeDirectory(name: string, mode?: number): Promise<void> {
    await this.#confirmed(() => mkdir(this.#child(name), mode));
  }

  async createFile(name: string, mode: number): Promise<NewFile> {
    const path = this.#child(name);
    await this.#confirm();
    const handle = await open(path, createFlags, mode);
    try {
      await this.#confirm();
      return toNewFile(handle);
    } catch (error) {
      await handle.close();
      await unlink(path).catch(() => undefined);
      throw error;
    }
  }

  async createLink(name: string, target: string): Promise<void> {
    await this.#confirmed(() => symlink(target, this.#child(name)));
  }

  async readLink(name: string): Promise<string> {
    return this.#confirmed(() => readlink(this.#child(name)));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#confirmed(() => rename(this.#child(from), this.#child(to)));
  }

  async removeFile(name: string): Promise<void> {
    await this.#confirmed(() => unlink(this.#child(name)));
  }

  async sync(): Promise<void> {
    const handle = await open(this.#path, constants.O_RDONLY | noFollow).catch(() => undefined);
    await handle?.sync().catch(() => undefined);
    await handle?.close();
  }

  async hold(): Promise<HeldEntry> {
    return this.#confirmed(async () => toHeldEntry(this.#path));
  }

  async holdEntry(name: string): Promise<HeldEntry> {
    return this.#confirmed(async () => toHeldEntry(this.#child(name)));
  }

  async unlock(name: string): Promise<void> {
    const path = name === "." ? this.#path : this.#child(name);
    await this.#confirmed(async () => {
      const facts = toFacts(await lstat(path, { bigint: true }));
      if (facts.type === "directory") await chmod(path, facts.mode | 0o700);
    });
  }

  async close(): Promise<void> {}

  #child(name: string): string {
    assertComponent(name);
    return join(this.#path, name);
  }

  async #confirmed<T>(operation: () => Promise<T>): Promise<T> {
    await this.#confirm();
    const result = await operation();
    await this.#confirm();
    return result;
  }

  async #confirm(): Promise<void> {
    for (const held of this.#chain) {
      const facts = toFacts(await lstat(held.path, { bigint: true }));
      if (facts.type !== "directory" || facts.identity !== held.identity) throw new SystemError("ESTALE");
    }
  }
}

function toHeldEntry(path: string): HeldEntry {
  return { path, descriptor: undefined, close: async () => {} };
}
